"""The frameworks a model may be written in, and what each can do here."""

from enum import Enum

from resolute.client.lifecycle.faults import InvalidModelProperty


class ModelFramework(Enum):
    PYTORCH = "pytorch"
    TENSORFLOW = "tensorflow"
    SKLEARN = "sklearn"
    XGBOOST = "xgboost"
    LIGHTGBM = "lightgbm"
    ONNX = "onnx"

    @classmethod
    def of(cls, given: "ModelFramework | str") -> "ModelFramework":
        if isinstance(given, cls):
            return given
        word = str(given).strip().lower()
        word = _NICKNAMES.get(word, word)
        for framework in cls:
            if framework.value == word:
                return framework
        raise InvalidModelProperty(
            f"framework: {given!r} is unknown. Choose one of {', '.join(each.value for each in cls)}."
        )

    @property
    def is_distributed(self) -> bool:
        """Whether its trainers run as several processes that meet through torchrun's variables."""
        return self is ModelFramework.PYTORCH

    @property
    def is_servable(self) -> bool:
        return self in (ModelFramework.PYTORCH, ModelFramework.ONNX)


_NICKNAMES = {"tf": "tensorflow", "torch": "pytorch", "scikit-learn": "sklearn", "scikit": "sklearn", "xgb": "xgboost"}
