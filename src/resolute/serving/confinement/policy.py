"""The least that a model process needs: which files, how much memory, whether a network."""

import json
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

_PACKAGE = Path(__file__).parents[2]
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/proc", "/sys")
_SETTINGS = (
    "alternatives",
    "fonts",
    "group",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "nvidia",
    "OpenCL",
    "passwd",
    "pki",
    "python3",
    "resolv.conf",
    "ssl",
    "vulkan",
)
"""Of /etc. Shadow passwords, host keys and credentials of services are not among them."""
_DEVICES = ("null", "zero", "full", "random", "urandom", "nvidia*", "nvidia-caps/*", "dri/*", "kfd")
_ARCHIVES = (".mar", ".tar.gz", ".tgz")
_OWN_CODE = "python:"
OPEN_FILES = 4096
MORE_PROCESSES = 4096
"""Beside those that the user has already: threads count too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """Travels to the model process as JSON."""

    scratch: str
    """Its home, and the only folder that it may write to."""
    readable: list[str]
    devices: list[str]
    is_trusted: bool
    """Its code is the user's own: any file and the network, but no new rights."""
    memory_bytes: int
    open_files: int = OPEN_FILES
    more_processes: int = MORE_PROCESSES

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def of_json(cls, text: str) -> "Confinement":
        return cls(**json.loads(text))


def confinement_of(source: str | Path, scratch: Path, *, is_trusted: bool, memory_bytes: int) -> Confinement:
    """`memory_bytes` 0: as much as the machine has."""
    return Confinement(
        scratch=str(scratch),
        readable=_readable(Path(source)),
        devices=[str(path) for pattern in _DEVICES for path in sorted(Path("/dev").glob(pattern))],
        is_trusted=is_trusted or str(source).startswith(_OWN_CODE),
        memory_bytes=memory_bytes or machine_memory(),
    )


def _readable(source: Path) -> list[str]:
    places = [
        *_SYSTEM,
        *(f"/etc/{name}" for name in _SETTINGS),
        *_of_python(),
        *os.environ.get("LD_LIBRARY_PATH", "").split(":"),
        *_of_model(source.resolve()),
    ]
    return [place for place in dict.fromkeys(places) if place and Path(place).exists()]


def _of_python() -> Iterable[str]:
    """The interpreter, its packages, and what PYTHONPATH names. The folder that it was started in is none of them."""
    yield from (sys.prefix, sys.base_prefix, sys.exec_prefix)
    yield str(_PACKAGE)
    yield from (entry for entry in sys.path if entry and Path(entry).resolve() != Path.cwd())


def _of_model(source: Path) -> Iterable[str]:
    """A model in several files lies in a folder; a folder that holds more than a model is not opened for one."""
    yield str(source)
    is_alone = not source.is_file() or source.name.endswith(_ARCHIVES)
    if not is_alone and source.parent not in {Path.home(), *Path.home().parents, Path("/tmp")}:
        yield str(source.parent)


def machine_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
