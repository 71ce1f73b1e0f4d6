"""Model archives (`.mar`): written as torch-model-archiver writes them, read with distrust."""

from resolute.serving.archive.manifest import BUILT_IN_HANDLERS, Manifest, check_name
from resolute.serving.archive.read import Limits, extract_archive, is_archive
from resolute.serving.archive.write import ArchiveFormat, ArchiveParts, write_archive

__all__ = [
    "BUILT_IN_HANDLERS",
    "ArchiveFormat",
    "ArchiveParts",
    "Limits",
    "Manifest",
    "check_name",
    "extract_archive",
    "is_archive",
    "write_archive",
]
