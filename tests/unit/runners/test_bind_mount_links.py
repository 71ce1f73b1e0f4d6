"""`bind_mounts` where mounting is not permitted: links, and a sentence for what could not be done."""

from pathlib import Path

import pytest

from resolute.domain.log import LogLevel
from resolute.runners.shepherd.mounts import mount


class Host:
    def __init__(self, root: Path) -> None:
        self.data = root / "data"
        self.data.mkdir()
        (self.data / "x.txt").write_text("content")
        self.work = root / "work"
        self.work.mkdir()
        self.said: list[str] = []

    def mount(self, container_path: str, *, host_path: Path | None = None, read_only: bool = False) -> None:
        mounts = [(str(host_path or self.data), container_path, read_only)]
        mount(mounts, work=self.work, say=self._say, enter_namespace=lambda: False)

    def _say(self, text: str, level: LogLevel) -> None:
        assert level is LogLevel.WARNING
        self.said.append(text)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_a_relative_path_is_a_link_in_the_working_directory(host: Host) -> None:
    host.mount("deep/inside")

    assert (host.work / "deep/inside/x.txt").read_text() == "content"
    assert host.said == []


def test_an_absolute_path_is_a_link_when_there_is_nothing_there(host: Host, tmp_path: Path) -> None:
    host.mount(str(tmp_path / "mnt/data"))
    host.mount(str(tmp_path / "mnt/data"))

    assert (tmp_path / "mnt/data/x.txt").exists()
    assert host.said == []


def test_an_existing_path_is_never_touched(host: Host, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()

    host.mount(str(taken))

    assert not taken.is_symlink()
    assert "exists already and is left as it is" in host.said[0]


def test_a_host_path_that_is_not_there_is_named(host: Host, tmp_path: Path) -> None:
    host.mount("data", host_path=tmp_path / "nothing")

    assert host.said == [f"bind_mounts: {tmp_path}/nothing is not mounted at data: the host path does not exist."]


def test_a_link_cannot_be_read_only_and_says_so(host: Host) -> None:
    host.mount("data", read_only=True)

    assert (host.work / "data/x.txt").exists()
    assert host.said == [f"bind_mounts: {host.data} at data is a link, so read_only is not enforced."]


def test_a_place_where_no_link_can_be_made_is_named(host: Host) -> None:
    host.mount("/proc/no/such")

    assert "a link there cannot be made" in host.said[0]
