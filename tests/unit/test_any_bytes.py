"""Parsers that we wrote by hand, fed with anything: they answer, or refuse with an error of the domain."""

import base64
import contextlib
import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resolute.domain.errors import ResoluteError
from resolute.imagery import geojson
from resolute.imagery.report import Report
from resolute.serving.protocol import tensors, v2
from resolute.spec.context import check_context
from resolute.spec.document import read_document
from resolute.spec.experiment import ClusterDefaults, parse_experiment
from resolute.spec.experiment_filter import parse_filter
from resolute.spec.manifest import unpack
from resolute.spec.merge import read_overrides

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=15,
)
YAML = st.text(alphabet=st.sampled_from("ab1:-[]{},&*!|>'\"#%@\\\n \t<?.~=é\0"), max_size=120)
COLUMNS: dict[str, Any] = {"id": 7, "name": "Digits", "archived": False, "hp.lr": 0.1}


@given(YAML)
def test_any_yaml_text_is_read_or_described(text: str) -> None:
    document = read_document(text)

    assert document.problems or json.dumps(document.value) is not None


@given(st.lists(YAML | st.text(max_size=30), max_size=4))
def test_any_override_is_read_or_described(texts: list[str]) -> None:
    overrides, problems = read_overrides(texts)

    assert len(overrides) + len(problems) >= len(texts)


@given(st.lists(st.tuples(st.sampled_from(["searcher", "hyperparameters.a", "resources", "x.y"]), JSON), max_size=3))
def test_any_configuration_is_parsed_or_refused(settings: list[tuple[str, Any]]) -> None:
    overrides = [f"{key}={json.dumps(value)}" for key, value in settings]
    defaults = ClusterDefaults(checkpoint_storage={"type": "shared_fs", "host_path": "/tmp"})

    _try(lambda: parse_experiment("{}", overrides=overrides, defaults=defaults, seed=1, name="any"))


@given(JSON)
def test_any_filter_is_applied_or_refused(tree: Any) -> None:
    _try(lambda: parse_filter(json.dumps(tree)).keeps(COLUMNS.get))


NODE = st.recursive(
    st.fixed_dictionaries(
        {"columnName": st.sampled_from([*COLUMNS, "no"]), "operator": st.text(max_size=3), "value": JSON}
    ),
    lambda inner: st.fixed_dictionaries({"kind": st.just("group"), "children": st.lists(inner | JSON, max_size=3)}),
    max_leaves=8,
)


@given(NODE, st.sampled_from(["=", "!=", "<", ">=", "contains", "notContains", "isEmpty", "~"]))
def test_any_filter_tree_is_applied_or_refused(tree: dict[str, Any], operator: str) -> None:
    _try(lambda: parse_filter(json.dumps({"filterGroup": {**tree, "operator": operator}})).keeps(COLUMNS.get))


def test_a_filter_nested_without_end_is_refused() -> None:
    deep = '{"children":[' * 5000 + "{}" + "]}" * 5000

    with pytest.raises(ResoluteError):
        parse_filter(deep)


@given(st.binary(max_size=300), st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), max_size=8))
def test_any_archive_is_accepted_or_refused(noise: bytes, flips: list[tuple[int, int]]) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        entry = tarfile.TarInfo("train.py")
        entry.size = 5
        tar.addfile(entry, io.BytesIO(b"print"))
    plain = bytearray(buffer.getvalue())
    for at, value in flips:
        plain[at % len(plain)] = value

    _try(lambda: check_context(gzip.compress(bytes(plain))))
    _try(lambda: check_context(noise))
    _try(lambda: check_context(gzip.compress(noise)))


@given(st.binary(max_size=200), JSON)
def test_any_manifest_is_read_or_refused(noise: bytes, value: Any) -> None:
    _try(lambda: unpack(noise))
    _try(lambda: unpack(gzip.compress(noise)))
    _try(lambda: unpack(gzip.compress(json.dumps(value).encode())))


@given(st.binary(max_size=200), JSON)
def test_any_geojson_is_read_or_refused(noise: bytes, value: Any) -> None:
    collection = {"type": "FeatureCollection", "features": value if isinstance(value, list) else [value]}

    for text in (noise, json.dumps(value).encode(), json.dumps(collection).encode()):
        _try(lambda text=text: geojson.parse_bounds(geojson.parse(text, "labels", Report()), Report()))


@given(
    st.binary(max_size=100),
    st.fixed_dictionaries(
        {
            "name": st.text(max_size=4),
            "shape": st.lists(st.integers(-1, 4) | st.integers(), max_size=3),
            "datatype": st.sampled_from(["FP32", "BYTES", "BOOL", "INT64", "FP16", "BF16", "X"]),
        },
        optional={"data": JSON, "parameters": st.fixed_dictionaries({"binary_data_size": st.integers(-2, 110) | JSON})},
    ),
    st.none() | st.text(max_size=5),
)
def test_any_tensor_is_read_or_refused(binary: bytes, tensor: dict[str, Any], length: str | None) -> None:
    header = json.dumps({"inputs": [tensor]}).encode()

    for given_length in (length, str(len(header))):
        request = _try(lambda given_length=given_length: v2.read_request(header + binary, given_length))
        if request is not None:
            for head, buffer in zip(request.item.tensors, request.buffers, strict=False):
                _try(lambda head=head, buffer=buffer: tensors.read_tensor(head, buffer))


def _tensor(content: bytes) -> None:
    length, _, body = content.partition(b"\n")
    request = v2.read_request(body, length.decode() or None)
    for head, buffer in zip(request.item.tensors, request.buffers, strict=False):
        tensors.read_tensor(head, buffer)


PARSERS: dict[str, Callable[[bytes], object]] = {
    "yaml": lambda content: read_document(content.decode()),
    "override": lambda content: read_overrides([content.decode()]),
    "filter": lambda content: parse_filter(content.decode()).keeps(COLUMNS.get),
    "context": check_context,
    "manifest": unpack,
    "geojson": lambda content: geojson.parse_bounds(geojson.parse(content, "labels", Report()), Report()),
    "tensor": _tensor,
}
CORPUS = json.loads((Path(__file__).parents[1] / "corpus" / "parsers.json").read_text())


@pytest.mark.parametrize("row", CORPUS, ids=[f"{row['parser']}: {row['name']}" for row in CORPUS])
def test_each_row_of_the_corpus_is_read_or_refused(row: dict[str, str]) -> None:
    _try(lambda: PARSERS[row["parser"]](base64.b64decode(row["base64"])))


BENT = st.lists(st.tuples(st.integers(0, 500), st.integers(0, 4), st.binary(max_size=6)), min_size=1, max_size=4)


@given(st.sampled_from(CORPUS), BENT)
def test_each_row_is_read_or_refused_however_it_is_bent(
    row: dict[str, str], bent: list[tuple[int, int, bytes]]
) -> None:
    content = base64.b64decode(row["base64"])[:10_000]
    is_packed = content.startswith(b"\x1f\x8b")
    with contextlib.suppress(OSError, EOFError):
        content = gzip.decompress(content)[:10_000] if is_packed else content
    for at, length, put in bent:
        content = content[:at] + put + content[at + length :]
    content = gzip.compress(content) if is_packed else content

    with contextlib.suppress(UnicodeDecodeError):
        _try(lambda: PARSERS[row["parser"]](content))


def _try(action: Any) -> Any:
    """What the action gives; None when it was refused as the domain does."""
    with contextlib.suppress(ResoluteError):
        return action()
    return None
