"""Where files are and models go."""

from resolute.lifecycle import (
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
