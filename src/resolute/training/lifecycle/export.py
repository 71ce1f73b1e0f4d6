"""`ModelExportUtil`: what a trainer calls when it has saved its model."""

import logging
from collections.abc import Sequence
from pathlib import Path

from resolute.training.lifecycle.session import current


class ModelExportUtil:
    def upload_model(self, path: str | Path, extra_files: Sequence[str | Path] | None = None) -> None:
        """A file or a folder, and files that belong to it. They become the trial's model when the trainer ends."""
        session = current()
        if session is None:
            logging.warning("This is not a run of resolute.Model; %s stays where it is.", path)
            return
        session.export(path, tuple(extra_files or ()))
        logging.info("Model %s exported.", path)
