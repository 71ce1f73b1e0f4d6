"""The package's door: names load on first use, and only those that are there are listed."""

import subprocess
import sys

import pytest

from resolute import client


@pytest.mark.parametrize("name", client.__all__)
def test_every_listed_name_is_there(name: str) -> None:
    assert getattr(client, name) is not None
    assert name in dir(client)


def test_another_name_is_an_ordinary_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = client.nonsense


def test_importing_the_package_loads_no_http() -> None:
    code = "import sys, resolute.client; sys.exit('httpx' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
