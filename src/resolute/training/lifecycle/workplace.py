"""A folder of its own for each process of a host, as trainers expect that were written for one container each.

Every rank of such a trainer writes `model.pt` into its working directory; in one folder they would overwrite each
other's file while the first one reads it.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def own_workplace(local_rank: int) -> Iterator[Path]:
    """The first process stays where it is. The others get copies of files and links to folders, which hold data."""
    here = Path.cwd()
    if local_rank == 0:
        yield here
        return
    with tempfile.TemporaryDirectory(prefix=f"resolute-rank{local_rank}-") as temporary:
        for source in here.iterdir():
            goal = Path(temporary) / source.name
            if source.is_dir():
                goal.symlink_to(source, target_is_directory=True)
            elif source.is_file():
                shutil.copy2(source, goal)
        os.chdir(temporary)
        try:
            yield Path(temporary)
        finally:
            os.chdir(here)
