"""Every name is where users of the Kaptain SDK look for it."""

import subprocess
import sys

import pytest

import resolute
from resolute import lifecycle
from resolute.client.lifecycle import faults
from resolute.domain.errors import ResoluteError


@pytest.mark.parametrize("name", lifecycle.__all__)
def test_every_listed_name_is_there(name: str) -> None:
    assert getattr(lifecycle, name) is not None


def test_the_model_is_at_the_front_door() -> None:
    assert resolute.Model is lifecycle.Model
    assert resolute.lifecycle is lifecycle


@pytest.mark.parametrize("kind", [each for each in vars(faults).values() if isinstance(each, type)])
def test_every_fault_is_in_our_tree_with_a_code(kind: type[ResoluteError]) -> None:
    assert issubclass(kind, ResoluteError)
    assert kind.code != "error"


def test_notebooks_may_keep_their_imports() -> None:
    code = (
        "from resolute.lifecycle import provide_kaptain\n"
        "provide_kaptain()\n"
        "provide_kaptain()\n"
        "from kaptain.model.models import Model\n"
        "from kaptain.model.frameworks import ModelFramework\n"
        "from kaptain.hyperparameter.domains import Double, Discrete, Integer, Categorical\n"
        "from kaptain.hyperparameter.algorithms import Algorithm\n"
        "from kaptain.config import Config, S3ConfigurationProvider\n"
        "from kaptain.exceptions import ModelDeploymentException, WorkloadDeploymentError\n"
        "from kaptain import utils\n"
        "import resolute\n"
        "assert Model is resolute.Model and callable(utils.clean)\n"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_asking_nothing_is_called_kaptain() -> None:
    code = "import importlib.util, resolute.lifecycle, sys; sys.exit(importlib.util.find_spec('kaptain') is not None)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_model_is_made_without_torch_or_the_database() -> None:
    code = "import sys, resolute; resolute.Model; sys.exit('torch' in sys.modules or 'sqlalchemy' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
