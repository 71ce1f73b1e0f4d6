"""The class form of the example: everything comes from the hyperparameters. Change what you like by overriding."""

from resolute.vision import DetectionTrial


class ObjectDetectionTrial(DetectionTrial):
    """Also what `entrypoint: python3 -m resolute.launch.torch_distributed --trial model_def:...` trains."""
