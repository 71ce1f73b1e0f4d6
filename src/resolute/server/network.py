"""How the platform is reached: TLS, from which networks, behind which proxies, and where its tasks are.

Read once at the start; only the certificate is read again when it changes.
"""

import ssl
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn

from resolute.domain.errors import InvalidInput, NotSupported
from resolute.domain.networks import LOOPBACK, Network, parse_networks
from resolute.host.tls import Certificate
from resolute.host.trust import Trust
from resolute.server.proxy.origin import checked_domain

SELF_SIGNED = "self-signed"
_FOLDER = "tls"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkOptions:
    """As `resolute up` was given them."""

    tls: str = ""
    tls_cert: Path | None = None
    tls_key: Path | None = None
    allow_cidr: Sequence[str] = ()
    trusted_proxy: Sequence[str] = ()
    task_domain: str = ""


@dataclass(slots=True, kw_only=True)
class OpenNetwork:
    certificate: Certificate | None
    allowed: tuple[Network, ...] | None
    """Where callers may be, loopback among it; None: anywhere."""
    proxies: tuple[str, ...]
    """Who is believed about where a caller is."""
    task_domain: str
    home: Path
    _stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def scheme(self) -> str:
        return "http" if self.certificate is None else "https"

    @property
    def peers(self) -> tuple[Network, ...] | None:
        """Who may connect: callers, and the proxies before them. None: anybody."""
        return None if self.allowed is None else (*self.allowed, *parse_networks(self.proxies, "--trusted-proxy"))

    @property
    def context_factory(self) -> "Callable[[uvicorn.Config, Callable[[], ssl.SSLContext]], ssl.SSLContext] | None":
        certificate = self.certificate
        return None if certificate is None else lambda config, default: certificate.context

    def trusted_by_tasks(self, host: str) -> Trust:
        """By what tasks that reach the master at `host` know it. A copy without the key: they may read it."""
        if self.certificate is None:
            return Trust()
        # Half of what TLS costs at the start; a master without it never loads it.
        from resolute.host.self_signed import names_in

        names = names_in(self.certificate.cert)
        copy = self.copy_for_tasks()
        other = next((name for name in sorted(names) if not name.startswith("*")), "")
        return Trust(cert_file=str(copy), cert_name="" if host in names or not host else other)

    def copy_for_tasks(self) -> Path:
        """In the home itself: accounts that tasks run as may pass through that, and through no folder in it."""
        assert self.certificate is not None
        copy = self.home / "trusted.pem"
        draft = copy.with_suffix(".new")
        draft.write_text(self.certificate.cert.read_text())
        draft.chmod(0o644)
        draft.replace(copy)
        return copy

    def close(self) -> None:
        self._stopping.set()


def open_network(options: NetworkOptions, home: Path, names: Sequence[str]) -> OpenNetwork:
    """`names` are those under which clients call the master. Raises InvalidInput before anything is started."""
    allowed = parse_networks(options.allow_cidr, "--allow-cidr")
    parse_networks(options.trusted_proxy, "--trusted-proxy")
    network = OpenNetwork(
        certificate=_certificate(options, home, names),
        allowed=(*LOOPBACK, *allowed) if allowed else None,
        # A proxy on this machine may always say whom it speaks for: else its callers would all be this machine.
        proxies=tuple(options.trusted_proxy) or ("127.0.0.1", "::1"),
        task_domain=checked_domain(options.task_domain) if options.task_domain else "",
        home=home,
    )
    if network.certificate is not None:
        network.certificate.watch(network._stopping, network.copy_for_tasks)
    return network


def _certificate(options: NetworkOptions, home: Path, names: Sequence[str]) -> Certificate | None:
    given = (options.tls_cert, options.tls_key)
    if options.tls not in ("", "off", SELF_SIGNED):
        raise InvalidInput(f"--tls {options.tls!r} is unknown. It is {SELF_SIGNED}, or off.")
    if options.tls == SELF_SIGNED:
        if any(given):
            raise InvalidInput(f"--tls {SELF_SIGNED} makes a certificate; leave out --tls-cert and --tls-key.")
        return Certificate(*_self_signed(home, names))
    if not any(given):
        return None
    cert, key = given
    if cert is None or key is None:
        missing = "--tls-cert" if cert is None else "--tls-key"
        raise InvalidInput(f"TLS needs a certificate and its key; {missing} is missing.")
    return Certificate(cert.resolve(), key.resolve())


def _self_signed(home: Path, names: Sequence[str]) -> tuple[Path, Path]:
    try:
        from resolute.host.self_signed import self_signed
    except ModuleNotFoundError as missing:
        raise NotSupported(
            f"--tls {SELF_SIGNED} needs the package {missing.name}. Install it with: pip install 'resolute[server]'"
        ) from missing
    return self_signed(home / _FOLDER, names)
