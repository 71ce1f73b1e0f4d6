"""Satellite imagery and labels to tiles: what `resolute data` does, as functions.

    from resolute import imagery

    imagery.tile_set(imagery.TileJob(image_dir=..., labels_path=..., output_dir=...))

Names load on first use, so that importing this package costs nothing. Nothing here imports torch.
"""

from importlib import import_module
from typing import Any

_WHERE = {
    "CheckResult": "check",
    "Chroma": "encoding",
    "ClassTable": "classes",
    "ConvertJob": "convert",
    "ConvertResult": "convert",
    "Dataset": "coco",
    "Description": "register",
    "Downloaded": "links",
    "Effect": "report",
    "Encoding": "encoding",
    "Grid": "grid",
    "LabelOptions": "formats.convert",
    "MEANING": "report",
    "PackResult": "shards.pack",
    "PictureFormat": "encoding",
    "Preprocessing": "preprocessing",
    "Reason": "report",
    "RenderOptions": "render_options",
    "Report": "report",
    "RgbJob": "rgb",
    "RgbResult": "rgb",
    "Selection": "selection",
    "ShardReader": "shards.reader",
    "ShowJob": "contact_sheet",
    "StretchKind": "render_options",
    "SynthJob": "synth.make",
    "SynthResult": "synth.make",
    "TileJob": "tile",
    "TileResult": "tile",
    "TransferResult": "transfer",
    "Window": "geometry",
    "check_labels": "check",
    "convert_labels": "convert",
    "convert_to_rgb": "rgb",
    "describe_set": "register",
    "detect_labels": "formats.detect",
    "download": "links",
    "image_size": "raster",
    "list_images": "files",
    "load_dataset": "formats.convert",
    "make_set": "synth.make",
    "open_raster": "raster",
    "pack": "shards.pack",
    "plan_tiling": "tile",
    "pull": "transfer",
    "push": "transfer",
    "read_classes": "classes",
    "read_coco": "coco",
    "save_dataset": "formats.convert",
    "select": "selection",
    "show": "contact_sheet",
    "statistics": "summary",
    "tile_set": "tile",
    "write_coco": "coco",
    "xview_classes": "classes",
}
_RENAMED = {"detect_labels": "detect", "read_coco": "read", "write_coco": "write"}

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{_WHERE[name]}")
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("resolute"):
            raise
        raise ImportError(
            f"resolute.imagery needs the package {missing.name!r}. Install it with: pip install 'resolute[imagery]'"
        ) from missing
    return getattr(module, _RENAMED.get(name, name))


def __dir__() -> list[str]:
    return sorted(__all__)
