"""Every name is where users of the Kaptain SDK look for it."""

import os
import subprocess
import sys
from pathlib import Path

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


ALIASES = Path(resolute.__file__).parent / "training" / "lifecycle" / "aliases"


def import_kaptain(**env: str) -> "subprocess.CompletedProcess[str]":
    """In a fresh process whose path ends as an installation's does."""
    code = f"import sys; sys.path.append({str(ALIASES)!r}); from kaptain.model.models import Model; print(Model)"
    return subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, env={**os.environ, **env}
    )


def test_the_notebooks_import_works_without_an_extra_line() -> None:
    assert "resolute.client.lifecycle.model.Model" in import_kaptain().stdout


def test_the_names_can_be_switched_off() -> None:
    refused = import_kaptain(RESOLUTE_KAPTAIN="off")

    assert refused.returncode == 1
    assert "No module named 'kaptain': RESOLUTE_KAPTAIN is off" in refused.stderr


def test_an_sdk_that_is_installed_comes_first(tmp_path: Path) -> None:
    (tmp_path / "kaptain" / "model").mkdir(parents=True)
    (tmp_path / "kaptain" / "__init__.py").touch()
    (tmp_path / "kaptain" / "model" / "models.py").write_text("Model = 'theirs'")

    assert import_kaptain(PYTHONPATH=str(tmp_path)).stdout.strip() == "theirs"


def test_a_model_is_made_without_torch_or_the_database() -> None:
    code = "import sys, resolute; resolute.Model; sys.exit('torch' in sys.modules or 'sqlalchemy' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
