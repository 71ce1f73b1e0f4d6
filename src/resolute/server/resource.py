"""Routes as they are declared, and as they are served: nothing is analysed before its first request.

A route says what it needs of its caller (`needs=`); one that does not, or whose path does not say what its right is
about, does not import.

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

from resolute.domain.needs import Need
from resolute.engine.access.subjects import SUBJECTS

_COMPLETING = threading.RLock()
_PATTERN = frozenset({"path_regex", "path_format", "param_convertors"})
WEBSOCKET = "WEBSOCKET"
"""In place of a method, for a route that is one."""
Handler = TypeVar("Handler", bound=Callable[..., Any])
QUALIFIERS = frozenset({"version", "model_version_num", "resources_id", "external_trial_id", "label", "path"})
"""Parameters of a path that say which part of the thing beside them is meant."""


@dataclass(frozen=True, slots=True)
class Declared:
    path: str
    handler: Callable[..., Any]
    methods: Sequence[str]
    needs: Need
    options: dict[str, Any]


class Resource:
    """Declares the routes of one resource; `add_to` gives them to an app.

    `options` are those of FastAPI's `add_api_route`, for every route; a route may name its own.
    """

    def __init__(self, *, tags: Sequence[str] = (), prefix: str = "", **options: Any) -> None:
        self._prefix = prefix
        self._options = {"tags": list(tags), **options}
        self._declared: list[Declared] = []

    @property
    def declared(self) -> Sequence[Declared]:
        return tuple(self._declared)

    def route(self, path: str, methods: Sequence[str], *, needs: Need, **options: Any) -> Callable[[Handler], Handler]:
        whole = self._prefix + path
        _check_needs(whole, needs)

        def declare(handler: Handler) -> Handler:
            self._declared.append(Declared(whole, handler, methods, needs, {**self._options, **options}))
            return handler

        return declare

    def get(self, path: str, *, needs: Need, **options: Any) -> Callable[[Handler], Handler]:
        return self.route(path, ("GET",), needs=needs, **options)

    def post(self, path: str, *, needs: Need, **options: Any) -> Callable[[Handler], Handler]:
        return self.route(path, ("POST",), needs=needs, **options)

    def put(self, path: str, *, needs: Need, **options: Any) -> Callable[[Handler], Handler]:
        return self.route(path, ("PUT",), needs=needs, **options)

    def patch(self, path: str, *, needs: Need, **options: Any) -> Callable[[Handler], Handler]:
        return self.route(path, ("PATCH",), needs=needs, **options)

    def delete(self, path: str, *, needs: Need, **options: Any) -> Callable[[Handler], Handler]:
        return self.route(path, ("DELETE",), needs=needs, **options)

    def websocket(self, path: str, *, needs: Need) -> Callable[[Handler], Handler]:
        return self.route(path, (WEBSOCKET,), needs=needs)

    def add_to(self, app: FastAPI) -> None:
        """The app's own dependencies apply to every route."""
        for each in self._declared:
            if WEBSOCKET in each.methods:
                app.router.add_api_websocket_route(each.path, each.handler)
                app.router.routes[-1].needs = each.needs  # type: ignore[attr-defined]
                continue
            app.router.add_api_route(
                each.path, each.handler, methods=list(each.methods), route_class_override=LazyRoute, **each.options
            )
            route = app.router.routes[-1]
            assert isinstance(route, LazyRoute)
            route.needs = each.needs


def parameters_of(path: str) -> list[str]:
    return re.findall(r"{(\w+)", path)


def _check_needs(path: str, needs: Need) -> None:
    """A right that is decided by the path is about something that the path names, under a name that is known."""
    assert isinstance(needs, Need), f"{path}: needs={needs!r} is none of domain.needs. Say what the route needs."
    if not needs.is_about_path:
        return
    unknown = [name for name in parameters_of(path) if name not in SUBJECTS and name not in QUALIFIERS]
    assert not unknown, (
        f"{path}: nobody knows which workspace {{{unknown[0]}}} is in. Add it to engine.access.subjects, or use one of "
        f"{', '.join(SUBJECTS)}."
    )
    assert any(name in SUBJECTS for name in parameters_of(path)), (
        f"{path}: {needs.permission} is about a workspace, and the path names nothing in one. Declare the need as "
        "`.listed` or `.in_body`, and ask in the route."
    )


class LazyRoute(APIRoute):
    """Knows how its path begins; its pattern, and then all the rest, are made when somebody asks."""

    needs: Need

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
