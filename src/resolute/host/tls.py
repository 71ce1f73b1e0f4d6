"""The certificate that a server shows, read from files and read again when they change. Holds no private key itself."""

import hashlib
import logging
import ssl
import threading
from collections.abc import Callable
from pathlib import Path

from resolute.domain.errors import InvalidInput

log = logging.getLogger(__name__)

LOOK_S = 2.0
"""Between looks at the files."""
_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


class Certificate:
    """`context` serves new connections with what the files said last; open ones keep what they began with."""

    def __init__(self, cert: Path, key: Path) -> None:
        """Raises InvalidInput for files that cannot be used."""
        self.cert, self.key = cert, key
        self._seen = self._facts()
        check(cert, key)
        self.context = _context()
        self.context.load_cert_chain(cert, key)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the first certificate, as browsers and `openssl x509 -fingerprint -sha256` show it."""
        first = self.cert.read_text().partition(_BEGIN)[2].partition(_END)[0]
        digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(_BEGIN + first + _END)).hexdigest().upper()
        return ":".join(digest[start : start + 2] for start in range(0, len(digest), 2))

    def look(self) -> bool:
        """Read the files again if they have changed; whether there is something new. Files that do not fit each
        other, such as a new certificate beside the old key, change nothing until they do."""
        seen = self._facts()
        if seen == self._seen:
            return False
        try:
            check(self.cert, self.key)
            self.context.load_cert_chain(self.cert, self.key)
        except (InvalidInput, OSError) as problem:
            log.warning("The last certificate stays in use: %s", problem)
            return False
        self._seen = seen
        log.info("The certificate %s was read again: SHA-256 %s", self.cert, self.fingerprint)
        return True

    def watch(self, stopping: threading.Event, changed: Callable[[], object]) -> threading.Thread:
        def look() -> None:
            while not stopping.wait(LOOK_S):
                if self.look():
                    changed()

        thread = threading.Thread(target=look, name="certificate", daemon=True)
        thread.start()
        return thread

    def _facts(self) -> tuple[tuple[int, int, int], ...]:
        return tuple(_facts(path) for path in (self.cert, self.key))


def check(cert: Path, key: Path) -> None:
    """Raises InvalidInput unless they are a certificate and the key to it."""
    for option, path in (("--tls-cert", cert), ("--tls-key", key)):
        try:
            path.read_bytes()
        except OSError as problem:
            raise InvalidInput(f"{option} {path} cannot be read: {problem.strerror}.") from None
    try:
        # Asked for a password, OpenSSL would read one from the terminal.
        _context().load_cert_chain(cert, key, password=lambda: b"")
    except (ssl.SSLError, ValueError, OSError) as problem:
        why = getattr(problem, "reason", None) or problem
        if why == "KEY_VALUES_MISMATCH":
            raise InvalidInput(f"--tls-key {key} is not the key to the certificate {cert}.") from None
        raise InvalidInput(
            f"--tls-cert {cert} and --tls-key {key} cannot be used ({why}). Give PEM files: the certificate with its "
            "chain, and its key without a password."
        ) from None


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


def _facts(path: Path) -> tuple[int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino)
