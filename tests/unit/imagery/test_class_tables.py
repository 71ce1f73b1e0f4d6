"""Class tables: xView's own, others from files, and those that disagree."""

from pathlib import Path

import pytest

from resolute.domain.errors import InvalidInput, NotFound
from resolute.imagery.classes import ClassTable, read_classes, xview_classes


def files(tmp_path: Path, mapping: str, names: str) -> tuple[Path, Path]:
    (tmp_path / "mapping.json").write_text(mapping)
    (tmp_path / "names.txt").write_text(names)
    return tmp_path / "mapping.json", tmp_path / "names.txt"


def test_xview_has_sixty_classes_from_zero_to_fifty_nine() -> None:
    table = xview_classes()

    assert sorted(table.mapping.values()) == list(range(60))
    assert (table.mapping[11], table.mapping[94]) == (0, 59)
    assert 75 not in table.mapping
    assert 82 not in table.mapping


def test_categories_come_in_the_order_of_the_class_file_with_their_own_names_above_them() -> None:
    first, *_, last = xview_classes().categories()

    assert (first.id, first.name, first.supercategory) == (0, "Fixed-wing Aircraft", "Fixed-wing Aircraft")
    assert (last.id, last.name) == (59, "Tower")


def test_classes_that_share_a_category_give_it_the_first_name() -> None:
    table = ClassTable({11: 0, 12: 0, 13: 1}, {11: "Plane", 12: "Small plane", 13: "Cargo"})

    assert [(c.id, c.name) for c in table.categories()] == [(0, "Plane"), (1, "Cargo")]


def test_tables_come_from_files(tmp_path: Path) -> None:
    table = read_classes(*files(tmp_path, '{"11": "0", "12": 1}', "11:Plane\n\n12:Boat: big\n"))

    assert table.mapping == {11: 0, 12: 1}
    assert table.names == {11: "Plane", 12: "Boat: big"}


def test_tables_that_disagree_are_refused_with_the_ids(tmp_path: Path) -> None:
    paths = files(tmp_path, '{"11": "0", "99": "1"}', "11:Plane")

    with pytest.raises(InvalidInput, match=r"tables disagree: .*mapping.json maps 99, which .*names.txt does not name"):
        read_classes(*paths)


@pytest.mark.parametrize("mapping", ["", "[]", '{"11": []}', '{"eleven": "0"}', '{"11": "zero"}', "{"])
def test_a_mapping_of_another_form_is_refused_with_an_example(tmp_path: Path, mapping: str) -> None:
    paths = files(tmp_path, mapping, "11:Plane")

    with pytest.raises(InvalidInput, match=r"mapping.json is not a category mapping.*such as"):
        read_classes(*paths)


def test_a_category_below_zero_is_refused(tmp_path: Path) -> None:
    paths = files(tmp_path, '{"11": "-1", "12": "0"}', "11:Plane\n12:Boat")

    with pytest.raises(InvalidInput, match=r"mapping.json maps 11 to a number below 0"):
        read_classes(*paths)


@pytest.mark.parametrize("names", ["11", "Plane:11", "11:", ":Plane"])
def test_a_line_that_is_not_id_and_name_is_refused_with_its_number(tmp_path: Path, names: str) -> None:
    paths = files(tmp_path, "{}", f"10:Fine\n{names}\n")

    with pytest.raises(InvalidInput, match=r"names.txt, line 2: "):
        read_classes(*paths)


def test_a_class_named_twice_is_refused(tmp_path: Path) -> None:
    paths = files(tmp_path, "{}", "11:Plane\n11:Boat\n")

    with pytest.raises(InvalidInput, match="line 2: class 11 is named twice"):
        read_classes(*paths)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no file .*nowhere.json"):
        read_classes(tmp_path / "nowhere.json", None)


def test_a_class_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    mapping, names = files(tmp_path, "{}", "")
    names.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(InvalidInput, match="is not UTF-8 text"):
        read_classes(mapping, names)
