"""Reading by windows: one set of promises, asked of every kind of file."""

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
import tifffile

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.geometry import Window
from resolute.imagery.raster import image_size, open_raster
from resolute.imagery.render_options import RenderOptions, StretchKind
from resolute.imagery.rendering import plan, render

WriteTiff = Callable[..., Path]
KINDS = {
    "strips": {},
    "tiles": {"tiled": True, "blockxsize": 64, "blockysize": 64},
    "deflate": {"compress": "deflate"},
    "lzw-tiles": {"compress": "lzw", "tiled": True, "blockxsize": 64, "blockysize": 64},
    "planar": {"interleave": "band"},
    "big-endian": {"ENDIANNESS": "BIG"},
    "bigtiff": {"BIGTIFF": "YES"},
}


def noise(height: int = 150, width: int = 210, bands: int = 3, dtype: type = np.uint8) -> np.ndarray:
    limit = np.iinfo(dtype).max
    return np.random.default_rng(0).integers(0, limit, (height, width, bands), dtype=dtype)


def check_windows(path: Path, pixels: np.ndarray) -> None:
    height, width, bands = pixels.shape
    with open_raster(path) as raster:
        assert (raster.width, raster.height, raster.band_count) == (width, height, bands)
        for window in (
            Window(0, 0, width, height),
            Window(3, 5, 100, 77),
            Window(width - 1, height - 1, width, height),
        ):
            found = raster.read(window)
            assert np.array_equal(found, pixels[window.y1 : window.y2, window.x1 : window.x2])
            assert found.dtype == pixels.dtype


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("bands", [1, 3, 4, 8])
@pytest.mark.parametrize("kind", KINDS)
def test_any_window_of_a_tiff_is_what_was_written(write_tiff: WriteTiff, kind: str, bands: int, dtype: type) -> None:
    pixels = noise(bands=bands, dtype=dtype)

    path = write_tiff("x.tif", pixels, **KINDS[kind])

    check_windows(path, pixels)
    assert image_size(path) == (210, 150)


def test_any_window_of_a_png_is_what_was_written(tmp_path: Path) -> None:
    pixels = noise()
    cv2.imwrite(str(tmp_path / "x.png"), pixels[:, :, ::-1])

    check_windows(tmp_path / "x.png", pixels)
    assert image_size(tmp_path / "x.png") == (210, 150)


def test_a_tiff_by_another_program_is_read_too(tmp_path: Path) -> None:
    pixels = noise()
    tifffile.imwrite(tmp_path / "x.tiff", pixels, photometric="rgb")

    check_windows(tmp_path / "x.tiff", pixels)


@pytest.mark.parametrize("progressive", [0, 1])
def test_the_size_of_a_jpeg_is_in_its_header(tmp_path: Path, progressive: int) -> None:
    path = tmp_path / "x.jpg"
    cv2.imwrite(str(path), noise(), [cv2.IMWRITE_JPEG_PROGRESSIVE, progressive])

    assert image_size(path) == (210, 150)


def test_bands_are_chosen_from_one(write_tiff: WriteTiff) -> None:
    pixels = noise(bands=8)

    for kind in ("strips", "tiles"):
        with open_raster(write_tiff(f"{kind}.tif", pixels, **KINDS[kind])) as raster:
            assert np.array_equal(raster.read(Window(0, 0, 9, 9), (5, 3, 2)), pixels[:9, :9, [4, 2, 1]])


@pytest.mark.parametrize("kind", KINDS)
def test_a_tiff_that_is_cut_off_is_refused_with_its_name(write_tiff: WriteTiff, kind: str) -> None:
    path = write_tiff("cut.tif", noise(), **KINDS[kind])
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    with pytest.raises(InvalidInput, match=r"cut.tif cannot be read"), open_raster(path) as raster:
        raster.read(Window(0, 0, raster.width, raster.height))


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
def test_a_picture_that_is_cut_off_is_refused_with_its_name(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"cut{suffix}"
    cv2.imwrite(str(path), noise())
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])

    with pytest.raises(InvalidInput, match=r"cut.* cannot be read"), open_raster(path) as raster:
        raster.read(Window(0, 0, raster.width, raster.height))


@pytest.mark.parametrize("content", [b"", b"text", b"II*\x00", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0"])
@pytest.mark.parametrize("suffix", [".tif", ".png", ".jpg"])
def test_what_is_no_image_is_refused(tmp_path: Path, content: bytes, suffix: str) -> None:
    path = tmp_path / f"odd{suffix}"
    path.write_bytes(content)

    with pytest.raises(InvalidInput, match="odd"), open_raster(path) as raster:
        raster.read(Window(0, 0, 1, 1))
    with pytest.raises(InvalidInput, match="odd"):
        image_size(path)


def test_a_missing_image_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no image .*gone.tif"), open_raster(tmp_path / "gone.tif"):
        pass
    with pytest.raises(NotFound, match=r"no image .*gone.png"):
        image_size(tmp_path / "gone.png")


def test_eight_bits_stay_as_they_are(write_tiff: WriteTiff) -> None:
    pixels = noise()
    path = write_tiff("x.tif", pixels, photometric="RGB")

    rendering = plan(path, RenderOptions())

    assert rendering.bands == (1, 2, 3)
    assert np.array_equal(render(pixels, rendering), pixels)


def test_sixteen_bits_are_stretched_between_percentiles(write_tiff: WriteTiff) -> None:
    pixels = (noise(dtype=np.uint16) % 2000 + 300).astype(np.uint16)
    path = write_tiff("x.tif", pixels)

    picture = render(pixels, plan(path, RenderOptions(bands=(1, 2, 3))))

    assert picture.dtype == np.uint8
    assert (picture.min(), picture.max()) == (0, 255)
    assert 110 < picture.mean() < 145


def test_no_stretch_takes_the_whole_range_of_the_depth(write_tiff: WriteTiff) -> None:
    path = write_tiff("x.tif", noise(dtype=np.uint16))

    rendering = plan(path, RenderOptions(stretch=StretchKind.NONE))

    assert rendering.limits == ((0.0, 65535.0),) * 3


def test_values_that_mean_nothing_do_not_take_part_in_the_stretch(write_tiff: WriteTiff) -> None:
    pixels = np.full((50, 50, 1), 65535, np.uint16)
    pixels[:25] = np.arange(100, 150)[None, :, None]
    path = write_tiff("x.tif", pixels, nodata=65535)

    rendering = plan(path, RenderOptions(stretch=StretchKind.MINMAX))

    assert rendering.limits == ((100.0, 149.0),)


def test_eight_bands_show_red_green_and_blue(write_tiff: WriteTiff) -> None:
    path = write_tiff("x.tif", noise(bands=8), photometric="MINISBLACK")

    assert plan(path, RenderOptions()).bands == (5, 3, 2)


def test_a_band_that_is_not_there_is_refused_with_how_many_are(write_tiff: WriteTiff) -> None:
    path = write_tiff("x.tif", noise())

    with pytest.raises(InvalidInput, match=r"has 3 band.*band 5 was asked for"):
        plan(path, RenderOptions(bands=(5, 3, 2)))
