"""Where files are and models go."""

from resolute.client.lifecycle.config import (
    Config,
    DefaultMinioConfigurationProvider,
    DockerConfigurationProvider,
    DockerRegistryCertificateProvider,
    S3ConfigurationProvider,
)

__all__ = [
    "Config",
    "DefaultMinioConfigurationProvider",
    "DockerConfigurationProvider",
    "DockerRegistryCertificateProvider",
    "S3ConfigurationProvider",
]
