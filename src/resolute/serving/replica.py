"""A model server as a process: `python -m resolute.serving.replica --source PATH --name NAME`.

Listens at once and loads behind; `GET /v2/health/ready` tells when the model can answer. SIGTERM lets requests finish
and leaves with 0. Under a master it reports where it listens, and when it is ready.
"""

import argparse
import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import uvloop

from resolute.domain.errors import InvalidInput, ResoluteError
from resolute.serving.dataplane import DataPlane
from resolute.serving.http_server import ModelHttpServer, standard_log
from resolute.serving.replica_report import MasterReport, address_towards_master
from resolute.serving.runtimes.model_store import names_in
from resolute.serving.settings import DEFAULT_LOAD, Limits, ModelSettings
from resolute.serving.worker_child import PreforkedChildren
from resolute.serving.worker_process import WorkerProcess

_log = logging.getLogger("resolute.serving")
SOURCE_VARIABLE = "RESOLUTE_MODEL_SOURCE"
"""Set by whoever starts a replica; on another machine than the master's it names the copy that was fetched."""
_LAST_PORT = 65535
_REFUSED = 3
"""Exit code with `--fail-fast` when the model can never be served."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSettings:
    model: ModelSettings
    limits: Limits = field(default_factory=Limits)
    host: str = "127.0.0.1"
    port: int = 0
    grpc_port: int = -1
    """-1: no gRPC; 0: any free port."""
    ready_file: Path | None = None
    is_fail_fast: bool = False
    is_logging: bool = True
    has_repository: bool = True
    """Callers may load and unload the model. Not in a deployment: there the roll-out decides."""

    def __post_init__(self) -> None:
        for name in ("port", "grpc_port"):
            if not -1 <= getattr(self, name) <= _LAST_PORT or self.port < 0:
                raise InvalidInput(f"{name} is {getattr(self, name)}; ports go from 0 (any free one) to {_LAST_PORT}.")


def main(arguments: Sequence[str] | None = None) -> int:
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        return run(settings_of(_parser().parse_args(arguments)))
    except ResoluteError as problem:
        print(f"Error: {problem}", file=sys.stderr)
        return 2


def run(settings: ReplicaSettings, *, on_listening: Callable[[int, int], None] | None = None) -> int:
    """Serve until SIGTERM or SIGINT. Returns the exit code."""
    preforked = PreforkedChildren(settings.model)
    try:
        return uvloop.run(_serve(settings, preforked, on_listening))
    finally:
        preforked.close()


def settings_of(options: argparse.Namespace) -> ReplicaSettings:
    return ReplicaSettings(
        model=ModelSettings(
            name=options.name,
            source=options.source,
            aliases=tuple(name for name in names_in(options.source) if name != options.name),
            version=options.version,
            options=_options(options.options),
            load=options.load,
            workers=options.workers,
            is_trusted=options.trusted,
            allow_pickle=options.allow_pickle,
            memory_bytes=options.memory_bytes,
        ),
        limits=Limits(
            max_batch_size=options.max_batch_size,
            max_batch_delay_ms=options.max_batch_delay_ms,
            max_queue=options.max_queue,
            timeout_s=options.timeout_s,
            max_body_bytes=options.max_body_bytes,
            drain_s=options.drain_s,
        ),
        host=options.host or address_towards_master(os.environ),
        port=options.port,
        grpc_port=options.grpc_port,
        ready_file=options.ready_file,
        is_fail_fast=options.fail_fast,
        is_logging=not options.no_request_log,
        has_repository=not options.no_repository,
    )


def _parser() -> argparse.ArgumentParser:
    limits = Limits()
    parser = argparse.ArgumentParser(prog="python -m resolute.serving.replica", description="Serve one model.")
    named = os.environ.get(SOURCE_VARIABLE)
    parser.add_argument(
        "--source",
        type=Path,
        default=named,
        required=named is None,
        help=f"folder, archive or file of the model (default: {SOURCE_VARIABLE})",
    )
    parser.add_argument("--name", required=True, help="name it answers to")
    parser.add_argument("--version", default="1")
    parser.add_argument("--host", default="127.0.0.1", help="empty: the address from which it reaches its master")
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    parser.add_argument("--grpc-port", type=int, default=-1, help="-1: no gRPC; 0: any free port")
    parser.add_argument("--options", default="{}", help="JSON object for the model")
    parser.add_argument("--load", default=DEFAULT_LOAD, help="module:function that loads the model")
    parser.add_argument("--workers", type=int, default=1, help="model processes")
    parser.add_argument("--trusted", action="store_true", help="the model's code is yours: do not confine it")
    parser.add_argument("--allow-pickle", action="store_true", help="load files that run code as they are loaded")
    parser.add_argument("--memory-bytes", type=int, default=0, help="of each model process; 0: what the machine has")
    parser.add_argument("--max-batch-size", type=int, default=limits.max_batch_size)
    parser.add_argument("--max-batch-delay-ms", type=float, default=limits.max_batch_delay_ms)
    parser.add_argument("--max-queue", type=int, default=limits.max_queue)
    parser.add_argument("--timeout-s", type=float, default=limits.timeout_s)
    parser.add_argument("--max-body-bytes", type=int, default=limits.max_body_bytes)
    parser.add_argument("--drain-s", type=float, default=limits.drain_s)
    parser.add_argument("--ready-file", type=Path, help="gets port, grpc_port and pid as JSON once it listens")
    parser.add_argument("--fail-fast", action="store_true", help=f"leave with {_REFUSED} if it can never be served")
    parser.add_argument("--no-request-log", action="store_true")
    parser.add_argument("--no-repository", action="store_true", help="callers cannot load or unload the model")
    return parser


def _options(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as problem:
        raise InvalidInput(f"--options is not JSON: {problem}") from None
    if not isinstance(value, dict):
        raise InvalidInput(f'--options must be a JSON object such as {{"score_threshold": 0.5}}, not {text}.')
    return value


async def _serve(
    settings: ReplicaSettings, preforked: PreforkedChildren, on_listening: Callable[[int, int], None] | None
) -> int:
    stopping = _stopping()
    plane = DataPlane([settings.model], settings.limits, spawn=lambda model: WorkerProcess(model, preforked.make_child))
    http = ModelHttpServer(
        plane, standard_log() if settings.is_logging else None, has_repository=settings.has_repository
    )
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(plane.stop)
        stack.push_async_callback(http.stop)
        port = await _listen(http, settings)
        grpc_port = await _start_grpc(settings, http, plane, stack)
        plane.start()
        _announce(settings, port, grpc_port)
        if on_listening is not None:
            on_listening(port, grpc_port)
        reporting = asyncio.create_task(_report(settings, plane, port, os.environ))
        code = await _until_end(settings, plane, stopping)
        reporting.cancel()
        if not await http.drain(settings.limits.drain_s):
            _log.warning("Requests were still under way after %g s; leaving anyway.", settings.limits.drain_s)
    return code


def _stopping() -> asyncio.Event:
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    return stopping


async def _listen(http: ModelHttpServer, settings: ReplicaSettings) -> int:
    try:
        return await http.start(settings.host, settings.port)
    except OSError as problem:
        raise InvalidInput(
            f"Cannot listen on {settings.host}:{settings.port}: {problem.strerror or problem}. Choose another port."
        ) from None


async def _start_grpc(
    settings: ReplicaSettings, http: ModelHttpServer, plane: DataPlane, stack: contextlib.AsyncExitStack
) -> int:
    if settings.grpc_port < 0:
        return -1
    # A start without gRPC does not pay for importing it.
    grpc = import_module("resolute.serving.grpc.server")
    server = await grpc.start_grpc(
        plane, settings.host, settings.grpc_port, http.note, has_repository=settings.has_repository
    )
    stack.push_async_callback(server.stop, settings.limits.drain_s)
    return int(server.port)


def _announce(settings: ReplicaSettings, port: int, grpc_port: int) -> None:
    _log.info("Model %s listens on http://%s:%d", settings.model.name, settings.host, port)
    if settings.ready_file is None:
        return
    partial = settings.ready_file.with_name(f".{settings.ready_file.name}.{os.getpid()}")
    partial.write_text(json.dumps({"port": port, "grpc_port": grpc_port, "pid": os.getpid()}))
    partial.replace(settings.ready_file)


async def _report(settings: ReplicaSettings, plane: DataPlane, port: int, env: Mapping[str, str]) -> None:
    report = MasterReport.of(env)
    if report is None:
        return
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host
    await report.listens(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
    await plane.models[settings.model.name].pool.settled()
    if not plane.why_not_ready:
        await report.is_ready()


async def _until_end(settings: ReplicaSettings, plane: DataPlane, stopping: asyncio.Event) -> int:
    pool = plane.models[settings.model.name].pool
    told = asyncio.create_task(stopping.wait())
    settled = asyncio.create_task(pool.settled())
    await asyncio.wait((told, settled), return_when=asyncio.FIRST_COMPLETED)
    if settings.is_fail_fast and pool.is_refused:
        told.cancel()
        return _REFUSED
    await told
    settled.cancel()
    return 0


if __name__ == "__main__":
    sys.exit(main())
