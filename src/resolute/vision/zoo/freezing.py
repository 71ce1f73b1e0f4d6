"""Which weights are trained: backbone stages, and batch norm that is trainable, frozen or shared over ranks."""

from collections.abc import Sequence

from torch import nn
from torchvision.ops.misc import FrozenBatchNorm2d

from resolute.domain.errors import InvalidInput
from resolute.vision.zoo.shared_norm import with_shared_norms


def freeze_stages(stages: Sequence[Sequence[nn.Module]], trainable: int, model: str) -> None:
    """`stages` from the image upwards; the last `trainable` of them stay trainable."""
    if not 0 <= trainable <= len(stages):
        raise InvalidInput(
            f"Model {model}: trainable_backbone_layers is {trainable}; this backbone has {len(stages)} stages, "
            f"so use 0 to {len(stages)}."
        )
    for stage in stages[: len(stages) - trainable]:
        for module in stage:
            for parameter in module.parameters():
                parameter.requires_grad_(False)


def with_norm(model: nn.Module, norm: str) -> nn.Module:
    """The same names and values in a state dict whichever norm it is."""
    if norm == "sync":
        return with_shared_norms(model)
    backbone = getattr(model, "backbone", None)
    if norm == "frozen" and isinstance(backbone, nn.Module):
        _freeze_norms(backbone)
    return model


def _freeze_norms(module: nn.Module) -> None:
    for name, child in module.named_children():
        if isinstance(child, nn.BatchNorm2d):
            setattr(module, name, _frozen(child))
        else:
            _freeze_norms(child)


def _frozen(norm: nn.BatchNorm2d) -> nn.Module:
    frozen: nn.Module = FrozenBatchNorm2d(norm.num_features, eps=norm.eps)
    values = norm.state_dict()
    frozen.load_state_dict({name: values[name] for name in frozen.state_dict()})
    return frozen
