"""Routes as they are declared, and as they are served: nothing is analysed before its first request.

FastAPI looks through a handler's signature and builds its validators when a route is added. Over all our routes that
takes longer than everything else at the start, and most routes are never called in the life of a master.
"""

import re
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import FastAPI
from fastapi.routing import APIRoute
from pydantic.warnings import UnsupportedFieldAttributeWarning
from starlette.routing import Match, compile_path
from starlette.types import Scope

_COMPLETING = threading.RLock()
_PATTERN = frozenset({"path_regex", "path_format", "param_convertors"})
Handler = TypeVar("Handler", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Declared:
    path: str
    handler: Callable[..., Any]
    methods: Sequence[str]
    options: dict[str, Any]


class Resource:
    """Declares the routes of one resource; `add_to` gives them to an app.

    `options` are those of FastAPI's `add_api_route`, for every route; a route may name its own.
    """

    def __init__(self, *, tags: Sequence[str] = (), prefix: str = "", **options: Any) -> None:
        self._prefix = prefix
        self._options = {"tags": list(tags), **options}
        self._declared: list[Declared] = []

    def route(self, path: str, methods: Sequence[str], **options: Any) -> Callable[[Handler], Handler]:
        def declare(handler: Handler) -> Handler:
            self._declared.append(Declared(self._prefix + path, handler, methods, {**self._options, **options}))
            return handler

        return declare

    def get(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        return self.route(path, ("GET",), **options)

    def post(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        return self.route(path, ("POST",), **options)

    def put(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        return self.route(path, ("PUT",), **options)

    def patch(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        return self.route(path, ("PATCH",), **options)

    def delete(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        return self.route(path, ("DELETE",), **options)

    def add_to(self, app: FastAPI) -> None:
        """The app's own dependencies apply to every route."""
        for each in self._declared:
            app.router.add_api_route(
                each.path, each.handler, methods=list(each.methods), route_class_override=LazyRoute, **each.options
            )


class LazyRoute(APIRoute):
    """Knows how its path begins; its pattern, and then all the rest, are made when somebody asks."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self.path = path
        self.endpoint = endpoint
        self.name = options.get("name") or endpoint.__name__
        self.methods = set(options["methods"])
        self._begins, *parameters = path.split("{", 1)
        self._is_fixed = not parameters
        self._options = options

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Rules out nearly every route without a pattern. The app is not mounted below another."""
        path: str = scope["path"]
        if path != self.path if self._is_fixed else not path.startswith(self._begins):
            return Match.NONE, {}
        return super().matches(scope)

    def __getattr__(self, name: str) -> Any:
        """Called for attributes that are not there yet, or never will be."""
        with _COMPLETING:
            if name in _PATTERN:
                self.path_regex, self.path_format, self.param_convertors = compile_path(self.path)
            elif (options := self.__dict__.pop("_options", None)) is not None:
                self._complete(options)
        if name not in self.__dict__:
            raise AttributeError(f"The route {self.__dict__.get('path')} has no {name!r}.")
        return self.__dict__[name]

    def _complete(self, options: dict[str, Any]) -> None:
        super().__init__(self.path, self.endpoint, **options)
        if self.body_field is None:
            return
        with warnings.catch_warnings():
            # A body is a model, and has an alias only for FastAPI's sake. FastAPI silences this where it makes the
            # field, but our messages are built by the first check.
            warnings.simplefilter("ignore", UnsupportedFieldAttributeWarning)
            self.body_field.validate(None)


def operation_id(route: APIRoute) -> str:
    """`get_experiment` is GetExperiment, the name that clients generated from this API use."""
    return re.sub(r"(?:^|_)([a-z0-9])", lambda letter: letter[1].upper(), route.name)
