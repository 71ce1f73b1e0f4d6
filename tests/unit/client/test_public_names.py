"""The package's door: names load on first use, and only those that are there are listed."""

import subprocess
import sys

import pytest

import resolute
from resolute import client


@pytest.mark.parametrize("name", client.__all__)
def test_every_listed_name_is_there(name: str) -> None:
    assert getattr(client, name) is not None
    assert name in dir(client)


def test_functions_stay_functions_once_every_module_is_loaded() -> None:
    code = (
        "from resolute import client\n"
        "from resolute.client.client import Client\n"
        "import resolute.client.default\n"
        "assert all(callable(getattr(client, name)) for name in client.__all__)\n"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_another_name_is_an_ordinary_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = client.nonsense


def test_importing_the_package_loads_no_http() -> None:
    code = "import sys, resolute.client; sys.exit('httpx' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_importing_resolute_loads_its_version_only() -> None:
    code = "import sys, resolute; sys.exit(len([m for m in sys.modules if m.startswith('resolute')]) - 2)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", resolute.__all__)
def test_every_door_of_the_package_opens(name: str) -> None:
    assert getattr(resolute, name) is not None
    assert name in dir(resolute)


def test_a_name_that_is_not_there_is_an_ordinary_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'resolute' has no attribute 'nonsense'"):
        _ = resolute.nonsense
