"""Small synthetic sets, files of every kind, and an empty place in each kind of store."""

import shutil
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from rasterio.errors import NotGeoreferencedWarning

from resolute.imagery.synth.make import SynthJob, SynthResult, make_set

WriteTiff = Callable[..., Path]


@pytest.fixture(scope="session")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> SynthResult:
    """Four images of 500 x 400 with every kind of fault. Read only."""
    folder = tmp_path_factory.mktemp("synthetic")
    return make_set(SynthJob(output_dir=folder, images=4, width=500, height=400, objects_per_image=30, workers=1))


@pytest.fixture
def own_set(synthetic: SynthResult, tmp_path: Path) -> SynthResult:
    """A copy that a test may damage."""
    folder = tmp_path / "set"
    shutil.copytree(synthetic.images_dir.parent, folder)
    images = folder / synthetic.images_dir.name
    return SynthResult(images, folder / synthetic.geojson_path.name, synthetic.images, synthetic.features, 0)


@pytest.fixture
def write_tiff(tmp_path: Path) -> WriteTiff:
    def write(name: str, pixels: np.ndarray, **profile: Any) -> Path:
        """`pixels` are (height, width, bands)."""
        path = tmp_path / name
        height, width, bands = pixels.shape
        shape = {"width": width, "height": height, "count": bands, "dtype": pixels.dtype}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotGeoreferencedWarning)
            with rasterio.open(path, "w", driver="GTiff", **shape, **{"interleave": "pixel", **profile}) as target:
                target.write(pixels.transpose(2, 0, 1))
        return path

    return write


@pytest.fixture(params=["folder", "file-url", "s3"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return _place(request, tmp_path, monkeypatch)


@pytest.fixture(params=["folder", "s3", "fake"])
def packed_url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    return _place(request, tmp_path, monkeypatch)


def _place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty place of the kind that the test asks for."""
    if request.param == "fake":
        return f"fake://{tmp_path}"
    if request.param == "folder":
        return str(tmp_path / "store")
    if request.param == "file-url":
        return f"file://{tmp_path}/store"
    key, secret = request.getfixturevalue("s3_keys")
    monkeypatch.setenv("AWS_ENDPOINT_URL", request.getfixturevalue("s3_endpoint"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
    return f"s3://contract/{uuid.uuid4().hex}"
