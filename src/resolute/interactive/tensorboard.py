"""TensorBoard inside a task: fed with what trials report, below the path of the proxy, gone when nobody looks."""

import json
import logging
import os
import sys
import threading
from pathlib import Path
from typing import Any

from tensorboard import default, program
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from resolute.client.client import Client
from resolute.interactive.event_sources import EventSources
from resolute.interactive.idleness import Idleness
from resolute.interactive.listening import Reception

_IDLE_LOOK_S = 1.0
_RELOAD_S = "2"


class Quiet(WSGIRequestHandler):
    """A line per request would drown the task's log."""

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        return None


class Board:
    """A `TensorBoardServer`: its own application, with an eye on when somebody last asked for something."""

    def __init__(self, application: Any, host: str, idleness: Idleness) -> None:
        def watched(environ: Any, start_response: Any) -> Any:
            idleness.active()
            return application(environ, start_response)

        self._server: BaseWSGIServer = make_server(host, 0, watched, threaded=True, request_handler=Quiet)

    @property
    def port(self) -> int:
        return int(self._server.server_port)

    def serve_forever(self) -> None:
        self._server.serve_forever()

    def get_url(self) -> str:
        return f"http://{self._server.host}:{self.port}"

    def print_serving_message(self) -> None:
        """It is told when it is ready."""


def main() -> None:
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    request = json.loads(os.environ.pop("RESOLUTE_TENSORBOARD"))
    reception, idleness = Reception(), Idleness(request["idle_timeout_s"])
    folder = Path("events").absolute()
    folder.mkdir(exist_ok=True)
    sources = EventSources(
        Client(program="resolute-tensorboard"),
        folder,
        experiment_ids=request["experiment_ids"],
        trial_ids=request["trial_ids"],
        storages=request["storages"],
        cluster_id=request["cluster_id"],
    )
    sources.read_reports()
    board = _start(reception, folder, request["arguments"], idleness)
    stop = threading.Event()
    threading.Thread(target=sources.follow, args=(stop,), daemon=True).start()
    reception.is_ready(board.port)
    print(f"TensorBoard is ready at {board.get_url()}{reception.base_path}/", flush=True)
    while not stop.wait(_IDLE_LOOK_S):
        if idleness.is_too_long:
            print(f"Nobody has looked for {request['idle_timeout_s']:g} s (idle_timeout): it ends.", flush=True)
            sys.exit(0)


def _start(reception: Reception, folder: Path, arguments: list[str], idleness: Idleness) -> Board:
    boards: list[Board] = []

    def serve(application: Any, flags: Any) -> Board:
        boards.append(Board(application, reception.host, idleness))
        return boards[0]

    tensorboard = program.TensorBoard(plugins=default.get_plugins(), server_class=serve)
    own = ["--logdir", str(folder), "--path_prefix", reception.base_path, "--reload_interval", _RELOAD_S]
    # The last word on a flag counts, and these are not a user's to decide.
    tensorboard.configure(argv=["tensorboard", "--load_fast", "false", *arguments, *own])
    tensorboard.launch()
    # It tells about every reload.
    logging.getLogger("tensorboard").setLevel(logging.WARNING)
    return boards[0]


if __name__ == "__main__":
    main()
