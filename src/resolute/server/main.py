"""The master's process: joins store, runner, engine and app, serves in the foreground, and stops cleanly."""

import contextlib
import fcntl
import getpass
import logging
import os
import resource
import signal
import socket
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

import uvicorn

from resolute.domain.agent_account import AgentAccount
from resolute.domain.change_retention import ChangeRetention
from resolute.domain.errors import InvalidInput, ResoluteError, Unavailable
from resolute.domain.rights import RightsMode
from resolute.engine.access import accounts
from resolute.engine.access.workspaces import ensure_default_workspace
from resolute.engine.changes.loop import DeliveryLoop
from resolute.engine.deployments.rollouts import RolloutLoop
from resolute.engine.jobs.allocations import pending_preemption
from resolute.engine.loop import EngineLoop
from resolute.engine.platform import MasterConfig, Platform
from resolute.engine.ports.database import Store
from resolute.engine.ports.runner import Runner
from resolute.engine.trials.log_watch import LogWatch
from resolute.runners.engines import Surroundings, open_runners
from resolute.server.addresses import advertised_url, is_loopback
from resolute.server.app import create_app
from resolute.server.first_run import FILE, first_run_token, is_shared_machine
from resolute.server.home import home_folder, make_private
from resolute.server.http_protocol import MAX_MESSAGE_BYTES, guarded
from resolute.server.logbook import Logbook, keep_log
from resolute.server.network import NetworkOptions, open_network
from resolute.server.run_as import AS_ROOT, run_as_account, runs_as_root
from resolute.server.state import ServerState
from resolute.serving.router.process import RouterProcess
from resolute.spec.runners import RunnerConfig
from resolute.store.blobs import Guard, open_blobs
from resolute.store.blobs.dataset_files import open_dataset_files
from resolute.store.db.database import DatabaseStore, open_store
from resolute.store.db.ownership import Owner
from resolute.store.logs import FileLogs

log = logging.getLogger(__name__)

DEFAULT_PORT = 8080
DEFAULT_AUDIT_DAYS = ChangeRetention().audit.days
LEAVE_WITHIN_S = 60.0
"""How long trials may take to checkpoint when the master stops them."""
_CLOSE_WITHIN_S = 3
_FILES_IF_UNLIMITED = 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What `resolute up` was given."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    """0: any free one."""
    home: Path | None = None
    slots: int | None = None
    db: str | None = None
    stop_trials: bool = False
    admin_password: str | None = None
    initial_password: str | None = None
    allowed_hosts: Sequence[str] = ()
    advertise: str | None = None
    """Where tasks reach the master. None: where it listens."""
    warm: bool = True
    router_port: int | None = None
    """Of the router of deployments. None: the one after the master's."""
    audit_days: int = DEFAULT_AUDIT_DAYS
    rights: RightsMode = RightsMode.BASIC
    run_as: AgentAccount | None = None
    """As whom trials run. None: as the master."""
    runners: Sequence[RunnerConfig] = ()
    """Empty: this machine alone, with `slots`."""
    network: NetworkOptions = field(default_factory=NetworkOptions)


def run(
    *,
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    home: str | Path | None = None,
    slots: int | None = None,
    db: str | None = None,
    stop_trials: bool = False,
    admin_password: str | None = None,
    initial_password: str | None = None,
    allowed_hosts: Sequence[str] = (),
    advertise: str | None = None,
    warm: bool = True,
    router_port: int | None = None,
    audit_days: int = DEFAULT_AUDIT_DAYS,
    rights: RightsMode = RightsMode.BASIC,
    run_as: str | None = None,
    runners: Sequence[RunnerConfig] = (),
    network: NetworkOptions | None = None,
) -> int:
    """Serve until SIGTERM or Ctrl-C; returns the exit code. Raises ResoluteError when it cannot start."""
    options = Options(
        host=host,
        port=port,
        home=Path(home) if home else None,
        slots=slots,
        db=db,
        stop_trials=stop_trials,
        admin_password=admin_password or os.environ.get("RESOLUTE_ADMIN_PASSWORD"),
        initial_password=initial_password or os.environ.get("RESOLUTE_INITIAL_PASSWORD"),
        allowed_hosts=allowed_hosts,
        advertise=advertised_url(advertise) if advertise else None,
        warm=warm,
        router_port=_port_in(os.environ.get("RESOLUTE_ROUTER_PORT")) if router_port is None else router_port,
        audit_days=audit_days,
        rights=rights,
        run_as=run_as_account(run_as),
        runners=runners,
        network=network or NetworkOptions(),
    )
    _allow_many_files()
    return Master(options).serve()


