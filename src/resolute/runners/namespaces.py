"""Hosts that are not there: network namespaces of one Linux machine, each with an address of its own, on one bridge.

What runs in one reaches the others and this machine over that bridge alone, and can be cut off and joined again. Needs
root and the program `ip`.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_NETWORKS = 200
_WITH_OWN_TMP = """
set -e
machine=$(mktemp -d -p /run resolute-host.XXXXXX)
mount --bind /tmp "$machine"
mount -t tmpfs tmpfs /tmp
while [ "$1" != -- ]; do
    mkdir -p "$1"
    mount --bind "$machine/${1#/tmp/}" "$1"
    shift
done
umount "$machine"
rmdir "$machine"
shift
exec "$@"
"""
_RUN = Path("/run/netns")
_REACHES = """
import errno, socket, sys
for address in sys.argv[1:]:
    with socket.socket() as probe:
        probe.settimeout(2)
        if probe.connect_ex((address, 9)) not in (0, errno.ECONNREFUSED):
            sys.exit(f"{address} cannot be reached over a bridge; a firewall of this machine may drop what crosses it")
"""


class NamespacesNotPermitted(Exception):
    """A sentence saying why there can be none here."""


@dataclass(frozen=True, slots=True)
class Namespace:
    """One host: `name` is that of the namespace, `link` the end of its cable that is plugged into the bridge."""

    name: str
    address: str
    bridge: str
    link: str

    @property
    def is_reachable(self) -> bool:
        return Path(f"/sys/class/net/{self.link}/master").exists()

    def cut_off(self) -> None:
        """Its cable is pulled: nothing that is sent arrives, and nobody is told."""
        _ip("link", "set", self.link, "nomaster")

    def join(self) -> None:
        _ip("link", "set", self.link, "master", self.bridge)

    def command(self, arguments: list[str], *, shared: Sequence[Path]) -> list[str]:
        """Runs the same on it. Of the machine's files it has a /tmp of its own, with the folders `shared` in it where
        they were: programs leave sockets and locks there, by names that are the same on every host of a gang."""
        kept = [str(folder) for folder in _outermost(shared) if folder.is_relative_to("/tmp")]
        into_mounts = [_program("unshare"), "--mount", "sh", "-c", _WITH_OWN_TMP, "host", *kept, "--"]
        return [*self.into_network, *into_mounts, *arguments]

    @property
    def into_network(self) -> list[str]:
        return [_program("nsenter"), f"--net={_RUN / self.name}", "--"]

    def pids(self) -> list[int]:
        return [int(pid) for pid in _ip("netns", "pids", self.name).split()]


@dataclass(frozen=True, slots=True)
class NamespaceNetwork:
    address: str
    """Of this machine, as the hosts reach it."""
    hosts: tuple[Namespace, ...]


@contextlib.contextmanager
def namespace_network(count: int) -> Iterator[NamespaceNetwork]:
    """Taken down at the end; when this process is killed, whoever opens the next one does it. Raises
    NamespacesNotPermitted with a sentence."""
    _check_permitted()
    with _free_number() as number:
        _take_down(number)
        try:
            yield _set_up(number, count)
        finally:
            _take_down(number)


def _outermost(folders: Sequence[Path]) -> list[Path]:
    return [each for each in dict.fromkeys(folders) if not any(other in each.parents for other in folders)]


def _check_permitted() -> None:
    if sys.platform != "linux":
        raise NamespacesNotPermitted("network namespaces exist on Linux only")
    if os.geteuid() != 0:
        raise NamespacesNotPermitted("network namespaces need root")
    for program in ("ip", "nsenter", "unshare"):
        if shutil.which(program, path=_path()) is None:
            raise NamespacesNotPermitted(f"there is no program {program} (Debian: apt-get install iproute2 util-linux)")


@contextlib.contextmanager
def _free_number() -> Iterator[int]:
    """A number that no living process uses on this machine."""
    for number in range(_NETWORKS):
        with Path(f"/run/resolute-hosts.{number}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield number
            return
    raise NamespacesNotPermitted(f"all {_NETWORKS} networks of this machine are in use")


def _set_up(number: int, count: int) -> NamespaceNetwork:
    bridge = _bridge(number)
    try:
        # 198.18.0.0/15 is set aside for trials of networks: no real one has it.
        _ip("link", "add", bridge, "type", "bridge")
        _ip("addr", "add", f"198.18.{number}.1/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        hosts = tuple(_add_host(number, index) for index in range(count))
        _check_connected(hosts, f"198.18.{number}.1")
    except subprocess.CalledProcessError as error:
        raise NamespacesNotPermitted(f"{' '.join(error.cmd[:4])} ... failed: {error.stderr.strip()}") from error
    return NamespaceNetwork(f"198.18.{number}.1", hosts)


def _add_host(number: int, index: int) -> Namespace:
    host = Namespace(_name(number, index), f"198.18.{number}.{index + 2}", _bridge(number), f"rsh{number}n{index}")
    _ip("netns", "add", host.name)
    _ip("link", "add", host.link, "type", "veth", "peer", "name", "eth0", "netns", host.name)
    _ip("-n", host.name, "addr", "add", f"{host.address}/24", "dev", "eth0")
    for device in ("lo", "eth0"):
        _ip("-n", host.name, "link", "set", device, "up")
    host.join()
    _ip("link", "set", host.link, "up")
    return host


def _check_connected(hosts: tuple[Namespace, ...], address: str) -> None:
    addresses = [address, *(host.address for host in hosts)]
    for host in hosts:
        command = [*host.into_network, sys.executable, "-I", "-S", "-c", _REACHES, *addresses]
        subprocess.run(command, check=True, capture_output=True, text=True)


def _take_down(number: int) -> None:
    for namespace in _RUN.glob(f"{_name(number, '*')}") if _RUN.exists() else ():
        _quietly("netns", "del", namespace.name)
    for link in Path("/sys/class/net").glob(f"rsh{number}n*"):
        # A namespace lives on as long as a process in it does; its cable goes now.
        _quietly("link", "del", link.name)
    _quietly("link", "del", _bridge(number))


def _name(number: int, index: int | str) -> str:
    return f"resolute-host-{number}-{index}"


def _bridge(number: int) -> str:
    return f"rsh{number}"


def _ip(*arguments: str) -> str:
    command = [_program("ip"), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _quietly(*arguments: str) -> None:
    with contextlib.suppress(subprocess.CalledProcessError):
        _ip(*arguments)


def _program(name: str) -> str:
    return shutil.which(name, path=_path()) or name


def _path() -> str:
    """Daemons and some containers have no `sbin` on PATH, where `ip` lies."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
