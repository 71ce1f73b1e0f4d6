"""The application: every route behind one gate and one authentication, around one platform. Starts nothing."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from fastapi import Depends, FastAPI
from starlette.requests import HTTPConnection

from resolute.domain.needs import Door, Need
from resolute.domain.networks import Network
from resolute.engine.access.accounts import Whereabouts
from resolute.engine.platform import Platform
from resolute.host.trust import Trust
from resolute.server import events
from resolute.server.auth import Tokens, authenticate
from resolute.server.body_limits import MAX_BODY_BYTES
from resolute.server.callers import whereabouts
from resolute.server.encodings import CompressedAnswers
from resolute.server.errors import add_error_handlers
from resolute.server.gate import Gate
from resolute.server.headers import BrowserRules
from resolute.server.health import HealthCheck
from resolute.server.logbook import Logbook
from resolute.server.proxy.origin import TaskOrigins
from resolute.server.resource import operation_id
from resolute.server.revocation import Revocation
from resolute.server.routes import (
    audit,
    checkpoints,
    cluster,
    commands,
    datasets,
    deployments,
    experiment_table,
    experiments,
    files,
    generic_tasks,
    history,
    interactive_pages,
    later,
    lineage,
    logs,
    master,
    metrics,
    models,
    nodes,
    notebooks,
    projects,
    proxy,
    reports,
    retention,
    searches,
    serving,
    tasks,
    tensorboards,
    trials,
    users,
    web,
    workspaces,
)
from resolute.server.state import ServerState
from resolute.server.watch import Watches
from resolute.version import __version__

STATIC = Path(__file__).parent / "static"
# Fixed paths stand before those with a parameter in the same place.
_ROUTERS = (
    master.router,
    audit.router,
    users.router,
    experiments.router,
    metrics.router,
    trials.router,
    reports.router,
    checkpoints.router,
    logs.router,
    retention.router,
    tasks.router,
    commands.router,
    generic_tasks.router,
    notebooks.router,
    tensorboards.router,
    nodes.router,
    cluster.router,
    workspaces.router,
    projects.router,
    experiment_table.router,
    searches.router,
    deployments.router,
    serving.router,
    proxy.router,
    files.router,
    models.router,
    datasets.router,
    lineage.router,
    history.router,
    later.router,
    events.router,
    interactive_pages.router,
    web.router,
)


def create_app(
    platform: Platform,
    *,
    logbook: Logbook | None = None,
    allowed_hosts: Iterable[str] = (),
    static: Path = STATIC,
    max_body_bytes: int = MAX_BODY_BYTES,
    task_domain: str = "",
    allowed_networks: tuple[Network, ...] | None = None,
    trust: Trust | None = None,
    whereabouts: Callable[[HTTPConnection], Whereabouts] = whereabouts,
) -> FastAPI:
    """`static` holds the built web UI, `trust` says how the router's certificate is known, `whereabouts` where a log-in
    comes from."""
    origins = TaskOrigins(task_domain)
    logbook = logbook or Logbook()
    app = FastAPI(
        title="Resolute",
        version=__version__,
        openapi_url=None,
        dependencies=[Depends(authenticate)],
        generate_unique_id_function=operation_id,
    )
    app.state.platform = platform
    app.state.static = static
    app.state.trust = trust
    app.state.tokens = Tokens(platform)
    app.state.server = ServerState(
        tokens=app.state.tokens,
        watches=Watches(platform.bus),
        logbook=logbook,
        started_at=platform.clock(),
        health=HealthCheck(platform),
        whereabouts=whereabouts,
        origins=origins,
    )
    logbook.on_line = lambda: platform.bus.publish("master/log")
    add_error_handlers(app)
    for router in _ROUTERS:
        router.add_to(app)
    hosts = tuple(allowed_hosts)
    app.add_middleware(CompressedAnswers)
    app.add_middleware(Revocation)
    app.add_middleware(
        Gate,
        hosts=hosts,
        open_routes=open_routes(),
        max_body_bytes=max_body_bytes,
        origins=origins,
        networks=allowed_networks,
    )
    app.add_middleware(BrowserRules)
    return app


def declared_routes() -> Iterator[tuple[str, str, Need]]:
    """Method, path and need of everything that is served."""
    for router in _ROUTERS:
        for route in router.declared:
            for method in route.methods:
                yield method, route.path, route.needs


def open_routes() -> frozenset[tuple[str, str]]:
    """Method and path of what anybody may call without a token."""
    return frozenset((method, path) for method, path, needs in declared_routes() if needs.door is Door.OPEN)
