"""`resolute up`: the platform in the foreground."""

import gc
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from resolute.cli.master_file import use_master_file
from resolute.domain.errors import NotSupported
from resolute.domain.rights import RightsMode

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
_NEEDED = ("fastapi", "uvicorn", "sqlalchemy", "obstore")


@app.command("up")
def up(
    config: Annotated[
        Path | None,
        typer.Option(
            envvar="RESOLUTE_CONFIG",
            is_eager=True,
            callback=use_master_file,
            help="A YAML file in which any of these options may stand, as router_port: 8081. What is typed wins.",
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; any but loopback needs passwords.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.")] = 8080,
    router_port: Annotated[
        int | None,
        typer.Option(
            envvar="RESOLUTE_ROUTER_PORT", help="Of the router of deployments; the port after --port if left out."
        ),
    ] = None,
    home: Annotated[
        Path | None, typer.Option(envvar="RESOLUTE_HOME", help="Where everything is kept; ~/.resolute if left out.")
    ] = None,
    slots: Annotated[int | None, typer.Option(min=0, help="Slots to offer; GPUs, else CPU cores, if left out.")] = None,
    db: Annotated[
        str | None, typer.Option(metavar="URL", help="postgresql://... instead of the built-in SQLite.")
    ] = None,
    stop_trials: Annotated[
        bool, typer.Option("--stop-trials", help="On exit let trials checkpoint and stop; else they go on.")
    ] = False,
    allowed_host: Annotated[
        list[str] | None, typer.Option(help="Another name under which browsers may reach it; repeatable.")
    ] = None,
    advertise: Annotated[
        str | None,
        typer.Option(
            envvar="RESOLUTE_ADVERTISE",
            metavar="URL",
            help="Where tasks, also those on other hosts, reach this master; --host and --port if left out.",
        ),
    ] = None,
    tls: Annotated[
        str,
        typer.Option(
            envvar="RESOLUTE_TLS",
            metavar="self-signed",
            help="Speak TLS with a certificate that is made and kept here.",
        ),
    ] = "",
    tls_cert: Annotated[
        Path | None,
        typer.Option(
            envvar="RESOLUTE_TLS_CERT",
            help="Speak TLS: PEM file with the certificate and its chain; read when it changes.",
        ),
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(envvar="RESOLUTE_TLS_KEY", help="PEM file with its key, without a password.")
    ] = None,
    allow_cidr: Annotated[
        list[str] | None, typer.Option(help="Take connections from this network and this machine only; repeatable.")
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(help="Believe X-Forwarded-* of this address or network; this machine if left out; repeatable."),
    ] = None,
    task_domain: Annotated[
        str,
        typer.Option(
            envvar="RESOLUTE_TASK_DOMAIN",
            metavar="DOMAIN",
            help="Serve each task at ID.DOMAIN, apart from the platform's pages; all its subdomains must lead here.",
        ),
    ] = "",
    admin_password: Annotated[
        str | None, typer.Option(envvar="RESOLUTE_ADMIN_PASSWORD", help="Password of admin, set while it has none.")
    ] = None,
    initial_password: Annotated[
        str | None, typer.Option(envvar="RESOLUTE_INITIAL_PASSWORD", help="The same for all users without one.")
    ] = None,
    audit_days: Annotated[
        int,
        typer.Option(
            envvar="RESOLUTE_AUDIT_DAYS", min=1, max=36500, help="How long the audit log keeps what people did."
        ),
    ] = 90,
    rights: Annotated[
        RightsMode,
        typer.Option(
            envvar="RESOLUTE_RIGHTS",
            help="basic: everybody works with everything, owners delete. roles: only what was assigned counts.",
        ),
    ] = RightsMode.BASIC,
    run_as: Annotated[
        str | None,
        typer.Option(
            envvar="RESOLUTE_RUN_AS",
            metavar="USER",
            help="Account of this machine that trials run as; needs root. As the master if left out.",
        ),
    ] = None,
    warm: Annotated[bool, typer.Option(help="Keep a process with torch loaded, so that trials start at once.")] = True,
) -> None:
    """Run the platform in the foreground until Ctrl-C."""
    require(_NEEDED)
    # Nothing that is loaded now is ever garbage: looking for some would take a quarter of the start.
    gc.disable()
    server = import_module("resolute.server.main")
    gc.freeze()
    gc.enable()
    code = server.run(
        host=host,
        port=port,
        router_port=router_port,
        home=home,
        slots=slots,
        db=db,
        stop_trials=stop_trials,
        allowed_hosts=tuple(allowed_host or ()),
        advertise=advertise,
        admin_password=admin_password,
        initial_password=initial_password,
        warm=warm,
        audit_days=audit_days,
        rights=rights,
        run_as=run_as,
        network=server.NetworkOptions(
            tls=tls,
            tls_cert=tls_cert,
            tls_key=tls_key,
            allow_cidr=tuple(allow_cidr or ()),
            trusted_proxy=tuple(trusted_proxy or ()),
            task_domain=task_domain,
        ),
    )
    raise typer.Exit(int(code or 0))


def require(packages: Sequence[str]) -> None:
    """Raise NotSupported, with the way to install them, when some of `packages` are not there."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise NotSupported(f"The platform needs {', '.join(missing)}. Install it with: pip install 'resolute[server]'")
