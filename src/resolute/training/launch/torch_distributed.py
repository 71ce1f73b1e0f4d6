"""The launcher itself: parse, find the meeting point, fork the ranks, start them again when one was killed."""

import contextlib
import importlib
import json
import os
import signal
import sys
from collections.abc import Sequence

from resolute.domain.errors import ResoluteError
from resolute.training.launch.command import USAGE, AskedForHelp, Rendezvous, parse_launch, rank_environment
from resolute.training.launch.meeting import find_rendezvous
from resolute.training.launch.ranks import Gang

_RESTARTS_ON_CLUSTER = 3


def main(argv: Sequence[str] | None = None) -> int:
    try:
        request = parse_launch(sys.argv[1:] if argv is None else argv)
        meeting = find_rendezvous(request.nproc)
    except AskedForHelp:
        print(USAGE)
        return 0
    except ResoluteError as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return 2
    threads = os.environ.get("OMP_NUM_THREADS") or str(max((os.cpu_count() or 1) // meeting.local_size, 1))
    _load_torch()
    restarts = _allowed_restarts(request.restarts, meeting)
    for restart in range(restarts + 1):
        base = {**os.environ, "OMP_NUM_THREADS": threads}
        environments = {
            meeting.first_rank + local: rank_environment(meeting, local, restart, base)
            for local in range(meeting.local_size)
        }
        gang = Gang(environments, request.command.run)
        code = gang.run()
        # An exception would happen again; a kill (out of memory, a lost machine's ghost) may not.
        was_killed = gang.killed_by is not None and gang.killed_by != signal.SIGTERM
        if code == 0 or not was_killed or gang.is_terminating or restart == restarts:
            return code
        print(f"WARNING: starting the ranks again here ({restart + 1} of {restarts}).", file=sys.stderr, flush=True)
    return code


def _load_torch() -> None:
    """With one thread, which is the only safe number to fork with; each rank raises its own."""
    os.environ["OMP_NUM_THREADS"] = "1"
    import torch
    import torch.distributed

    torch.set_num_threads(1)
    with contextlib.suppress(ImportError):
        importlib.import_module("resolute.training.pytorch.session")
        importlib.import_module("resolute.training.pytorch.trainer")
    # The first optimizer step imports a great deal; done here, no rank has to. No backward pass: that starts threads.
    weight = torch.nn.Parameter(torch.zeros(1))
    weight.grad = torch.zeros(1)
    torch.optim.Adam([weight]).step()


def _allowed_restarts(asked: int | None, meeting: Rendezvous) -> int:
    """Starting again in place needs all ranks on this host; between hosts it is the master that starts again."""
    if len(meeting.addresses) > 1:
        return 0
    if asked is not None:
        return asked
    if "DET_TRIAL_ID" not in os.environ:
        return 0
    config = json.loads(os.environ.get("DET_EXPERIMENT_CONFIG") or "{}")
    return min(_RESTARTS_ON_CLUSTER, int(config.get("max_restarts", _RESTARTS_ON_CLUSTER)))
