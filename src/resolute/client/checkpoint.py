"""A checkpoint: what is known of it, and its files on this machine."""

import json
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import Any, Literal

from resolute.client.display import card
from resolute.client.resource import Resource
from resolute.domain.errors import CheckpointDamaged, IllegalTransition, InvalidInput

DownloadMode = Literal["auto", "direct", "master"]
DOWNLOADABLE = frozenset({"COMPLETED", "PARTIALLY_DELETED"})


class Checkpoint(Resource):
    @property
    def uuid(self) -> str:
        return str(self.data["uuid"])

    @property
    def state(self) -> str:
        return self._state()

    @property
    def metadata(self) -> dict[str, Any]:
        return dict(self.data.get("metadata") or {})

    @property
    def resources(self) -> dict[str, int]:
        """Path to size in bytes."""
        return {path: int(size) for path, size in (self.data.get("resources") or {}).items()}

    @property
    def size(self) -> int:
        return sum(self.resources.values())

    @property
    def steps_completed(self) -> int:
        return int(self.metadata.get("steps_completed") or 0)

    @property
    def training(self) -> dict[str, Any]:
        return dict(self.data.get("training") or {})

    @property
    def trial_id(self) -> int | None:
        return self.training.get("trialId")

    @property
    def experiment_id(self) -> int | None:
        return self.training.get("experimentId")

    @property
    def searcher_metric(self) -> float | None:
        return self.training.get("searcherMetric")

    @property
    def validation_metrics(self) -> dict[str, Any]:
        return dict((self.training.get("validationMetrics") or {}).get("avgMetrics") or {})

    def _repr_html_(self) -> str:
        facts = {
            "trial": self.trial_id,
            "steps": self.steps_completed,
            "validation": self.validation_metrics,
            "files": len(self.resources),
            "size": f"{self.size / 1024**2:.1f} MiB",
        }
        return card(f"Checkpoint {self.uuid}", facts, state=self.state)

    def reload(self) -> "Checkpoint":
        self.data = self.session.get(f"/api/v1/checkpoints/{self.uuid}")["checkpoint"]
        return self

    def download(self, path: Path | str | None = None, *, mode: DownloadMode = "auto") -> Path:
        """Its files, in `path` (default `checkpoints/<uuid>`). A folder that has them already is left as it is.

        Mode `direct` copies from a shared folder that this machine sees, `master` goes through the master, `auto`
        takes the folder when it can. Every file's size is checked.
        """
        target = Path(path) if path is not None else Path("checkpoints") / self.uuid
        if (target / "metadata.json").exists():
            return target
        if self.state not in DOWNLOADABLE:
            raise IllegalTransition(
                f"Checkpoint {self.uuid} is {self.state}; only COMPLETED or PARTIALLY_DELETED ones can be downloaded."
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as temporary:
            self._fetch(Path(temporary), mode)
            self._check(Path(temporary))
            metadata = Path(temporary) / "metadata.json"
            if not metadata.exists():
                metadata.write_text(json.dumps(self.metadata, indent=2))
            _move_into(Path(temporary), target)
        return target

    def delete(self) -> None:
        self.session.delete("/api/v1/checkpoints", {"checkpointUuids": [self.uuid]})

    def remove_files(self, globs: list[str]) -> None:
        body = {"checkpointUuids": [self.uuid], "checkpointGlobs": globs}
        self.session.post("/api/v1/checkpoints/rm", body)

    def _fetch(self, target: Path, mode: DownloadMode) -> None:
        folder = self._shared_folder() if mode != "master" else None
        if folder is not None:
            shutil.copytree(folder, target, dirs_exist_ok=True)
        elif mode == "direct":
            raise InvalidInput(
                f"Checkpoint {self.uuid} is not in a folder that this machine sees. Use mode master, or auto."
            )
        else:
            self._fetch_from_master(target)

    def _shared_folder(self) -> Path | None:
        storage = (self.training.get("experimentConfig") or {}).get("checkpoint_storage") or {}
        match storage.get("type"):
            case "shared_fs":
                root = Path(storage.get("host_path") or "/") / (storage.get("storage_path") or "")
            case "directory":
                root = Path(storage.get("container_path") or "/")
            case _:
                return None
        folder = root / self.uuid
        return folder if folder.is_dir() else None

    def _fetch_from_master(self, target: Path) -> None:
        with tempfile.TemporaryFile() as archive:
            for chunk in self.session.download(f"/checkpoints/{self.uuid}", accept="application/gzip"):
                archive.write(chunk)
            archive.seek(0)
            try:
                with tarfile.open(fileobj=archive, mode="r:gz") as tar:
                    tar.extractall(target, filter="data")
            except (tarfile.TarError, EOFError, OSError) as problem:
                raise CheckpointDamaged(
                    f"Checkpoint {self.uuid} did not arrive whole ({problem}); try again."
                ) from problem

    def _check(self, folder: Path) -> None:
        for path, size in self.resources.items():
            if path.endswith("/"):
                continue
            file = folder / path
            found = file.stat().st_size if file.is_file() else None
            if found != size:
                what = "is missing" if found is None else f"has {found} bytes"
                raise CheckpointDamaged(
                    f"{path} of checkpoint {self.uuid} {what}; {size} were stored. Try again, or use an older one."
                )


def _move_into(source: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for item in source.iterdir():
        destination = target / item.name
        if destination.is_dir():
            shutil.rmtree(destination)
        item.replace(destination)
