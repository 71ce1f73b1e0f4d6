"""Where a model's files are, where its trained models go, and which master does the work.

Docker's settings are accepted because notebooks give them; nothing here reads them, as no image is built.
"""

import configparser
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from resolute.client.client import Client
from resolute.domain.errors import InvalidInput

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DockerConfigurationProvider:
    """A file of logins to registries."""

    path: Path = field(default_factory=lambda: Path.home() / ".docker" / "config.json")

    @classmethod
    def default(cls) -> "DockerConfigurationProvider":
        return cls()

    @classmethod
    def from_file(cls, path: str | Path) -> "DockerConfigurationProvider":
        return cls(Path(path).expanduser())

    def get(self) -> Json:
        try:
            return dict(json.loads(self.path.read_text()))
        except (OSError, ValueError) as problem:
            raise InvalidInput(f"{self.path} cannot be read as Docker's configuration: {problem}.") from problem


@dataclass(frozen=True, slots=True)
class DockerRegistryCertificateProvider:
    path: Path = field(default_factory=lambda: Path.home() / ".tls" / "certificate.crt")

    @classmethod
    def default(cls) -> "DockerRegistryCertificateProvider":
        return cls()

    @classmethod
    def from_file(cls, path: str | Path) -> "DockerRegistryCertificateProvider":
        return cls(Path(path).expanduser())


@dataclass(frozen=True, slots=True, kw_only=True)
class S3ConfigurationProvider:
    """How to reach an object store. Keys that are left out are taken from AWS_* when it is opened."""

    endpoint: str | None = None
    region: str | None = None
    access_key: str | None = None
    secret_key: str | None = field(default=None, repr=False)

    @classmethod
    def default(cls) -> "S3ConfigurationProvider":
        return cls.from_env()

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> "S3ConfigurationProvider":
        env = os.environ if env is None else env
        endpoint = env.get("S3_ENDPOINT") or env.get("AWS_ENDPOINT_URL_S3") or env.get("AWS_ENDPOINT_URL")
        return cls(endpoint=_with_scheme(endpoint), region=env.get("AWS_REGION"))

    @classmethod
    def from_file(cls, path: str | Path = "~/.aws/credentials", profile: str = "default") -> "S3ConfigurationProvider":
        """The file that Amazon's own tools write."""
        file = configparser.ConfigParser()
        if not file.read(Path(path).expanduser()) or profile not in file:
            raise InvalidInput(f"{path} has no section [{profile}]. Give a credentials file as Amazon's tools write.")
        section = file[profile]
        return cls(
            endpoint=_with_scheme(section.get("endpoint_url")),
            region=section.get("region"),
            access_key=section.get("aws_access_key_id"),
            secret_key=section.get("aws_secret_access_key"),
        )

    def storage(self, bucket: str, prefix: str) -> Json:
        """As `resolute.store.blobs` wants it."""
        given = {
            "endpoint_url": self.endpoint,
            "region": self.region,
            "access_key": self.access_key,
            "secret_key": self.secret_key,
        }
        return {"type": "s3", "bucket": bucket, "prefix": prefix, **{k: v for k, v in given.items() if v}}


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultMinioConfigurationProvider(S3ConfigurationProvider):
    """A MinIO in the same cluster."""

    endpoint: str | None = "http://minio.kubeflow:9000"


class Config:
    """`base_model_storage_uri` is a folder or `s3://bucket/prefix` that exported models are copied to; without one they
    live with the master alone, and what this machine puts together is in `models` of Resolute's home.

    `client` is the master to use, the environment's if left out; `interval_s` is how often it is asked how far it is.
    """

    def __init__(
        self,
        docker_config_provider: DockerConfigurationProvider | None = None,
        storage_config_provider: S3ConfigurationProvider | None = None,
        docker_registry_url: str | None = None,
        docker_registry_certificate_provider: DockerRegistryCertificateProvider | None = None,
        base_dir: str | Path | None = None,
        base_model_storage_uri: str | Path | None = None,
        *,
        client: Client | None = None,
        interval_s: float = 0.25,
    ) -> None:
        self.docker_config_provider = docker_config_provider
        self.storage_config_provider = storage_config_provider or S3ConfigurationProvider.default()
        self.docker_registry_url = docker_registry_url
        self.docker_registry_certificate_provider = docker_registry_certificate_provider
        self.base_dir = Path(base_dir).expanduser() if base_dir is not None else Path.cwd()
        self.base_model_storage_uri = str(base_model_storage_uri or default_storage()).rstrip("/")
        self.has_storage = base_model_storage_uri is not None
        """Exported models are copied there; without one they live with the master alone, as registered versions."""
        self.interval_s = interval_s
        self._client = client

    @classmethod
    def default(cls) -> "Config":
        return cls()

    @property
    def client(self) -> Client:
        """Made from the environment when it is first needed."""
        if self._client is None:
            self._client = Client()
        return self._client


def default_storage() -> Path:
    return Path(os.environ.get("RESOLUTE_HOME") or "~/.resolute").expanduser() / "models"


def _with_scheme(endpoint: str | None) -> str | None:
    if not endpoint or "://" in endpoint:
        return endpoint or None
    return f"http://{endpoint}"
