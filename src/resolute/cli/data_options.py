"""What the commands of `resolute data` share: options with dashes or underscores, printed reports."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from resolute.cli.command import Run
from resolute.cli.output import print_json, print_pairs, print_table
from resolute.domain.errors import InvalidInput

if TYPE_CHECKING:
    from resolute.imagery.render_options import RenderOptions
    from resolute.imagery.report import Report

EITHER_DASH = {"token_normalize_func": lambda token: token.replace("_", "-"), "help_option_names": ["-h", "--help"]}
"""`--slice_size` is `--slice-size`: command lines written for the original scripts work as they are."""

Workers = Annotated[int | None, typer.Option("--workers", "-j", min=1, help="Processes; all cores when left out.")]
ReportFile = Annotated[Path | None, typer.Option("--report", metavar="FILE", help="Write the whole report as JSON.")]
Layer = Annotated[str | None, typer.Option("--layer", help="Of a file that has several.")]
ClassField = Annotated[
    str | None,
    typer.Option("--class-field", metavar="NAME", help="Field or column with the class; found when left out."),
]
Crs = Annotated[
    str | None, typer.Option("--crs", metavar="EPSG:N", help="Coordinate system of labels that do not name theirs.")
]
_TRUE, _FALSE = frozenset({"true", "yes", "1", "on"}), frozenset({"false", "no", "0", "off"})


class OptionalValues(TyperCommand):
    """Options in `OPTIONAL` may stand alone, and then mean `True`: `--ignore_negative_samples [True|False]`."""

    OPTIONAL = frozenset({"--ignore-negative-samples"})

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        filled: list[str] = []
        for place, argument in enumerate(args):
            filled.append(argument)
            following = args[place + 1] if place + 1 < len(args) else "-"
            if argument.replace("_", "-") in self.OPTIONAL and following.lower() not in _TRUE | _FALSE:
                filled.append("True")
        return list(super().parse_args(ctx, filled))


def as_bool(text: str, option: str) -> bool:
    if text.lower() in _TRUE | _FALSE:
        return text.lower() in _TRUE
    raise InvalidInput(f"{option} is {text!r}. Write True or False.")


def as_numbers(text: str | None, option: str) -> tuple[float, ...] | None:
    if text is None:
        return None
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InvalidInput(f"{option} is {text!r}. Write numbers with commas between them, such as 5,3,2.") from None


def with_choices(
    options: "RenderOptions | None", bands: str | None, stretch: str | None, percentiles: str | None, limits: str | None
) -> "RenderOptions":
    """`options`, and what was chosen on the command line instead of a part of them."""
    from resolute import imagery

    chosen: dict[str, Any] = {}
    if (found := as_numbers(bands, "--bands")) is not None:
        chosen["bands"] = tuple(int(band) for band in found)
    if stretch is not None:
        chosen |= {"stretch": imagery.StretchKind(stretch), "limits": None}
    for option, text in (("--percentiles", percentiles), ("--limits", limits)):
        ends = as_numbers(text, option)
        if ends is not None and len(ends) != 2:
            raise InvalidInput(f"{option} is {text!r}. Write two numbers, such as 2,98.")
        if ends is not None:
            chosen |= (
                {"low_percent": ends[0], "high_percent": ends[1]} if option == "--percentiles" else {"limits": ends}
            )
    return replace(options or imagery.RenderOptions(), **chosen)


def show_result(run: Run, pairs: dict[str, object], report: "Report", report_file: Path | None = None) -> None:
    """What was made, then every drop and change by reason."""
    if report_file is not None:
        _write(report_file, report)
    if run.is_json:
        print_json(
            {**{key.lower().replace(" ", "_"): value for key, value in pairs.items()}, "report": report.as_dict()}
        )
        return
    print_pairs(pairs)
    if report:
        print()
        show_report(report)


def show_report(report: "Report") -> None:
    rows = [
        (reason, entry["effect"], entry["count"], entry["meaning"], entry["examples"][0] if entry["examples"] else None)
        for reason, entry in report.as_dict().items()
    ]
    print_table(("Reason", "Effect", "Count", "Meaning", "Example"), rows)


def _write(path: Path, report: "Report") -> None:
    import json

    try:
        path.write_text(json.dumps(report.as_dict(), indent=2) + "\n", encoding="utf-8")
    except OSError as problem:
        raise InvalidInput(
            f"The report cannot be written to {path}: {problem.strerror}. Choose another file."
        ) from problem
