"""What of a configuration nobody may read: storage keys, registry passwords, variables whose names tell of a secret.

`masked` is what leaves the master; a trial is given the real values. A masked configuration that comes back (a fork, a
continuation, a template that was edited) gets its secrets from the one it was made from: `restored`. Pure.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from resolute.domain.errors import InvalidConfig
from resolute.spec.document import read_document

MASK = "********"
Config = dict[str, Any]
SecretPath = tuple[str, ...]

_SECTIONS = frozenset({"checkpoint_storage", "tensorboard_storage", "environment", "integrations"})
_STORAGE = ("checkpoint_storage", "tensorboard_storage")
_KEYS = frozenset(
    {
        *("access_key", "secret_key", "credential", "connection_string"),
        *("password", "auth", "identitytoken", "registrytoken", "token"),
    }
)
_SECRET_NAME = re.compile(
    r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|(^|_)(PASS|PWD|PAT|AUTH))(_|$)", re.IGNORECASE
)
_ADDRESS_WITH_PASSWORD = re.compile(r"\w://[^/\s:@]*:[^/\s@]+@")
"""`postgresql://ada:secret@db/x`, whatever the variable is called."""
_VARIABLES = "environment_variables"


def masked(config: Config) -> Config:
    """A copy in which every secret reads `********`."""
    return _mapped(config, lambda path, value: MASK)


def masked_storage(storage: Config | None) -> Config | None:
    """As `masked`, of a `checkpoint_storage` section alone."""
    return None if storage is None else masked({"checkpoint_storage": storage})["checkpoint_storage"]


def without_storage_keys(config: Config) -> Config:
    """As `masked`, but storage names no keys at all: clients that open it themselves then use their own."""
    return {key: _keyless(value) if key in _STORAGE else value for key, value in masked(config).items()}


def masked_text(text: str, config: Config) -> str:
    """The YAML that `config` was made from, as it was written but for the secrets."""
    secrets = set(_secrets(config).values()) - {MASK}
    if not secrets:
        return text
    for secret in sorted(secrets, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", _quoted_mask, text)
    written = read_document(text).value
    if isinstance(written, dict) and set(_secrets(written).values()) <= {MASK}:
        return text
    # Escapes or folded lines hid one from us.
    return json.dumps(masked(written if isinstance(written, dict) else config), indent=2)


def _quoted_mask(found: re.Match[str]) -> str:
    """A star at the start of a plain YAML value would be an alias."""
    is_inside_text = found.string[: found.start()].endswith(('"', "'", "="))
    return MASK if is_inside_text else f'"{MASK}"'


def restored(config: Config, *, earlier: Config | None) -> Config:
    """`config` with the secrets of `earlier` where it has masks. Raises InvalidConfig for one that `earlier` lacks."""
    known = _secrets(earlier or {})
    missing = [path for path, value in _secrets(config).items() if value == MASK and known.get(path, MASK) == MASK]
    if missing:
        raise InvalidConfig(
            [
                f"config: {'.'.join(path)}: {MASK} stands for a secret that is not known here; write it"
                for path in missing
            ]
        )
    return _mapped(config, lambda path, value: known[path] if value == MASK else value)


def _secrets(config: Config) -> dict[SecretPath, str]:
    found: dict[SecretPath, str] = {}

    def note(path: SecretPath, value: str) -> str:
        found[path] = value
        return value

    _mapped(config, note)
    return found


def _mapped(config: Config, change: Callable[[SecretPath, str], str]) -> Config:
    """A copy with `change(path, value)` in the place of every secret. A variable's path ends in its name."""
    return {key: _node(value, (key,), change) if key in _SECTIONS else value for key, value in config.items()}


def _node(node: object, path: SecretPath, change: Callable[[SecretPath, str], str]) -> object:
    if isinstance(node, dict):
        if isinstance(node.get("name"), str) and isinstance(node.get("value"), str):
            # A variable of a pod.
            return {**node, "value": _variable(node["name"], node["value"], path, change)}
        return {key: _entry(key, value, (*path, str(key)), change) for key, value in node.items()}
    if isinstance(node, list):
        return [_item(item, path, str(at), change) for at, item in enumerate(node)]
    return node


def _entry(key: object, value: object, path: SecretPath, change: Callable[[SecretPath, str], str]) -> object:
    if key in _KEYS and isinstance(value, str) and value:
        return change(path, value)
    return _node(value, path, change)


def _item(item: object, path: SecretPath, at: str, change: Callable[[SecretPath, str], str]) -> object:
    if isinstance(item, str) and _VARIABLES in path and "=" in item:
        name, _, value = item.partition("=")
        return f"{name}={_variable(name, value, path, change)}"
    return _node(item, path if isinstance(item, dict) and "name" in item else (*path, at), change)


def _variable(name: str, value: str, path: SecretPath, change: Callable[[SecretPath, str], str]) -> str:
    is_secret = _SECRET_NAME.search(name) or _ADDRESS_WITH_PASSWORD.search(value) or value == MASK
    return change((*path, name), value) if value and is_secret else value


def _keyless(storage: object) -> object:
    return {k: v for k, v in storage.items() if k not in _KEYS} if isinstance(storage, dict) else storage
