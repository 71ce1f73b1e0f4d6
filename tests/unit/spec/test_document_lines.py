"""YAML in, plain values and line numbers out."""

import pytest

from resolute.spec.document import MAX_TEXT, read_document


def test_every_key_and_item_knows_its_line() -> None:
    document = read_document("a: 1\nb:\n  - x\n  - c: 2\n")

    assert document.value == {"a": 1, "b": ["x", {"c": 2}]}
    assert document.lines[("a",)] == 1
    assert document.lines[("b",)] == 2
    assert document.lines[("b", 0)] == 3
    assert document.lines[("b", 1, "c")] == 4


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("1_000", 1000),
        ("012", 12),
        ("0x1f", 31),
        ("0o17", 15),
        ("-3", -3),
        ("1e-4", 1e-4),
        ("1.0e-4", 1e-4),
        ("-.5", -0.5),
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("on", "on"),
        ("null", None),
        ("~", None),
        ("", None),
        ("'1'", "1"),
        ('"true"', "true"),
        ("2024-05-01", "2024-05-01"),
        ("12:30:00", "12:30:00"),
        ("<WORKSPACE_NAME>", "<WORKSPACE_NAME>"),
    ],
)
def test_scalars_become_the_json_value_a_reader_expects(text: str, value: object) -> None:
    document = read_document(f"key: {text}\n")

    assert document.problems == []
    assert document.value == {"key": value}
    assert type(document.value["key"]) is type(value)


def test_keys_are_always_text() -> None:
    document = read_document("1: a\ntrue: b\nnull: c\n")

    assert document.value == {"1": "a", "true": "b", "null": "c"}


def test_a_character_that_json_wrote_as_two_escapes_is_one_again() -> None:
    document = read_document('{"\\ud83d\\ude80": "\\ud83d\\ude80", "half": "\\ud83d"}')

    assert document.value == {"\U0001f680": "\U0001f680", "half": "\ufffd"}


def test_an_alias_repeats_what_its_anchor_names() -> None:
    document = read_document("a: &base {x: 1}\nb: *base\n")

    assert document.value == {"a": {"x": 1}, "b": {"x": 1}}


def test_a_merge_key_fills_in_what_the_map_does_not_say() -> None:
    document = read_document("base: &base {x: 1, y: 2}\nb: {<<: *base, y: 3}\n")

    assert document.value["b"] == {"x": 1, "y": 3}


def test_an_anchor_may_be_named_again() -> None:
    document = read_document("a: &x 1\nb: &x 2\nc: *x\n")

    assert document.problems == []
    assert document.value["c"] == 2


def test_a_key_given_twice_is_told_with_both_lines() -> None:
    document = read_document("a: 1\nb: 2\na: 3\n")

    assert [problem.message for problem in document.problems] == ["is given twice, on lines 1 and 3; keep one"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a:\n\tb: 1\n", 2, "tab"),
        ("a: [1\n", 1, "not YAML"),
        ("a: b: c\n", 1, "mapping values"),
        ("a: *nowhere\n", 1, "undefined alias"),
        ("a: 1\n---\nb: 2\n", 2, "several documents"),
        ("a: 'open\n", 1, "not YAML"),
    ],
)
def test_text_that_is_not_yaml_is_told_with_its_line(text: str, line: int, words: str) -> None:
    document = read_document(text)

    assert document.syntax_line == line
    assert len(document.problems) == 1
    assert words in document.problems[0].message


@pytest.mark.parametrize("text", ["[" * 5000, "a: " + "{b: " * 500, "a: &a [*a]\n", "{" * 150 + "}" * 150])
def test_bottomless_nesting_is_refused(text: str) -> None:
    document = read_document(text)

    assert len(document.problems) == 1


def test_aliases_cannot_blow_a_document_up() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    document = read_document("\n".join(lines))

    assert "too deeply" in document.problems[0].message


def test_a_text_of_endless_length_is_not_even_looked_at() -> None:
    document = read_document("#" * (MAX_TEXT + 1))

    assert "limit" in document.problems[0].message


@pytest.mark.parametrize("text", ["a: .inf", "a: -.inf", "a: .nan", "a: .NaN"])
def test_numbers_that_json_cannot_hold_are_refused(text: str) -> None:
    assert "finite" in read_document(text).problems[0].message


@pytest.mark.parametrize("text", ["a: !python/object:os.system x", "a: !!binary YQ==", "a: !mine 3"])
def test_tags_build_nothing(text: str) -> None:
    document = read_document(text)

    assert document.value == {"a": None}
    assert "tag" in document.problems[0].message


def test_a_key_that_is_a_list_is_refused() -> None:
    assert "keys are text" in read_document("? [1, 2]\n: 3\n").problems[0].message


def test_a_merge_with_something_else_than_a_map_is_refused() -> None:
    assert "not a map" in read_document("a: &x [1]\nb: {<<: [*x]}\n").problems[0].message
