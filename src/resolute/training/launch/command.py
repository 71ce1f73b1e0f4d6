"""What each rank runs, and the command line that says so. Reads arguments; starts nothing."""

import os
import runpy
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolute.domain.errors import InvalidInput

USAGE = """usage: python -m resolute.launch.torch_distributed [--nproc N] [--restarts N] [--] SCRIPT [ARGUMENTS...]
       python -m resolute.launch.torch_distributed [--nproc N] [--] -m MODULE [ARGUMENTS...]
       python -m resolute.launch.torch_distributed [--nproc N] --trial MODULE:CLASS

Runs SCRIPT once per slot of the allocation, with RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT set as
torchrun sets them. Lines of output start with [rank=N].

  --nproc N       processes on this host; the slots of the allocation, or the GPUs here, unless given
  --restarts N    start the ranks again, here and at once, up to N times when one is killed by a signal (3 on a cluster)
"""
_TRIAL_MODULE = "resolute.launch.trial"
_INTERPRETERS = ("python", "python3", sys.executable)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankCommand:
    """A script or module with its arguments."""

    target: str
    is_module: bool
    arguments: tuple[str, ...]

    def run(self) -> None:
        """In this process, as if it had been started with it."""
        if self.is_module:
            sys.path.insert(0, os.getcwd())
            sys.argv = [self.target, *self.arguments]
            runpy.run_module(self.target, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, os.path.dirname(os.path.abspath(self.target)))
            sys.argv = [self.target, *self.arguments]
            runpy.run_path(self.target, run_name="__main__")


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRequest:
    command: RankCommand
    nproc: int | None
    restarts: int | None


class AskedForHelp(Exception):
    """--help was given: print USAGE and end well."""


def parse_launch(argv: Sequence[str]) -> LaunchRequest:
    """Raises InvalidInput with a sentence, or AskedForHelp."""
    rest = list(argv)
    numbers: dict[str, int | None] = {"--nproc": None, "--restarts": None}
    aliases = {"--nproc_per_node": "--nproc", "--nproc-per-node": "--nproc", "--max-restarts": "--restarts"}
    while rest and rest[0].startswith("-") and rest[0] not in ("--", "-m"):
        option, _, value = rest.pop(0).partition("=")
        option = aliases.get(option, option)
        if option in ("-h", "--help"):
            raise AskedForHelp
        if option == "--trial":
            name = value or _next(rest, option)
            return LaunchRequest(
                command=RankCommand(target=_TRIAL_MODULE, is_module=True, arguments=(name, *rest)),
                nproc=numbers["--nproc"],
                restarts=numbers["--restarts"],
            )
        if option not in numbers:
            raise InvalidInput(f"Unknown option {option}; put -- before the script's own options.\n{USAGE}")
        numbers[option] = _whole(option, value or _next(rest, option))
    if rest and rest[0] == "--":
        rest.pop(0)
    return LaunchRequest(command=_command(rest), nproc=numbers["--nproc"], restarts=numbers["--restarts"])


def _command(rest: list[str]) -> RankCommand:
    if rest and (rest[0] in _INTERPRETERS):
        rest = rest[1:]
    if rest[:1] == ["--trial"] and len(rest) > 1:
        return RankCommand(target=_TRIAL_MODULE, is_module=True, arguments=tuple(rest[1:]))
    if rest[:1] == ["-m"] and len(rest) > 1:
        return RankCommand(target=rest[1], is_module=True, arguments=tuple(rest[2:]))
    if not rest:
        raise InvalidInput(f"No script was given.\n{USAGE}")
    if not os.path.isfile(rest[0]):
        raise InvalidInput(f"There is no script {rest[0]!r} in {os.getcwd()}. Name a Python file, or use -m MODULE.")
    return RankCommand(target=rest[0], is_module=False, arguments=tuple(rest[1:]))


def _next(rest: list[str], option: str) -> str:
    if not rest:
        raise InvalidInput(f"{option} needs a value.\n{USAGE}")
    return rest.pop(0)


def _whole(option: str, text: str) -> int:
    if not text.isdigit():
        raise InvalidInput(f"{option} is {text!r}; give a whole number.")
    return int(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendezvous:
    """Where the ranks meet: the hosts of the allocation in order, and this one's place among them."""

    addresses: tuple[str, ...] = ("127.0.0.1",)
    node_rank: int = 0
    slots: tuple[int, ...] = (1,)
    port: int = 29500

    @property
    def world_size(self) -> int:
        return sum(self.slots)

    @property
    def first_rank(self) -> int:
        return sum(self.slots[: self.node_rank])

    @property
    def local_size(self) -> int:
        return self.slots[self.node_rank]


def rank_environment(meeting: Rendezvous, local_rank: int, restart: int, base: Mapping[str, str]) -> dict[str, str]:
    """The variables of one rank, those of torchrun, on top of `base`."""
    rank = meeting.first_rank + local_rank
    facts = {
        "MASTER_ADDR": meeting.addresses[0],
        # A new port for each restart: the old one may still be waiting for late packets.
        "MASTER_PORT": meeting.port if restart == 0 else meeting.port + restart,
        "RANK": rank,
        "LOCAL_RANK": local_rank,
        "WORLD_SIZE": meeting.world_size,
        "LOCAL_WORLD_SIZE": meeting.local_size,
        "GROUP_RANK": meeting.node_rank,
        "GROUP_WORLD_SIZE": len(meeting.addresses),
        "ROLE_RANK": rank,
        "ROLE_WORLD_SIZE": meeting.world_size,
        "ROLE_NAME": "default",
        "TORCHELASTIC_RUN_ID": base.get("DET_ALLOCATION_ID", "local"),
        "TORCHELASTIC_RESTART_COUNT": restart,
        "TORCHELASTIC_MAX_RESTARTS": restart,
        "TORCHELASTIC_USE_AGENT_STORE": "False",
    }
    return {**base, **{name: str(value) for name, value in facts.items()}}
