"""What can go wrong in a model's life, under the names that users of the Kaptain SDK catch, in our own tree."""

from resolute.domain.errors import AlreadyExists, IllegalTransition, InvalidInput, NotSupported, Unavailable


class InvalidModelProperty(InvalidInput):
    """A property of the model has a value that cannot work."""

    code = "invalid_model_property"


class UndefinedModelProperty(InvalidInput):
    """A property that is needed was not given."""

    code = "undefined_model_property"


class ModelValidationException(InvalidInput):
    """Arguments of one call contradict one another, or what the cluster has."""

    code = "model_validation"


class UnsupportedAlgorithmException(InvalidInput):
    code = "unsupported_algorithm"


class UnsupportedMetricsTypeException(InvalidInput):
    code = "unsupported_metrics_type"


class UnsupportedModelDeploymentException(NotSupported):
    """Models of this framework are trained and tuned here, but not served."""

    code = "unsupported_model_deployment"


class ModelDeploymentException(IllegalTransition):
    """There is nothing deployed, or nothing to deploy, for what was asked."""

    code = "model_deployment"


class ModelAlreadyExistsException(AlreadyExists):
    code = "model_already_exists"


class ImageBuildException(NotSupported):
    """Kept so that code that catches it runs; no image is built."""

    code = "image_build"


class WorkloadDeploymentError(Unavailable):
    """Work was started and did not end in the time given. It is stopped before this is raised."""

    code = "workload_deployment"
