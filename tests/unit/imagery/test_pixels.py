"""Bands and depths to 8-bit colour, and colour to files."""

import tracemalloc

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.domain.errors import InvalidInput
from resolute.imagery.encoding import PARITY_ENCODING, Chroma, Encoding, PictureFormat, encode
from resolute.imagery.render_options import RenderOptions
from resolute.imagery.rendering import Rendering, render, sample_limits, stretched


@given(st.integers(0, 60000), st.integers(1, 5000))
def test_a_stretch_rises_from_black_to_white(low: int, span: int) -> None:
    values = np.array([[0, low, low + span // 2, low + span, 65535]], dtype=np.uint16)

    found = stretched(values, low, low + span)[0].tolist()

    assert found[1] == 0
    assert found[3] == 255
    assert found == sorted(found)


@pytest.mark.parametrize("dtype", [np.uint16, np.int16, np.uint8, np.float32])
def test_every_depth_is_stretched_alike(dtype: type) -> None:
    found = stretched(np.array([[0, 60, 100]], dtype=dtype), 0, 100)

    assert found.dtype == np.uint8
    assert found.tolist() == [[0, 153, 255]]


def test_a_flat_band_becomes_black() -> None:
    assert stretched(np.full((2, 2), 7, np.uint16), 7, 7).tolist() == [[0, 0], [0, 0]]


def test_what_is_not_a_number_becomes_black() -> None:
    assert stretched(np.array([[np.nan, np.inf, 1.0]], np.float32), 0, 1).tolist()[0][0] == 0


def test_limits_are_percentiles_of_what_is_valid() -> None:
    values = np.array([np.nan, *range(101)], dtype=np.float64)

    assert sample_limits(values, 2, 98) == (2.0, 98.0)
    assert sample_limits(np.array([], dtype=np.uint16), 2, 98) == (0.0, 0.0)


def test_one_band_becomes_grey() -> None:
    picture = render(np.array([[[9], [8]]], np.uint8), Rendering((1,)))

    assert picture.tolist() == [[[9, 9, 9], [8, 8, 8]]]


def test_a_palette_is_looked_up() -> None:
    palette = np.zeros((256, 3), np.uint8)
    palette[4] = (10, 20, 30)

    picture = render(np.array([[[4]]], np.uint8), Rendering((1,), palette=palette))

    assert picture.tolist() == [[[10, 20, 30]]]


def test_bands_are_stretched_each_by_its_own_limits() -> None:
    pixels = np.array([[[100, 100, 100]]], np.uint16)

    picture = render(pixels, Rendering((1, 2, 3), ((0, 100), (100, 200), (0, 250))))

    assert picture.tolist() == [[[255, 0, 102]]]


@pytest.mark.parametrize("bands", [(), (1, 2), (0, 1, 2), (1, 2, 3, 4)])
def test_bands_must_be_one_or_three_from_one(bands: tuple[int, ...]) -> None:
    with pytest.raises((InvalidInput, ValueError), match=r"bands|empty"):
        RenderOptions(bands=bands)


def test_percentiles_must_rise() -> None:
    with pytest.raises(InvalidInput, match="98 and 2"):
        RenderOptions(low_percent=98, high_percent=2)


def gradient() -> np.ndarray:
    ramp = np.linspace(0, 255, 64, dtype=np.uint8)
    return np.stack([*np.meshgrid(ramp, ramp), np.full((64, 64), 40, np.uint8)], axis=2)


def test_png_is_without_loss() -> None:
    picture = gradient()

    decoded = cv2.imdecode(np.frombuffer(encode(picture, Encoding(PictureFormat.PNG)), np.uint8), cv2.IMREAD_COLOR)

    assert np.array_equal(decoded[:, :, ::-1], picture)


def test_a_view_into_a_larger_picture_is_encoded_as_its_copy() -> None:
    view = gradient()[10:40, 5:50]

    assert bytes(encode(view, Encoding())) == bytes(encode(np.ascontiguousarray(view), Encoding()))


def test_quality_and_chroma_cost_bytes() -> None:
    picture = gradient()

    small = encode(picture, Encoding(quality=50, chroma=Chroma.QUARTER))
    large = encode(picture, Encoding(quality=98, chroma=Chroma.FULL))

    assert len(small) < len(large)
    assert Encoding(PictureFormat.JPG, 75, Chroma.QUARTER) == PARITY_ENCODING


@pytest.mark.parametrize("quality", [0, 101, -5])
def test_a_quality_outside_of_its_range_is_refused(quality: int) -> None:
    with pytest.raises(InvalidInput, match=f"quality is {quality}"):
        Encoding(quality=quality)


def test_a_picture_too_large_for_jpeg_is_refused_with_the_way_out() -> None:
    with pytest.raises(InvalidInput, match=r"70000 x 1 pixels does not fit into a JPG.*data tile"):
        encode(np.zeros((1, 70000, 3), np.uint8), Encoding())


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "int32", "float32"])
def test_a_picture_is_stretched_in_stripes_with_the_numbers_of_the_whole(dtype: str) -> None:
    low = 0 if dtype.startswith("u") else -30_000
    band = np.random.default_rng(0).uniform(low, 255 if dtype == "uint8" else 32_000, (1400, 1500)).astype(dtype)

    tracemalloc.start()
    try:
        shown = stretched(band, -700.5, 20_000)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    whole = np.clip((band.astype(np.float64) + 700.5) * (255 / 20_700.5) + 0.5, 0, 255).astype(np.uint8)
    assert np.array_equal(shown, whole)
    assert most < 12 * band.size
