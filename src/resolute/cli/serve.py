"""`resolute serve PATH`: one model behind HTTP, in the foreground. No master is needed."""

import json
import logging
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from resolute.cli.up import require
from resolute.domain.errors import InvalidInput, NotFound

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
_NEEDED = ("httptools", "uvloop", "numpy", "prometheus_client")


@app.command("serve")
def serve(
    path: Annotated[Path, typer.Argument(help="Folder, archive or file of the model.")],
    name: Annotated[
        str | None, typer.Option(help="Name it answers to; its own, or made from PATH, if left out.")
    ] = None,
    version: Annotated[str, typer.Option(help="Version it answers to.")] = "1",
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.")] = 8080,
    grpc_port: Annotated[int, typer.Option(help="Port for gRPC; 0 takes a free one, -1 none.")] = -1,
    option: Annotated[
        list[str] | None, typer.Option("--option", "-o", metavar="KEY=VALUE", help="For the model; repeatable.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes that each hold the model.")] = 1,
    max_batch_size: Annotated[int, typer.Option(help="Instances that go to the model together.")] = 8,
    max_batch_delay_ms: Annotated[float, typer.Option(help="The longest a free model waits for company.")] = 5.0,
    max_queue: Annotated[int, typer.Option(help="Requests that may wait before others get 429.")] = 100,
    timeout_s: Annotated[float, typer.Option(help="The longest a request may take.")] = 60.0,
    max_body_bytes: Annotated[int, typer.Option(help="Larger requests get 413.")] = 64 << 20,
    trusted: Annotated[bool, typer.Option("--trusted", help="The model's code is yours: do not confine it.")] = False,
    allow_pickle: Annotated[
        bool, typer.Option("--allow-pickle", help="Load files that run code as they are loaded.")
    ] = False,
    memory_bytes: Annotated[int, typer.Option(help="Of each model process; 0: what the machine has.")] = 0,
    load: Annotated[
        str, typer.Option(metavar="MODULE:FUNCTION", help="What loads the model.", show_default=False)
    ] = "resolute.serving.loading:load_model",
) -> None:
    """Serve one model over KServe's V1 and V2 until Ctrl-C."""
    require(_NEEDED)
    if not path.exists():
        raise NotFound(f"There is nothing at {path}. Name the folder, archive or file of a model.")
    settings = import_module("resolute.serving.settings")
    replica = import_module("resolute.serving.replica")
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    own = import_module("resolute.serving.runtimes.model_store").names_in(path)
    chosen = name or next(iter(own), name_of(path))
    code = replica.run(
        replica.ReplicaSettings(
            model=settings.ModelSettings(
                name=chosen,
                source=path,
                aliases=tuple(each for each in own if each != chosen),
                version=version,
                options=options_of(option or []),
                load=load,
                workers=workers,
                is_trusted=trusted,
                allow_pickle=allow_pickle,
                memory_bytes=memory_bytes,
            ),
            limits=settings.Limits(
                max_batch_size=max_batch_size,
                max_batch_delay_ms=max_batch_delay_ms,
                max_queue=max_queue,
                timeout_s=timeout_s,
                max_body_bytes=max_body_bytes,
            ),
            host=host,
            port=port,
            grpc_port=grpc_port,
        ),
        on_listening=lambda bound, _: typer.echo(_example(host, bound, chosen)),
    )
    raise typer.Exit(code)


def name_of(path: Path) -> str:
    """A name that can stand in an address."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", path.resolve().stem).strip("-.") or "model"


def options_of(pairs: list[str]) -> dict[str, object]:
    """`score_threshold=0.4`: values are JSON where they can be, text otherwise."""
    options: dict[str, object] = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise InvalidInput(f"--option {pair!r} is not KEY=VALUE, for example score_threshold=0.4.")
        try:
            options[key] = json.loads(value)
        except ValueError:
            options[key] = value
    return options


def _example(host: str, port: int, name: str) -> str:
    address = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    return (
        f"Try: curl http://{address}:{port}/v1/models/{name}:predict "
        """-H 'content-type: application/json' -d '{"instances": [...]}'"""
    )