class Master:
    def __init__(self, options: Options) -> None:
        self._options = options
        self._home = home_folder(options.home)

    def serve(self) -> int:
        logbook = Logbook()
        with _only_one(self._home), contextlib.ExitStack() as closing:
            make_private(self._home)
            keep_log(logbook, self._home)
            self._network = open_network(self._options.network, self._home, self._names())
            listener = _listen(self._options.host, self._options.port)
            closing.callback(listener.close)
            closing.callback(self._network.close)
            store = open_store(self._options.db or f"sqlite:///{self._home / 'resolute.sqlite3'}", owner=Owner())
            closing.callback(store.close)
            platform = self._platform(store, listener)
            stop_gangs = False
            try:
                self._prepare(platform)
                stop_gangs = self._options.stop_trials
                return self._serve(platform, store, logbook, listener)
            finally:
                platform.runner.close(stop_gangs=stop_gangs)

    def _platform(self, store: Store, listener: socket.socket) -> Platform:
        scheme = self._network.scheme
        url = self._options.advertise or _reachable_url(listener, scheme)
        trusted = self._network.trusted_by_tasks(urlsplit(url).hostname or "")
        guard = Guard(self._home)
        return Platform(
            store=store,
            runner=self._runner(store, url),
            logs=FileLogs(self._home / "logs"),
            blobs=partial(open_blobs, guard=guard),
            dataset_files=partial(open_dataset_files, guard=guard),
            clock=lambda: datetime.now(UTC),
            config=MasterConfig(
                home=self._home,
                url=url,
                cert_file=trusted.cert_file,
                cert_name=trusted.cert_name,
                own_ports=frozenset({listener.getsockname()[1], self._router_port()}),
                is_local=is_loopback(self._options.host),
                first_run_token=first_run_token(self._home) if is_loopback(self._options.host) else "",
                rights=self._options.rights,
                cluster_id=_cluster_id(store),
                checkpoint_storage={"type": "shared_fs", "host_path": str(self._home / "checkpoints")},
                run_as=self._options.run_as,
                can_run_as_others=os.geteuid() == 0,
                change_retention=ChangeRetention(audit=timedelta(days=self._options.audit_days)),
            ),
        )

    def _runner(self, store: Store, url: str) -> Runner:
        def read_code(context_id: str) -> bytes:
            with store.read() as tx:
                return tx.contexts.get(context_id)

        slots = self._options.slots
        hosts = os.environ.get("RESOLUTE_TEST_HOSTS")
        if hosts:  # tests: namespaces of this machine play the hosts of a cluster
            from resolute.runners.hosts import HostsRunner, read_hosts

            shared = Path(hosts).parent
            return HostsRunner(home=self._home, hosts=read_hosts(Path(hosts)), slots=slots or 1, shared=shared)
        configs = self._options.runners or (RunnerConfig("local", "local", {} if slots is None else {"slots": slots}),)
        around = Surroundings(home=self._home, url=url, warm=self._options.warm, read_code=read_code)
        return open_runners(configs, around)

    def _prepare(self, platform: Platform) -> None:
        (self._home / "checkpoints").mkdir(exist_ok=True)
        accounts.ensure_default_users(
            platform,
            admin_password=self._options.admin_password,
            initial_password=self._options.initial_password,
        )
        ensure_default_workspace(platform)
        if not is_loopback(self._options.host):
            _require_passwords(platform, self._options.host)

    def _serve(self, platform: Platform, store: DatabaseStore, logbook: Logbook, listener: socket.socket) -> int:
        hosts = (self._options.host, *self._options.allowed_hosts, urlsplit(platform.config.url).hostname or "")
        network = self._network
        app = create_app(
            platform,
            logbook=logbook,
            allowed_hosts=hosts,
            task_domain=network.task_domain,
            allowed_networks=network.allowed,
            trust=network.trusted_by_tasks("") if network.certificate else None,
        )
        config = uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            loop="uvloop",
            http=guarded(network.peers),
            # The protocol itself takes the library when somebody opens the first websocket.
            ws="none",
            ws_max_size=MAX_MESSAGE_BYTES,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=_CLOSE_WITHIN_S,
            timeout_keep_alive=75,
            server_header=False,
            forwarded_allow_ips=list(network.proxies),
            ssl_context_factory=network.context_factory,
        )
        loop = EngineLoop(platform)
        address = _reachable_url(listener, network.scheme)
        if network.certificate is not None:
            _say(f"Its certificate is {network.certificate.cert}, SHA-256 {network.certificate.fingerprint}")
        server = _Server(config, platform, loop, address=address, stop_trials=self._options.stop_trials)
        router = self._router()
        rollouts = RolloutLoop(platform, router, requires_key=not is_loopback(self._options.host))
        deliveries = DeliveryLoop(platform)
        logs = LogWatch(platform)
        loop.start()
        rollouts.start()
        deliveries.start()
        logs.start()
        store.watch_ownership(server.give_up)
        try:
            server.run(sockets=[listener])
        finally:
            rollouts.stop()
            logs.stop()
            loop.stop()
            deliveries.stop()
            if self._options.stop_trials:
                router.stop()
        return server.exit_code

    def _router(self) -> RouterProcess:
        """It is started with the first deployment, and found again by the next master."""
        network = self._network
        return RouterProcess(
            home=self._home,
            host=self._options.host,
            port=self._router_port(),
            certificate=None if network.certificate is None else (network.certificate.cert, network.certificate.key),
            allowed=tuple(str(each) for each in network.peers or ()),
        )

    def _names(self) -> Sequence[str]:
        """Under which clients reach it: what a certificate of its own is for."""
        host = self._options.host
        advertised = urlsplit(self._options.advertise or "").hostname or ""
        own = () if host in ("0.0.0.0", "::") else (host,)
        return (*own, "localhost", "127.0.0.1", "::1", socket.gethostname(), *self._options.allowed_hosts, advertised)

    def _router_port(self) -> int:
        port = self._options.router_port
        if port is None:
            port = self._options.port + 1 if self._options.port else 0
        return port


