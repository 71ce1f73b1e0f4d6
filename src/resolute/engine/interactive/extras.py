"""Parts of the installation that not everybody needs."""

from importlib.util import find_spec

from resolute.domain.errors import NotSupported


def require_extra(module: str, *, extra: str, name: str) -> None:
    """Raises NotSupported with what to install. Asked on the master, on whose machine these tasks usually run."""
    if find_spec(module) is None:
        raise NotSupported(
            f"{name} is not installed with this platform. Install it where the master runs: "
            f"pip install 'resolute[{extra}]'. No restart is needed."
        )
