"""Whatever a client sends as a picture becomes RGB pixels, or a sentence that names the instance."""

import base64
import contextlib
import io
import struct
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from resolute.domain.errors import InvalidInput, TooLarge
from resolute.serving.images import decode, from_base64, from_numbers, picture_of


def _encoded(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    target = io.BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


PIXELS = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
PNG = _encoded(Image.fromarray(PIXELS))


@pytest.mark.parametrize(
    "instance",
    [
        {"data": _base64(PNG)},
        {"b64": _base64(PNG)},
        {"image_bytes": {"b64": _base64(PNG)}},
        {"body": PNG},
        _base64(PNG),
        PNG,
        bytearray(PNG),
        _base64(PNG).encode(),
        ("data:image/png;base64," + _base64(PNG)).encode(),
        {"data": "data:image/png;base64," + _base64(PNG)},
        {"data": "\n".join(_base64(PNG)[i : i + 76] for i in range(0, len(_base64(PNG)), 76))},
        PIXELS.tolist(),
        {"data": PIXELS.tolist()},
        PIXELS.transpose(2, 0, 1).tolist(),
        (PIXELS / 255.0).tolist(),
    ],
)
def test_every_form_of_a_picture_gives_its_pixels(instance: Any) -> None:
    assert picture_of(instance, "instance 0").tolist() == PIXELS.tolist()


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "YCbCr", "F", "LAB"])
def test_every_colour_mode_becomes_rgb(mode: str) -> None:
    kind = "PNG" if mode in ("1", "L", "LA", "P", "RGBA") else "TIFF"

    pixels = decode(_encoded(Image.new("L", (50, 40), 200).convert(mode), kind), "instance 0")

    assert pixels.shape == (40, 50, 3)
    assert pixels.mean() >= 190


def test_sixteen_bit_greys_keep_their_order() -> None:
    deep = Image.fromarray(np.array([[0, 257, 25700, 65535]], np.uint16))

    assert decode(_encoded(deep), "x")[0, :, 0].tolist() == [0, 1, 100, 255]


def test_a_picture_is_turned_as_its_camera_says() -> None:
    picture = Image.new("RGB", (8, 4))
    exif = picture.getexif()
    exif[0x0112] = 6

    assert decode(_encoded(picture, "JPEG", exif=exif), "x").shape == (8, 4, 3)


@pytest.mark.parametrize(
    ("instance", "sentence"),
    [
        ({"data": "@@@"}, "instance 3 is not base64"),
        ({"data": _base64(b"no picture at all")}, "instance 3 is not a picture that can be read"),
        ({"data": ""}, "instance 3 is empty"),
        ({"data": _base64(PNG[:40])}, "instance 3 is "),
        ({"picture": "x"}, "instance 3 has no picture: its keys are picture"),
        ({}, "its keys are none"),
        (None, "instance 3 is null"),
        (7, r"instance 3 is a int \(7\)"),
        ([[1, 2], [3]], "not a rectangular block of numbers"),
        ([["a"]], "not a rectangular block of numbers"),
        ([1, 2, 3], r"has shape \[3\]; wanted"),
        ([], "instance 3"),
        (np.zeros((4, 4, 4)).tolist(), r"has shape \[4, 4, 4\]"),
        (np.full((2, 2, 3), 300).tolist(), "values from 300 to 300"),
        (np.full((2, 2, 3), -1.0).tolist(), "values from -1 to -1"),
        (np.full((2, 2, 3), np.nan).tolist(), "values from nan to nan"),
    ],
)
def test_what_is_no_picture_is_refused_by_name(instance: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        picture_of(instance, "instance 3")


def test_a_cut_off_picture_is_refused() -> None:
    whole = _encoded(Image.fromarray(np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8)), "JPEG")

    with pytest.raises(InvalidInput, match="damaged or cut off"):
        decode(whole[: len(whole) // 2], "instance 0")


def test_a_bomb_is_refused_before_it_is_decoded() -> None:
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", len(header)) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))

    with pytest.raises(TooLarge, match=r"instance 0 has .* pixels; this server decodes at most 178,956,970"):
        decode(b"\x89PNG\r\n\x1a\n" + chunk + PNG[33:], "instance 0")


def test_the_limit_of_pixels_can_be_set() -> None:
    with pytest.raises(TooLarge, match="6 x 4 pixels; this server decodes at most 20"):
        picture_of({"data": _base64(PNG)}, "instance 0", max_pixels=20)
    with pytest.raises(TooLarge, match="6 x 4"):
        from_numbers(PIXELS, "instance 0", max_pixels=20)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_picture_or_a_refusal(content: bytes) -> None:
    try:
        pixels = decode(content, "instance 0")
    except InvalidInput:
        return

    assert pixels.shape[2] == 3


@given(st.integers(0, len(PNG) - 1), st.integers(0, 255))
def test_a_changed_byte_never_escapes_as_another_error(place: int, value: int) -> None:
    content = PNG[:place] + bytes([value]) + PNG[place + 1 :]

    with contextlib.suppress(InvalidInput):
        assert decode(content, "instance 0").shape[2] == 3


@given(st.binary())
def test_base64_comes_back(content: bytes) -> None:
    assert from_base64(_base64(content), "x") == content
