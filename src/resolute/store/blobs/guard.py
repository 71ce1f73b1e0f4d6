"""What a master may touch for its users in folders that configurations name: it may have rights that they have not.

A link that leads out of the folder, and the master's own home, are refused. They are looked at before each use, and
whoever can write into the folder may be faster: this is no wall between a master of root and hostile accounts.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from resolute.domain.errors import NotFound


@dataclass(frozen=True, slots=True)
class Guard:
    home: Path
    """Of the master."""
    open: tuple[str, ...] = ("checkpoints",)
    """Folders of the home that hold what users keep."""

    def check(self, folder: Path, name: str) -> None:
        """Raises NotFound unless `name` is in `folder` itself, and not among what is the master's."""
        root, found = os.path.realpath(folder), os.path.realpath(folder / name)
        if not _is_below(found, root):
            raise NotFound(
                f"{name} in folder {folder} is a link that leads out of it, and is not followed. Put the file there."
            )
        home = os.path.realpath(self.home)
        if _is_below(found, home) and not any(_is_below(found, os.path.join(home, name)) for name in self.open):
            raise NotFound(
                f"Folder {folder} is part of the master's home, or around it, and is not shown. Choose another folder."
            )


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")
