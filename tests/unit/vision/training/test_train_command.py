"""The command line of a training: hyperparameters as options, sentences instead of tracebacks."""

import pytest

from resolute.domain.errors import InvalidInput
from resolute.vision.train import main, parse


def test_options_are_hyperparameters_read_as_yaml() -> None:
    request = parse(
        ["--data-dir", "tiles", "--lr=0.5", "--anchor-sizes", "[8, 16]", "--epochs", "3", "--folder", "out"]
    )

    assert request.hparams == {"data_dir": "tiles", "lr": 0.5, "anchor_sizes": [8, 16]}
    assert (request.epochs, request.batches, request.folder) == (3, None, "out")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["tiles"], "'tiles' is not an option"),
        (["--lr"], "--lr has no value"),
        (["--epochs", "many"], "give a whole number from 1"),
        (["--epochs", "1", "--batches", "2"], "both say how long"),
        (["--lr", "[1"], "is not a YAML value"),
    ],
)
def test_a_wrong_command_line_is_refused(arguments: list[str], sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        parse(arguments)


def test_help_is_shown_and_faults_end_with_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "usage: python -m resolute.vision.train" in capsys.readouterr().out

    assert main(["lr"]) == 1
    assert capsys.readouterr().err.startswith("ERROR: 'lr' is not an option")
