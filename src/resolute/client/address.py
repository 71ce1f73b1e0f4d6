"""Where the master is: one spelling for every way a user may write its address. Pure but for the environment given."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from resolute.domain.errors import InvalidInput

DEFAULT = "http://localhost:8080"
_DEFAULT_PORT = 8080


def find_master(given: str | None, env: Mapping[str, str]) -> str:
    """The canonical URL: what was given, else RESOLUTE_MASTER, DET_MASTER or DET_MASTER_ADDR, else this machine."""
    named = given or env.get("RESOLUTE_MASTER") or env.get("DET_MASTER") or env.get("DET_MASTER_ADDR")
    return canonical(named) if named else DEFAULT


def canonical(address: str) -> str:
    """`host` becomes `http://host:8080`; a URL keeps its scheme, port and prefix, without a slash at the end."""
    text = address.strip()
    url = urlsplit(text if "://" in text else f"http://{text}")
    try:
        port = url.port
    except ValueError:
        raise _refused(address, "its port is not a number from 0 to 65535") from None
    if url.scheme not in ("http", "https"):
        raise _refused(address, f"{url.scheme}:// is not supported")
    if not url.hostname:
        raise _refused(address, "it names no host")
    if url.username or url.password or url.query or url.fragment:
        raise _refused(address, "it must not hold a user, a query or a fragment")
    if port is None and "://" not in text:
        port = _DEFAULT_PORT
    host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
    return f"{url.scheme}://{host}{f':{port}' if port else ''}{url.path.rstrip('/')}"


def _refused(address: str, why: str) -> InvalidInput:
    return InvalidInput(f"Master address {address!r} cannot be used: {why}. Write it like http://host:8080.")