class _Server(uvicorn.Server):
    """Says when it is ready, ends open streams when it stops, and leaves the signal to end there."""

    def __init__(
        self, config: uvicorn.Config, platform: Platform, engine: EngineLoop, *, address: str, stop_trials: bool
    ) -> None:
        super().__init__(config)
        self._address = address
        self._platform = platform
        self._engine = engine
        self._stop_trials = stop_trials
        self.exit_code = 0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        _say(f"Resolute is ready at {self._address}")
        if self._platform.config.url != self._address:
            _say(f"Tasks reach it at {self._platform.config.url}")
        self._tell_others()
        if runs_as_root(self._platform.config.run_as):
            _say(f"Warning: {AS_ROOT}")

    def _tell_others(self) -> None:
        config = self._platform.config
        if config.first_run_token and accounts.users_without_password(self._platform) and is_shared_machine():
            _say(f"Other accounts of this machine log in with the token in {config.home / FILE} as the password.")

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        kinds = (signal.SIGINT, signal.SIGTERM)
        before = {kind: signal.signal(kind, self.handle_exit) for kind in kinds}
        try:
            yield
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        is_first = not self.should_exit and not self._stop_trials
        if self._stop_trials:
            self._stop_trials = False
            _say("Stopping: asking trials to checkpoint. Press Ctrl-C again to leave without waiting.")
            threading.Thread(target=self._drain, name="drain", daemon=True).start()
            return
        if is_first:
            _say("Stopping. Trials go on running and are picked up at the next start.")
        super().handle_exit(sig, frame)

    def give_up(self, sentence: str) -> None:
        """Another master has the database: leave at once, and let the trials be."""
        log.error(sentence)
        self._engine.stop()
        self.exit_code = 1
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        state: ServerState = self.config.app.state.server  # type: ignore[union-attr]
        state.watches.stop()
        await super().shutdown(sockets)
        await state.close()

    def _drain(self) -> None:
        """Trials still reach the master while they checkpoint; nothing new is started meanwhile."""
        self._engine.stop()
        try:
            _ask_all_to_leave(self._platform)
        except ResoluteError as error:
            log.warning("trials could not be asked to leave: %s", error)
        self.should_exit = True


