"""The command that runs one node's part of a gang, on whatever machine an engine has chosen for it:

    python -m resolute.runners.node --request FILE

The request says everything (`node_request`). It comes from a file, from standard input (`-`) or from the variable
RESOLUTE_NODE_REQUEST, because others can read a command line; DET_MASTER and DET_SESSION_TOKEN may come from the
environment instead, where an engine keeps secrets apart. Nothing else has to be on the machine than this package.

The process becomes the supervisor of the part and ends with the exit code of its entrypoint. SIGTERM asks the
entrypoint to end, SIGUSR2 kills it. Running the command again with the same request and the same home starts nothing
twice: it ends as the first one did.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from resolute.domain.allocation import NodeShare
from resolute.domain.errors import InvalidInput, ResoluteError
from resolute.domain.gang import resources_id
from resolute.domain.node import Node
from resolute.engine.ports.runner import GangStatus
from resolute.runners import environments
from resolute.runners.node_request import NodeRequest, request_from_json
from resolute.runners.preparation import session_request
from resolute.runners.runs import Runs
from resolute.runners.shepherd.cgroups import own_groups
from resolute.runners.shepherd.ownership import MARK_VARIABLE, inherited_mark, mark_of
from resolute.runners.shepherd.run_directory import RunDirectory
from resolute.runners.slots import host_name, local_node
from resolute.runners.zygote import BOOT_SCRIPT

REQUEST_VARIABLE = "RESOLUTE_NODE_REQUEST"
_GIVEN = ("DET_MASTER", "DET_SESSION_TOKEN")
_REFUSED = 2
_PREPARATION_FAILED = 125
_LOST = 128 + 9
_RUNS_ALREADY = 75
"""As `EX_TEMPFAIL`: not now."""


def main(argv: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    try:
        request = _completed(_read(options.request), options)
        return _run(request, Path(options.home).expanduser().absolute(), options.request)
    except InvalidInput as error:
        return _failed(error, _REFUSED)
    except (ResoluteError, OSError) as error:
        return _failed(error, _PREPARATION_FAILED)


def _run(request: NodeRequest, home: Path, source: str | None) -> int:
    runs = Runs(home / "runs")
    name = resources_id(request.allocation_id, request.rank)
    run = runs.directory(name)
    if run.claimed_by() is None:
        _prepare(request, run, home)
        if source == str(run.node_request):
            run.node_request.unlink(missing_ok=True)
        _become_supervisor(run)
    return _known(runs.status(name), name)


def _known(status: GangStatus, name: str) -> int:
    if not status.is_over:
        print(f"{name} runs here already; this process starts nothing.", file=sys.stderr)
        return _RUNS_ALREADY
    print(f"{name} has run here and is not started again. {status.reason}".strip(), file=sys.stderr)
    return _LOST if status.exit_code is None else status.exit_code


def _prepare(request: NodeRequest, run: RunDirectory, home: Path) -> None:
    environment = environments.resolve(request.environment, envs=home / "envs")
    run.prepare(
        session_request(
            request,
            environment,
            node=_this_node(request),
            run=run,
            contexts=home / "contexts",
            inherited=os.environ,
            cgroups=own_groups(),
        )
    )


def _become_supervisor(run: RunDirectory) -> NoReturn:
    """The same process, so that the engine watches and signals what matters; without site-packages, as cold supervisors
    run, and without the token, which every process of this user could read in its environment."""
    mark = inherited_mark(mark_of(run.path), os.environ.get(MARK_VARIABLE, ""))
    env = {name: value for name, value in os.environ.items() if not name.startswith(("RESOLUTE_", "DET_"))}
    arguments = [sys.executable, "-I", "-S", str(BOOT_SCRIPT), "shepherd", str(run.path)]
    os.execve(sys.executable, arguments, {**env, MARK_VARIABLE: mark})


# ------------------------------------------------------------------------------------------------------- the request


def _read(source: str | None) -> NodeRequest:
    text = _text(source)
    try:
        request = request_from_json(text)
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidInput(
            f"The node request in {_named(source)} cannot be read: {type(error).__name__}: {error}. "
            "It is the JSON that the runner wrote for this node."
        ) from error
    given = {name: os.environ[name] for name in _GIVEN if name in os.environ}
    return replace(request, env={**given, **request.env})


def _text(source: str | None) -> str:
    if source is None:
        text = os.environ.get(REQUEST_VARIABLE)
        if not text:
            raise InvalidInput(f"There is no node request. Name a file with --request, or set {REQUEST_VARIABLE}.")
        return text
    try:
        return sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"The node request in {source} cannot be read: {error.strerror}.") from error


def _named(source: str | None) -> str:
    if source is None:
        return REQUEST_VARIABLE
    return "standard input" if source == "-" else source


def _completed(request: NodeRequest, options: argparse.Namespace) -> NodeRequest:
    """With what only the machine knows, where an engine has placed the part by itself."""
    if options.address:
        request = replace(request, address=options.address)
    if request.node_id:
        return request
    node = local_node(options.node_id or host_name(), options.slots, os.environ)
    share = NodeShare(node.id, tuple(slot.id for slot in node.slots))
    if not 0 <= options.rank < options.nodes:
        raise InvalidInput(f"--rank {options.rank} is not between 0 and {options.nodes - 1}, as --nodes has it.")
    return request.at(options.rank, options.nodes, share)


def _this_node(request: NodeRequest) -> Node:
    """With as many slots as the request speaks of, over the devices that this process may see."""
    return local_node(request.node_id, max(request.slot_ids, default=-1) + 1 or None, os.environ)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m resolute.runners.node", description="Run one node's part of an allocation here."
    )
    parser.add_argument(
        "--request", metavar="FILE", help=f"file with the node request, - for standard input; else {REQUEST_VARIABLE}"
    )
    parser.add_argument(
        "--home",
        metavar="FOLDER",
        default=os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "resolute", "node"),
        help="where runs, model definitions and environments are kept (default: %(default)s)",
    )
    parser.add_argument("--address", metavar="ADDRESS", default="", help="where other nodes reach this one")
    placed = parser.add_argument_group("where the engine has placed the part and its request names no node")
    placed.add_argument("--rank", type=int, default=0, help="place of this node among them, from 0")
    placed.add_argument("--nodes", type=int, default=1, help="number of nodes")
    placed.add_argument("--node-id", metavar="NAME", help="name of this node (default: its host name)")
    placed.add_argument("--slots", type=int, help="slots held here (default: the devices that are visible, else cores)")
    return parser


def _failed(error: Exception, code: int) -> int:
    print(f"ERROR: {error}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
