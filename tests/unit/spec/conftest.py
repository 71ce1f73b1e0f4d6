"""What the tests of configurations share: a cluster's defaults, a short way to parse, a short way to be refused."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from resolute.domain.errors import InvalidConfig
from resolute.spec.experiment import ClusterDefaults, ParsedExperiment, parse_experiment

CLUSTER = ClusterDefaults(
    checkpoint_storage={"type": "shared_fs", "host_path": "/var/checkpoints"}, pools={"default": 4, "gpus": None}
)


def _parse(
    text: str,
    *,
    template: dict[str, Any] | None = None,
    overrides: Sequence[str] = (),
    defaults: ClusterDefaults = CLUSTER,
) -> ParsedExperiment:
    return parse_experiment(
        text, filename="exp.yaml", template=template, overrides=overrides, defaults=defaults, seed=7, name="quiet-otter"
    )


@pytest.fixture
def parse() -> Callable[..., ParsedExperiment]:
    return _parse


@pytest.fixture
def refusals() -> Callable[..., list[str]]:
    """Parse what must be refused; the sentences that say why."""

    def refuse(text: str, **more: Any) -> list[str]:
        with pytest.raises(InvalidConfig) as refusal:
            _parse(text, **more)
        return refusal.value.problems

    return refuse


@pytest.fixture
def config_text() -> Callable[[str], str]:
    folder = Path(__file__).parent / "configs"
    return lambda name: (folder / name).read_text()
