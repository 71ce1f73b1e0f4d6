"""How a command is written: a function of a `Run` and its own parameters. The rest is added here.

    @command(app, "list", "ls")
    def list_things(run: Run, everything: Annotated[bool, typer.Option("--all", "-a")] = False) -> None: ...

Every command gets `--json`. Short names are hidden twins.
"""

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated, Any

import typer

from resolute.cli.output import print_json, print_pairs, print_table
from resolute.client.client import Client

Command = Callable[..., None]
_JSON = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JsonValue = object


class Run:
    """One invocation: whose master, how to print."""

    def __init__(self, settings: dict[str, Any], *, is_json: bool) -> None:
        self._settings = settings
        self.is_json = is_json

    @property
    def client(self) -> Client:
        """Made when first needed; whoever started the run closes it."""
        given = self._settings
        if "client" not in given:
            given["client"] = Client(
                given.get("master"),
                user=given.get("user"),
                transport=given.get("transport"),
                program="resolute-cli",
            )
        client: Client = given["client"]
        return client

    def show(self, headers: Sequence[str], rows: Sequence[Sequence[object]], raw: JsonValue) -> None:
        """A table for people, `raw` for programs."""
        if self.is_json:
            print_json(raw)
        else:
            print_table(headers, rows)

    def describe(self, pairs: dict[str, object], raw: JsonValue) -> None:
        if self.is_json:
            print_json(raw)
        else:
            print_pairs(pairs)

    def say(self, sentence: str, raw: JsonValue = None) -> None:
        """What was done. As JSON: `raw`, or the sentence as `message`."""
        if self.is_json:
            print_json({"message": sentence} if raw is None else raw)
        else:
            typer.echo(sentence)

    def confirm(self, question: str, *, is_agreed: bool) -> None:
        """Go on only when the user agrees; `--yes` agrees beforehand."""
        if not is_agreed:
            typer.confirm(question, abort=True, err=True)


def group(purpose: str) -> typer.Typer:
    return typer.Typer(
        help=purpose,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def command(app: typer.Typer, name: str, *aliases: str, **options: Any) -> Callable[[Command], Command]:
    def register(function: Command) -> Command:
        adapted = _adapted(function)
        app.command(name, **options)(adapted)
        for alias in aliases:
            app.command(alias, hidden=True, **options)(adapted)
        return function

    return register


def _adapted(function: Command) -> Command:
    """`function` as typer wants it: a context instead of the `Run`, and `--json` at the end."""
    signature = inspect.signature(function, eval_str=True)
    own = list(signature.parameters.values())[1:]
    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    as_json = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_JSON)

    @wraps(function)
    def adapted(*, ctx: typer.Context, as_json: bool, **given: object) -> None:
        function(Run(ctx.obj, is_json=as_json), **given)

    parameters = [context, *(p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own), as_json]
    adapted.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    adapted.__annotations__ = {p.name: p.annotation for p in parameters}
    del adapted.__wrapped__
    return adapted