def _ask_all_to_leave(platform: Platform) -> None:
    with platform.store.read() as tx:
        held = [allocation for allocation in tx.allocations.live() if allocation.handle]
    for allocation in held:
        pending_preemption(platform, allocation.id)
    handles = [allocation.handle for allocation in held if allocation.handle]
    ends_at = time.monotonic() + LEAVE_WITHIN_S
    while handles and time.monotonic() < ends_at:
        statuses = platform.runner.poll(handles)
        handles = [h for h in handles if h in statuses and statuses[h].exit_code is None and not statuses[h].is_lost]
        time.sleep(0.1)


# ----------------------------------------------------------------------------------------------------------- start


def _allow_many_files() -> None:
    """Every connection is an open file, and the usual limit of 1024 is soon used up."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES_IF_UNLIMITED if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@contextlib.contextmanager
def _only_one(home: Path) -> Iterator[None]:
    """Two masters over one home would run everything twice."""
    with (home / "master.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unavailable(
                f"Another master is running over {home}. Stop it first, or start this one with another --home."
            ) from None
        yield


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise Unavailable(
            f"Cannot listen on {host}:{port}: {error.strerror}. Stop what uses it, or choose another --host or --port."
        ) from error
    listener.set_inheritable(False)
    return listener


def _reachable_url(listener: socket.socket, scheme: str) -> str:
    """Where tasks on this machine reach the master; a wildcard address is reached over loopback."""
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1" if host == "0.0.0.0" else "::1"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


def _port_in(text: str | None) -> int | None:
    if not text:
        return None
    if not text.isdigit() or int(text) > 65535:
        raise InvalidInput(f"RESOLUTE_ROUTER_PORT: {text!r} is not a port. Give a number from 0 to 65535.")
    return int(text)


def _cluster_id(store: Store) -> str:
    with store.write() as tx:
        known = tx.settings.get("cluster_id")
        if known is None:
            known = str(uuid.uuid4())
            tx.settings.put("cluster_id", known)
    return str(known)


def _require_passwords(platform: Platform, host: str) -> None:
    """Beyond loopback an empty password opens nothing, so somebody must be able to log in and give out others."""
    if accounts.users_without_password(platform) and sys.stdin.isatty():
        password = getpass.getpass(f"Listening on {host} needs passwords. Password for users that have none: ")
        accounts.ensure_default_users(platform, initial_password=password)
    missing = accounts.users_without_password(platform)
    names = ", ".join(user.username for user in missing)
    if any(user.is_admin for user in missing) and not accounts.has_admin_with_password(platform):
        raise InvalidInput(
            f"Refusing to listen on {host}: no administrator has a password (without one: {names}). Set "
            "RESOLUTE_ADMIN_PASSWORD and RESOLUTE_INITIAL_PASSWORD (or the flags), or listen on 127.0.0.1."
        )
    if missing:
        _say(
            f"Warning: {names} cannot log in: without a password nobody does beyond loopback. Set "
            "RESOLUTE_INITIAL_PASSWORD for all of them, or give each one with `resolute user change-password`."
        )


def _say(sentence: str) -> None:
    sys.stdout.write(sentence + "\n")
    sys.stdout.flush()
    log.info(sentence)


if __name__ == "__main__":
    sys.exit(run())
