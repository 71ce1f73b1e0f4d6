"""What can go wrong."""

from resolute.client.lifecycle.faults import (
    ImageBuildException,
    InvalidModelProperty,
    ModelAlreadyExistsException,
    ModelDeploymentException,
    ModelValidationException,
    UndefinedModelProperty,
    UnsupportedAlgorithmException,
    UnsupportedMetricsTypeException,
    UnsupportedModelDeploymentException,
    WorkloadDeploymentError,
)

__all__ = [
    "ImageBuildException",
    "InvalidModelProperty",
    "ModelAlreadyExistsException",
    "ModelDeploymentException",
    "ModelValidationException",
    "UndefinedModelProperty",
    "UnsupportedAlgorithmException",
    "UnsupportedMetricsTypeException",
    "UnsupportedModelDeploymentException",
    "WorkloadDeploymentError",
]
