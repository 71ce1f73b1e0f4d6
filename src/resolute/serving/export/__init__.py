"""Models leave the platform: weights, TorchScript, ONNX, torch.export, archives.

Each file is run and compared before it is kept.
"""

from resolute.serving.export.formats import ExportFormat
from resolute.serving.export.run import export
from resolute.serving.export.source import Exportable, open_source
from resolute.serving.weights import strip_checkpoint

__all__ = ["ExportFormat", "Exportable", "export", "open_source", "strip_checkpoint"]
