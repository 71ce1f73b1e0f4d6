"""A master in a thread, as far as the supervisors of nodes need one: it hands out model definitions, lets nodes meet,
and keeps phases and output. It can be away for a while. All allocations have one token.
"""

import hashlib
import json
import re
import socket
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from resolute.domain.gang import GangNode, Phase, meeting_of, rank_of
from resolute.domain.log import LogLine, decode_line

TOKEN = "stand-in"
_CONTEXT = re.compile(r"/api/v1/allocations/([^/]+)/context")
_RESOURCES = re.compile(r"/api/v1/allocations/([^/]+)/resources/([^/]+)/(rendezvous|phase|logs)")


class MasterStandIn(AbstractContextManager["MasterStandIn"]):
    """`address`: one that the nodes reach."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        self._lock = threading.Lock()
        self.reset()
        self._is_away = False
        self._server = _Server((address, 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def reset(self) -> None:
        """Forget everything."""
        self.phases: dict[str, list[Phase]] = defaultdict(list)
        """As each node reported them, by resources id."""
        self.over: set[str] = set()
        """Allocations that have ended for the master: what their nodes send is refused."""
        self.fetched: list[str] = []
        """Allocations whose model definition was asked for, in order."""
        self._contexts: dict[str, bytes] = {}
        self._nodes: dict[str, dict[int, GangNode]] = defaultdict(dict)
        self._output: dict[str, list[LogLine]] = defaultdict(list)
        self._sequences: dict[str, int] = defaultdict(int)

    def __enter__(self) -> "MasterStandIn":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def env(self) -> dict[str, str]:
        """What a gang needs in its environment to find this master."""
        host, port = self._server.server_address[:2]
        return {"DET_MASTER": f"http://{host!s}:{port}", "DET_SESSION_TOKEN": TOKEN}

    def lines(self, allocation_id: str) -> list[str]:
        """What its processes have written so far, each node's in order."""
        with self._lock:
            return [line.text for line in self._output[allocation_id]]

    def keep(self, allocation_id: str, archive: bytes) -> str:
        """The model definition of an allocation; returns its context id."""
        self._contexts[allocation_id] = archive
        return hashlib.sha256(archive).hexdigest()

    @contextmanager
    def away(self) -> Iterator[None]:
        """Every call is answered with 503."""
        self._is_away = True
        try:
            yield
        finally:
            self._is_away = False

    # --------------------------------------------------------------------------------------------------- the answers

    def answer(self, method: str, target: str, token: str | None, body: bytes) -> tuple[int, bytes]:
        url = urlsplit(target)
        if self._is_away:
            return 503, b"away"
        if token != f"Bearer {TOKEN}":
            return 401, b"unknown token"
        if method == "GET" and (match := _CONTEXT.fullmatch(url.path)):
            return self._context(match[1])
        match = _RESOURCES.fullmatch(url.path)
        if method != "POST" or match is None:
            return 404, f"{method} {url.path} is not known here".encode()
        allocation_id, resources, subject = match.groups()
        if allocation_id in self.over:
            return 409, b"that allocation has ended"
        with self._lock:
            if subject == "logs":
                sequence = int(parse_qs(url.query)["sequence"][0])
                return self._take_output(allocation_id, resources, sequence, body)
            answers: dict[str, Callable[..., dict[str, Any]]] = {"rendezvous": self._join, "phase": self._note_phase}
            return 200, json.dumps(answers[subject](allocation_id, resources, json.loads(body))).encode()

    def _context(self, allocation_id: str) -> tuple[int, bytes]:
        self.fetched.append(allocation_id)
        found = self._contexts.get(allocation_id)
        return (404, b"no model definition") if found is None else (200, found)

    def _join(self, allocation_id: str, resources: str, body: dict[str, Any]) -> dict[str, Any]:
        rank = rank_of(resources, allocation_id)
        self._nodes[allocation_id][rank] = GangNode(
            allocation_id=allocation_id,
            rank=rank,
            node_id=body["nodeId"],
            address=body["address"],
            slot_ids=tuple(body["slotIds"]),
            ports=tuple(body["ports"]),
        )
        met = meeting_of(list(self._nodes[allocation_id].values()), body["nodes"])
        if met is None:
            return {"isComplete": False}
        info = {"addresses": met.addresses, "slots": met.slots, "rank": rank}
        return {"isComplete": True, "rendezvousInfo": info, "ports": met.ports}

    def _note_phase(self, _allocation_id: str, resources: str, body: dict[str, Any]) -> dict[str, Any]:
        self.phases[resources].append(Phase(body["phase"]))
        return {}

    def _take_output(self, allocation_id: str, resources: str, sequence: int, records: bytes) -> tuple[int, bytes]:
        """Each batch once, in order."""
        if sequence > self._sequences[resources] + 1:
            return 400, b"a batch is missing"
        if sequence == self._sequences[resources] + 1:
            self._sequences[resources] = sequence
            lines = records.splitlines(keepends=True)
            self._output[allocation_id] += [decode_line(record, offset=0) for record in lines]
        return 200, b"{}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: socket.socket | tuple[bytes, socket.socket], client_address: Any) -> None:
        """Whoever hung up was killed by the test."""


def _handler(master: MasterStandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            token = self.headers.get("Grpc-Metadata-x-allocation-token")
            status, content = master.answer(self.command, self.path, token, body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _answer

        def log_message(self, format: str, *args: Any) -> None:
            """Tests are quiet."""

    return Handler
