"""How commands are written: what the decorator adds and what it leaves alone."""

import json
from typing import Annotated, Any

import pytest
import typer

from resolute.cli.command import Run, command, group
from resolute.cli.logs import log_command
from resolute.cli.output import print_pairs, print_table
from resolute.client.logs import LogFilter


def invoke(app: typer.Typer, *arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        typer.main.get_command(app).main(list(arguments), prog_name="x", obj={})
    return int(end.value.code or 0)


@pytest.fixture
def app() -> typer.Typer:
    app = group("Things.")

    @command(app, "list", "ls")
    def list_things(run: Run, kind: Annotated[str, typer.Option("--kind", "-k")] = "all") -> None:
        """List the things."""
        run.show(("Name", "Kind"), [("a", kind), ("b", None)], [{"name": "a"}, {"name": "b"}])

    @command(app, "make")
    def make_thing(run: Run, name: Annotated[str, typer.Argument()], yes: bool = False) -> None:
        """Make a thing."""
        run.confirm(f"Make {name}?", is_agreed=yes)
        run.say(f"Made {name}")

    @command(app, "describe")
    def describe(run: Run) -> None:
        run.describe({"Name": "a", "Size": 3}, {"name": "a"})

    return app


def test_a_table_is_printed_for_people(app: typer.Typer, capsys: Any) -> None:
    assert invoke(app, "list", "-k", "red") == 0

    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["Name", "Kind"],
        ["a", "red"],
        ["b", "-"],
    ]


def test_json_is_printed_for_programs(app: typer.Typer, capsys: Any) -> None:
    invoke(app, "list", "--json")

    assert json.loads(capsys.readouterr().out) == [{"name": "a"}, {"name": "b"}]


def test_a_short_name_does_the_same_and_stays_out_of_the_help(app: typer.Typer, capsys: Any) -> None:
    invoke(app, "ls")
    short = capsys.readouterr().out
    invoke(app, "list")
    long = capsys.readouterr().out
    invoke(app, "--help")

    assert short == long
    assert " ls " not in capsys.readouterr().out


def test_help_is_the_docstring_and_the_commands_own_options(app: typer.Typer, capsys: Any) -> None:
    invoke(app, "list", "--help")

    out = capsys.readouterr().out
    assert "List the things." in out
    assert "--kind" in out
    assert "--json" in out
    assert "run" not in out.split("Options:")[1]


def test_a_sentence_becomes_a_message_in_json(app: typer.Typer, capsys: Any) -> None:
    invoke(app, "make", "cake", "--yes", "--json")

    assert json.loads(capsys.readouterr().out) == {"message": "Made cake"}


def test_without_an_answer_nothing_is_done(app: typer.Typer, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO(""))

    assert invoke(app, "make", "cake") == 1
    assert "Made" not in capsys.readouterr().out


def test_facts_are_aligned(app: typer.Typer, capsys: Any) -> None:
    invoke(app, "describe")

    assert capsys.readouterr().out == "Name  a\nSize  3\n"


def test_a_missing_argument_is_a_usage_error(app: typer.Typer) -> None:
    assert invoke(app, "make") == 2


def test_every_filter_of_a_log_arrives(capsys: Any) -> None:
    app = group("Logs.")
    seen: list[LogFilter] = []

    @log_command(app)
    def logs(run: Run, number: Annotated[int, typer.Argument()], wanted: LogFilter) -> Any:
        """Logs of a thing."""
        seen.append(wanted)
        return iter([{"message": f"line of {number}\n"}, {"log": "without an end"}])

    @command(app, "other")
    def other(run: Run) -> None: ...

    options = (
        "--follow --tail 3 --level error --rank-id 1 --agent-id n --allocation-id a --source task --stdtype stderr "
        "--timestamp-after 2026-01-01T00:00:00Z --timestamp-before 2026-01-02T00:00:00Z --search x.* --regex"
    )
    assert invoke(app, "logs", "7", *options.split()) == 0

    assert capsys.readouterr().out == "line of 7\nwithout an end\n"
    assert seen == [
        LogFilter(
            follow=True,
            tail=3,
            level="error",
            ranks=[1],
            agents=["n"],
            allocations=["a"],
            sources=["task"],
            streams=["stderr"],
            after="2026-01-01T00:00:00Z",
            before="2026-01-02T00:00:00Z",
            search="x.*",
            is_regex=True,
        )
    ]


def test_what_looks_like_markup_is_printed_as_it_is(capsys: Any) -> None:
    print_table(("Name",), [("[red]not red[/red]",)])
    print_pairs({"Name": "[bold]"})

    assert capsys.readouterr().out.split() == ["Name", "[red]not", "red[/red]", "Name", "[bold]"]


def test_an_empty_table_is_its_header(capsys: Any) -> None:
    print_table(("A", "B"), [])

    assert capsys.readouterr().out.split() == ["A", "B"]
