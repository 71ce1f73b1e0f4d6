"""The package's public names, manifests and the shapes of synthetic sets."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from resolute import imagery
from resolute.domain.errors import InvalidInput
from resolute.imagery import manifest
from resolute.imagery.classes import xview_classes
from resolute.imagery.manifest import StoredFile
from resolute.imagery.synth.scene import make_scene
from resolute.imagery.synth.shapes import shapes_of
from resolute.imagery.workers import run_all


@pytest.mark.parametrize("name", imagery.__all__)
def test_every_public_name_can_be_loaded(name: str) -> None:
    assert getattr(imagery, name) is not None


def test_no_public_name_is_hidden_by_a_module_of_the_same_name() -> None:
    modules = {path.stem for path in Path(imagery.__file__).parent.iterdir()}

    assert modules.isdisjoint(imagery.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        imagery.nothing  # noqa: B018


def test_importing_the_package_loads_neither_opencv_nor_torch() -> None:
    program = (
        "import sys, resolute.imagery; print([m for m in ('cv2', 'rasterio', 'torch', 'numpy') if m in sys.modules])"
    )

    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert out.strip() == "[]"


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "a\\..\\x", "."])
def test_a_manifest_that_names_files_outside_of_the_set_is_not_trusted(path: str) -> None:
    text = manifest.encode([StoredFile(path, 1, "00")])

    with pytest.raises(InvalidInput, match="is not trusted"):
        manifest.decode(text, "s3://bucket/set")


def test_a_damaged_manifest_is_refused() -> None:
    with pytest.raises(InvalidInput, match="manifest at here is damaged"):
        manifest.decode(b'{"files": [{}]}', "here")


def test_a_manifest_lists_its_files_by_name() -> None:
    text = manifest.encode([StoredFile("b", 1, "x"), StoredFile("a", 2, "y")])

    assert [file.path for file in manifest.decode(text, "here").files] == ["a", "b"]


def test_sixty_classes_look_different() -> None:
    shapes = shapes_of(list(xview_classes().mapping))

    assert len({(shape.colour, shape.length, shape.width) for shape in shapes}) == 60


def test_the_same_seed_places_the_same_objects_and_none_overlap() -> None:
    shapes = shapes_of([11, 18, 73])

    first, second = (make_scene(np.random.default_rng(3), 400, 300, shapes, 30, []) for _ in range(2))

    boxes = [thing.box for thing in first.objects]
    assert boxes == [thing.box for thing in second.objects]
    for place, (x1, y1, x2, y2) in enumerate(boxes):
        assert (x1, y1) >= (0, 0)
        assert x2 <= 400
        assert y2 <= 300
        assert not any(x1 < b[2] and x2 > b[0] and y1 < b[3] and y2 > b[1] for b in boxes[:place])


def test_work_in_this_process_keeps_its_order() -> None:
    assert list(run_all(abs, [-3, 2, -1], workers=1)) == [(0, 3), (1, 2), (2, 1)]


def test_no_work_is_no_result() -> None:
    assert list(run_all(abs, [], workers=4)) == []
