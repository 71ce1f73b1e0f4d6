"""A trained model that lies with the master, brought to a node for one run: read as it comes, whole or not at all."""

import shutil
from pathlib import Path
from typing import IO

from resolute.domain.errors import Unavailable


def unpack_model(stream: IO[bytes], folder: Path) -> None:
    """A tar of files and folders. Raises Unavailable when it is damaged; what came so far is gone by the next try."""
    # Most supervisors fetch no model, and loading this takes longer than all else that they do.
    import tarfile

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for member in archive:
                if member.isfile() or member.isdir():
                    archive.extract(member, folder, set_attrs=False, filter="data")
    except tarfile.TarError as error:
        raise Unavailable(f"The model arrived damaged: {error}") from error
