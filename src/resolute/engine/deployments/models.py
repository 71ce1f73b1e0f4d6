"""Which model a revision serves: a registered version, a checkpoint, or a path or URL. Found, or refused."""

from dataclasses import dataclass
from pathlib import Path

from resolute.domain.checkpoint import CheckpointState
from resolute.domain.errors import IllegalTransition, InvalidInput, NotFound
from resolute.engine.deployments.sources import check_bucket, is_remote
from resolute.engine.ports.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSpec:
    """Which model: exactly one is given."""

    model: str | None = None
    checkpoint_uuid: str | None = None
    model_uri: str | None = None

    @property
    def is_given(self) -> bool:
        return any((self.model, self.checkpoint_uuid, self.model_uri))


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundModel:
    source: str
    model_version_id: int | None = None
    checkpoint_uuid: str | None = None


def find_model(tx: Transaction, given: SourceSpec) -> FoundModel:
    count = sum(bool(each) for each in (given.model, given.checkpoint_uuid, given.model_uri))
    if count != 1:
        raise InvalidInput(f"Give exactly one of model, checkpointUuid and modelUri; {count} were given.")
    if given.model:
        return _registered(tx, given.model)
    if given.checkpoint_uuid:
        return FoundModel(
            source=f"checkpoint:{given.checkpoint_uuid}", checkpoint_uuid=_usable(tx, given.checkpoint_uuid)
        )
    return FoundModel(source=_uri(given.model_uri or ""))


def registered_name(text: str) -> str:
    """The model's name in `name` or `name/version`."""
    return _split(text)[0]


def _split(text: str) -> tuple[str, str]:
    name, slash, number = text.rpartition("/")
    return (name, number) if slash and number.isdigit() else (text, "")


def _registered(tx: Transaction, text: str) -> FoundModel:
    name, number = _split(text)
    model = tx.models.by_name(name)
    if model is None:
        raise NotFound(f"model not found: {name}. See: resolute model list")
    versions = tx.models.versions(model.id)
    if not versions:
        raise IllegalTransition(f"Model {name} has no version yet. Register one: resolute model register-version.")
    version = tx.models.version(model.id, int(number)) if number else versions[0]
    return FoundModel(
        source=f"model:{name}/{version.version}",
        model_version_id=version.id,
        checkpoint_uuid=_usable(tx, version.checkpoint_uuid),
    )


def _usable(tx: Transaction, uuid: str) -> str:
    checkpoint = tx.checkpoints.get(uuid)
    if checkpoint.state is not CheckpointState.COMPLETED:
        raise IllegalTransition(f"Checkpoint {uuid} is {checkpoint.state}; only a COMPLETED one can be deployed.")
    return uuid


def _uri(uri: str) -> str:
    if is_remote(uri):
        check_bucket(uri)
        return uri
    if "://" in uri and not uri.startswith("file://"):
        raise InvalidInput(
            f"modelUri: {uri!r} cannot be read. Give a path of this machine or an address (http, https, s3, gs), or "
            "register the model."
        )
    path = Path(uri.removeprefix("file://")).expanduser()
    if not path.is_absolute() or not path.exists():
        raise InvalidInput(f"modelUri: there is no {uri!r} on the master's machine. Give an absolute path that exists.")
    return str(path)
