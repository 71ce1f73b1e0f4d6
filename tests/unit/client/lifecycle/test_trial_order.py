"""What the trainer's process is told, there and back."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.client.lifecycle.contract import TrialOrder
from resolute.domain.errors import InvalidInput


def order(**changes: Any) -> TrialOrder:
    return TrialOrder(**{"model_id": "dev/mnist", "phase": "train", "main_file": "trainer.py", **changes})


names = st.text(min_size=1, max_size=8)
values = st.one_of(st.text(max_size=5), st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False))


@given(st.lists(names), st.lists(st.tuples(names, values)), st.booleans())
def test_it_comes_back_from_the_configuration_as_it_was(
    flags: list[str], args: list[tuple[str, Any]], is_stopped_early: bool
) -> None:
    given_order = order(flags=tuple(flags), args=tuple(args), is_stopped_early=is_stopped_early)

    assert TrialOrder.of_config({"data": given_order.as_data()}) == given_order


def test_flags_come_before_arguments_each_as_written() -> None:
    made = order(flags=("--epochs", "--lr"), args=(("--log-interval", "10"), ("--no-cuda", "")))

    words = made.command_line({"--lr": 0.1, "--epochs": 5, "other": 1})

    assert words == ["--epochs=5", "--lr=0.1", "--log-interval=10", "--no-cuda"]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("--shift", -0.5, ["--shift=-0.5"]),
        ("-e", 5, ["-e", "5"]),
        ("epochs", 5, ["--epochs=5"]),
        ("--verbose", None, ["--verbose"]),
        ("--flag", True, ["--flag=True"]),
        ("--zero", 0, ["--zero=0"]),
    ],
)
def test_every_value_arrives_as_one_flag(name: str, value: Any, words: list[str]) -> None:
    assert order(args=((name, value),)).command_line({}) == words


def test_a_hyperparameter_that_the_trial_does_not_have_is_left_out() -> None:
    assert order(flags=("--lr",)).command_line({}) == []


@pytest.mark.parametrize("config", [{}, {"data": {}}, {"data": {"lifecycle": 3}}])
def test_other_experiments_are_told_apart(config: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"was not made by resolute\.Model"):
        TrialOrder.of_config(config)


def test_keys_of_a_later_version_are_passed_over() -> None:
    data = order().as_data()
    data["lifecycle"]["colour"] = "blue"

    assert TrialOrder.of_config({"data": data}) == order()
