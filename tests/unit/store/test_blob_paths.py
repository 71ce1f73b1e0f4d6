"""Names inside a checkpoint: which are safe, and which a pattern means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.domain.errors import InvalidInput
from resolute.store.blobs.paths import check_path, check_uuid, matching

PATHS = ["a.txt", "b.bin", "d/a.txt", "d/e/a.txt", "d/e/[x].txt", "x+y (1).txt"]


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("**/*", PATHS),
        ("**", PATHS),
        ("*.txt", ["a.txt", "x+y (1).txt"]),
        ("./*.bin", ["b.bin"]),
        ("**/a.txt", ["a.txt", "d/a.txt", "d/e/a.txt"]),
        ("d/**/a.txt", ["d/a.txt", "d/e/a.txt"]),
        ("d/*", ["d/a.txt", "d/e/a.txt", "d/e/[x].txt"]),
        ("d/e", ["d/e/a.txt", "d/e/[x].txt"]),
        ("?.bin", ["b.bin"]),
        ("[ab].*", ["a.txt", "b.bin"]),
        ("[!a].*", ["b.bin"]),
        ("x+y (1).txt", ["x+y (1).txt"]),
        ("d/e/[[]x].txt", ["d/e/[x].txt"]),
        ("A.TXT", []),
        ("", []),
    ],
)
def test_a_pattern_means_these_paths(glob: str, expected: list[str]) -> None:
    assert matching(PATHS, [glob]) == expected


def test_a_path_is_meant_once_however_many_patterns_mean_it() -> None:
    assert matching(PATHS, ["*.txt", "a.*"]) == ["a.txt", "x+y (1).txt"]
    assert matching(PATHS, []) == []


@given(st.text(max_size=12))
def test_any_text_is_a_pattern(glob: str) -> None:
    assert set(matching(PATHS, [glob])) <= set(PATHS)


@pytest.mark.parametrize("path", PATHS)
def test_plain_paths_are_fine(path: str) -> None:
    assert check_path(path) == path


@pytest.mark.parametrize("path", ["", "/a", "a/", "..", "a/..", "../a", "a/./b", "a//b", "a\\b", "\0", "a#12"])
def test_paths_that_lead_elsewhere_are_refused_with_their_value(path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_path(path)

    assert repr(path) in str(caught.value)


@pytest.mark.parametrize("uuid", ["6d0c4d5e-0000-4000-8000-000000000000", "u1", "a.b_c-d"])
def test_ordinary_ids_are_fine(uuid: str) -> None:
    assert check_uuid(uuid) == uuid
