"""Work over processes, and the parts a synthetic set is made of."""

import gc
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resolute.domain.errors import Unavailable
from resolute.imagery.classes import xview_classes
from resolute.imagery.collector import paused_collector
from resolute.imagery.geometry import Window
from resolute.imagery.synth.ground import GRAIN_SIDE, make_ground
from resolute.imagery.synth.labels import MISSING_IMAGE, NOISE_CLASSES, defects, feature, features_of, image_origin
from resolute.imagery.synth.scene import Scene, make_scene
from resolute.imagery.synth.shapes import shapes_of
from resolute.imagery.workers import default_workers, run_all

ALL_CLASSES = list(xview_classes().mapping)


def scene(seed: int = 0, width: int = 700, height: int = 600, count: int = 25) -> Scene:
    return make_scene(np.random.default_rng(seed), width, height, shapes_of(ALL_CLASSES), count, [])


def test_processes_bring_every_result_with_its_place() -> None:
    found = dict(run_all(abs, range(-20, 0), workers=2))

    assert found == {place: 20 - place for place in range(20)}


def test_a_worker_ended_from_outside_is_a_sentence() -> None:
    with pytest.raises(Unavailable, match=r"worker process was ended from outside.*--workers 1"):
        list(run_all(os._exit, [3, 3, 3], workers=2))


def test_what_a_function_raises_ends_the_run() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        list(run_all(int, ["1", "x", "3"], workers=1))


def test_tasks_are_taken_only_as_they_are_needed() -> None:
    taken = []

    def tasks() -> object:
        for number in range(100):
            taken.append(number)
            yield number

    results = run_all(abs, tasks(), workers=1)
    next(results)

    assert len(taken) <= 2


def test_there_is_always_a_worker() -> None:
    assert default_workers() >= 1
    assert list(run_all(abs, [-1, -2], workers=0)) == [(0, 1), (1, 2)]


def test_the_collector_is_back_after_a_pause_also_after_a_failure() -> None:
    def failing() -> None:
        with paused_collector():
            assert not gc.isenabled()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        failing()

    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with paused_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


@given(st.sampled_from(ALL_CLASSES), st.floats(0, 6.3), st.floats(0.5, 2))
def test_a_turned_shape_keeps_its_size(type_id: int, angle: float, scale: float) -> None:
    (shape,) = shapes_of([type_id])

    straight, turned = (np.concatenate(shape.placed(0, 0, by, scale)) for by in (0.0, angle))

    distances = [np.hypot(points[:, 0], points[:, 1]) for points in (straight, turned)]
    assert np.allclose(distances[0], distances[1])


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_a_moved_shape_is_the_same_shape(x: int, y: int) -> None:
    (shape,) = shapes_of([11])

    here, there = shape.placed(0, 0, 1.0, 1.0), shape.placed(x, y, 1.0, 1.0)

    for first, second in zip(here, there, strict=True):
        assert np.allclose(first + np.array([x, y]), second)


def test_the_same_classes_give_the_same_shapes() -> None:
    first, second = shapes_of(ALL_CLASSES), shapes_of(ALL_CLASSES)

    assert [(s.type_id, s.colour, s.length) for s in first] == [(s.type_id, s.colour, s.length) for s in second]


@settings(max_examples=20)
@given(st.integers(0, 3))
def test_a_box_is_the_tightest_of_whole_pixels_around_its_object(seed: int) -> None:
    for thing in scene(seed).objects:
        points = np.concatenate(thing.outlines)
        x1, y1, x2, y2 = thing.box
        assert 0 <= points[:, 0].min() - x1 < 1
        assert 0 <= points[:, 1].min() - y1 < 1
        assert 0 <= x2 - points[:, 0].max() < 1
        assert 0 <= y2 - points[:, 1].max() < 1


def test_shapes_that_must_be_shown_are_placed_first() -> None:
    shapes = shapes_of(ALL_CLASSES)

    made = make_scene(np.random.default_rng(0), 600, 600, shapes, 10, shapes[3:6])

    assert [thing.shape.type_id for thing in made.objects[:3]] == [shape.type_id for shape in shapes[3:6]]


def test_a_crowded_image_takes_what_fits() -> None:
    made = scene(width=64, height=64, count=500)

    assert 0 < len(made.objects) < 100


def test_blocks_and_bands_show_the_same_picture() -> None:
    made = scene(width=GRAIN_SIDE + 90, height=GRAIN_SIDE + 70)
    from_blocks, from_bands = (np.zeros((made.height, made.width, 3), np.uint8) for _ in range(2))

    for canvas, parts in ((from_blocks, made.blocks()), (from_bands, made.bands())):
        for window, picture in parts:
            canvas[window.y1 : window.y2, window.x1 : window.x2] = picture

    assert np.array_equal(from_blocks, from_bands)


def test_objects_stand_out_from_the_ground() -> None:
    made = scene(count=8)
    thing = made.objects[0]
    x1, y1, x2, y2 = thing.box
    window = Window(x1, y1, x2, y2)

    difference = np.abs(made.block(window).astype(int) - made.ground.block(window).astype(int))

    assert difference.max() > 40


def test_ground_has_texture_and_no_seams() -> None:
    ground = make_ground(np.random.default_rng(1), 2000, 600)

    left, right = ground.block(Window(0, 0, 500, 500)), ground.block(Window(250, 0, 750, 500))

    assert left.std() > 3
    # Interpolation may round the other way; a seam would be a jump.
    assert np.abs(left[:, 250:400].astype(int) - right[:, :150].astype(int)).mean() < 0.5


def test_features_carry_what_xview_carries() -> None:
    found = feature("5.tif", 18, (10, 20, 30, 40), 0)

    assert found["properties"] == {"bounds_imcoords": "10,20,30,40", "type_id": 18, "image_id": "5.tif"}
    (ring,) = found["geometry"]["coordinates"]
    assert ring[0] == ring[-1]
    assert len(ring) == 5


def test_a_feature_lies_where_its_image_lies() -> None:
    west, north = image_origin(7)
    (ring,) = feature("26.tif", 18, (0, 0, 10, 10), 7)["geometry"]["coordinates"]

    assert ring[0] == [pytest.approx(west), pytest.approx(north)]
    assert ring[2][0] > west
    assert ring[2][1] < north


def test_images_do_not_share_a_place() -> None:
    assert len({image_origin(place) for place in range(1000)}) == 1000


def test_every_object_has_one_feature() -> None:
    made = scene()

    found = features_of(made, "5.tif", 0)

    assert len(found) == len(made.objects)
    assert {f["properties"]["type_id"] for f in found} == {thing.shape.type_id for thing in made.objects}


@pytest.mark.parametrize("rounds", [0, 1, 4])
def test_each_round_brings_each_fault_once(rounds: int) -> None:
    found = defects(np.random.default_rng(0), ["5.tif", "8.tif"], 300, 200, rounds)

    kinds = [f["properties"]["type_id"] for f in found]
    assert len(found) == 10 * rounds
    assert all(kinds.count(noise) == rounds for noise in NOISE_CLASSES)
    assert sum(f["properties"]["image_id"] == MISSING_IMAGE for f in found) == rounds
