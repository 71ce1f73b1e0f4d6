"""RT-DETR's entry in the table. The model itself needs transformers (`resolute[detr]`), which loads on first use."""

from importlib import import_module

from torch import nn

from resolute.domain.errors import NotSupported
from resolute.vision.zoo.registry import Architecture
from resolute.vision.zoo.settings import ModelSettings

_OPTIONS = frozenset(
    {
        "num_queries", "decoder_layers", "encoder_layers", "d_model", "num_denoising", "dropout", "decoder_n_points",
        "encoder_ffn_dim", "decoder_ffn_dim", "image_mean", "image_std",
    }
)  # fmt: skip


def rtdetr_r18(settings: ModelSettings) -> nn.Module:
    try:
        module = import_module("resolute.vision.zoo.rtdetr_model")
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("resolute"):
            raise
        raise NotSupported(
            f"Model {settings.name} needs the package {missing.name!r}. Install it with: pip install 'resolute[detr]'"
        ) from missing
    model: nn.Module = module.build(settings)
    return model


ARCHITECTURES = (
    Architecture(
        name="rtdetr_r18",
        build=rtdetr_r18,
        stages=5,
        trainable_default=5,
        options=_OPTIONS,
        # Queries are matched one to one: there are no anchors, and no duplicates to suppress.
        not_taken=frozenset({"anchor_sizes", "aspect_ratios", "nms_threshold"}),
    ),
)
