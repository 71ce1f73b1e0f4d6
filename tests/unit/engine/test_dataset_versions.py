"""Rules of dataset versions: numbers, references, links and what may be read back."""

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from resolute.domain.dataset import DatasetClass, DatasetFile, DatasetVersion
from resolute.domain.errors import (
    IllegalTransition,
    InvalidConfig,
    InvalidInput,
    NotFound,
    NotSupported,
    ResoluteError,
)
from resolute.engine.registry import datasets
from resolute.engine.registry.datasets import NewDataset
from resolute.spec import manifest

CONFIG = "entrypoint: python3 train.py\nsearcher: {name: single, metric: loss}\n"
FILES = [DatasetFile("train.json", 3, "0" * 64), DatasetFile("images/1.jpg", 5, "1" * 64)]


def new(content: str = "", **changes: Any) -> NewDataset:
    """`content` makes another version of it."""
    files = [*FILES, DatasetFile("content", 1, hashlib.sha256(content.encode()).hexdigest())]
    given = NewDataset(name="xview", uri="/data/xview", packed_manifest=manifest.pack(files))
    return replace(given, **changes)


@pytest.fixture
def register(world: Any) -> Callable[..., DatasetVersion]:
    def make(content: str = "", **changes: Any) -> DatasetVersion:
        return datasets.register_dataset(world.platform, new(content, **changes), user=world.user)[0]

    return make


# -------------------------------------------------------------------------------------------------------- register


def test_the_hash_is_computed_here_and_not_believed(world: Any, register: Callable[..., DatasetVersion]) -> None:
    dataset = register()

    with world.platform.store.read() as tx:
        kept = manifest.unpack(tx.contexts.get(dataset.manifest_id))
    assert dataset.content_hash == manifest.content_hash(kept)
    assert (dataset.file_count, dataset.size) == (3, 9)
    assert [file.path for file in kept] == ["content", "images/1.jpg", "train.json"]


def test_an_older_version_with_the_same_content_is_answered_too(
    world: Any, register: Callable[..., DatasetVersion]
) -> None:
    first, second = register("a"), register("b")

    again, is_new = datasets.register_dataset(world.platform, new("a"), user=world.user)

    assert (again, is_new) == (first, False)
    assert (first.version, second.version) == (1, 2)


@pytest.mark.parametrize(
    ("uri", "stored"),
    [
        ("/data/xview/", "/data/xview"),
        ("/", "/"),
        ("s3://bucket/tiles/", "s3://bucket/tiles"),
        ("gs://b/x", "gs://b/x"),
        ("az://c", "az://c"),
    ],
)
def test_places_are_stored_in_one_way(register: Callable[..., DatasetVersion], uri: str, stored: str) -> None:
    assert register(uri=uri).uri == stored


@pytest.mark.parametrize(
    ("images", "stored"),
    [((), ("",)), (("images",), ("images",)), (("./images/",), ("images",)), ((".",), ("",)), (("",), ("",))],
)
def test_image_folders_are_stored_in_one_way(
    register: Callable[..., DatasetVersion], images: tuple[str, ...], stored: tuple[str, ...]
) -> None:
    assert register(annotations=("train.json",), images=images).images == stored


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "has space"},
        {"name": "x" * 129},
        {"name": "-first"},
        {"uri": "tiles"},
        {"uri": ""},
        {"packed_manifest": b""},
        {"packed_manifest": manifest.pack([])},
        {"packed_manifest": manifest.pack([DatasetFile("/abs", 1, "0" * 64)])},
        {"annotations": ("val.json",)},
        {"annotations": ("train.json",), "images": ("images", "images")},
        {"annotations": ("train.json",), "images": ("image",)},
        {"classes": (DatasetClass(1, "a"), DatasetClass(1, "b"))},
        {"classes": (DatasetClass(1, ""),)},
        {"parents": ("nothing",)},
        {"parents": ("xview:x",)},
        {"workspace_id": 99},
    ],
)
def test_what_is_refused_leaves_nothing_behind(
    world: Any, register: Callable[..., DatasetVersion], changes: dict[str, Any]
) -> None:
    with pytest.raises(ResoluteError):
        register(**changes)

    with world.platform.store.read() as tx:
        assert tx.datasets.search() == []


def test_the_same_set_registered_at_once_is_one_version(world: Any) -> None:
    with ThreadPoolExecutor(4) as pool:
        made = list(
            pool.map(lambda n: datasets.register_dataset(world.platform, new(str(n % 2)), user=world.user), range(8))
        )

    assert {dataset.version for dataset, _ in made} == {1, 2}
    assert sum(is_new for _, is_new in made) == 2


# ------------------------------------------------------------------------------------------------------- references


@pytest.mark.parametrize(("reference", "version"), [("xview", 2), ("xview:latest", 2), ("xview:1", 1), ("xview:", 2)])
def test_references_name_one_version(
    world: Any, register: Callable[..., DatasetVersion], reference: str, version: int
) -> None:
    register("a")
    register("b")

    with world.platform.store.read() as tx:
        assert datasets.resolve(tx, reference).version == version


@pytest.mark.parametrize(
    ("reference", "kind", "part"),
    [
        ("dota", NotFound, "There are: xview."),
        ("xview:2", NotFound, "There are: xview:1."),
        ("xview:-1", InvalidInput, "Give a number, or 'latest'"),
        ("xview:one", InvalidInput, "Give a number, or 'latest'"),
        ("", NotFound, "There are: xview."),
    ],
)
def test_references_to_nothing_say_what_there_is(
    world: Any, register: Callable[..., DatasetVersion], reference: str, kind: type[ResoluteError], part: str
) -> None:
    register()

    with world.platform.store.read() as tx, pytest.raises(kind, match=part):
        datasets.resolve(tx, reference)


@pytest.mark.parametrize(
    "config", [{}, {"data": None}, {"data": {}}, {"data": {"dataset": []}}, {"data": {"dataset": {"a": 1}}}]
)
def test_a_configuration_that_names_none_is_left_as_it_is(world: Any, config: dict[str, Any]) -> None:
    with world.platform.store.read() as tx:
        assert datasets.resolve_config(tx, config) == (config, ())


def test_a_configuration_is_not_changed_in_place(world: Any, register: Callable[..., DatasetVersion]) -> None:
    register()
    config = {"data": {"dataset": ["xview", "xview:1"], "batch": 4}}

    with world.platform.store.read() as tx:
        resolved, ids = datasets.resolve_config(tx, config)

    assert config == {"data": {"dataset": ["xview", "xview:1"], "batch": 4}}
    assert resolved == {"data": {"dataset": ["xview:1", "xview:1"], "batch": 4}}
    assert ids == (1,)


def test_a_version_registered_later_changes_nothing_about_an_experiment(
    world: Any, register: Callable[..., DatasetVersion]
) -> None:
    register("a")
    experiment = world.create(f"{CONFIG}data: {{dataset: xview}}\n")
    register("b")

    assert world.experiment(experiment.id).config["data"]["dataset"] == "xview:1"


def test_validating_names_the_exact_version_and_links_nothing(
    world: Any, register: Callable[..., DatasetVersion]
) -> None:
    dataset = register()

    checked = world.create(f"{CONFIG}data: {{dataset: xview}}\n", validate_only=True)

    assert checked.config["data"]["dataset"] == "xview:1"
    with world.platform.store.read() as tx:
        assert tx.datasets.experiments(dataset.id) == []


def test_a_refused_configuration_names_the_key(world: Any) -> None:
    with pytest.raises(InvalidConfig, match=r"config: data\.dataset: dataset not found: xview") as refusal:
        world.create(f"{CONFIG}data: {{dataset: xview}}\n")

    assert len(refusal.value.problems) == 1


# ---------------------------------------------------------------------------------------------------------- delete


def test_one_that_nobody_used_goes_and_its_number_with_it(world: Any, register: Callable[..., DatasetVersion]) -> None:
    register("a")
    register("b")

    datasets.delete_dataset(world.platform, "xview", "latest")

    assert register("b").version == 3


def test_many_users_of_one_are_counted_not_listed(world: Any, register: Callable[..., DatasetVersion]) -> None:
    dataset = register()
    with world.platform.store.write() as tx:
        for experiment_id in range(1, 15):
            tx.datasets.link(experiment_id, dataset.id)

    with pytest.raises(IllegalTransition, match=r"experiment 14, .* and 4 more"):
        datasets.delete_dataset(world.platform, "xview", "1")


# ------------------------------------------------------------------------------------------------------------ files


class Files:
    """One file, whatever is asked for."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def read(self, path: str, *, size: int) -> bytes:
        return self._content


def test_only_the_registered_bytes_are_handed_on(world: Any, register: Callable[..., DatasetVersion]) -> None:
    dataset = register()
    file = DatasetFile("train.json", 3, hashlib.sha256(b"abc").hexdigest())

    good = replace(world.platform, dataset_files=lambda uri: Files(b"abc"))
    bad = replace(world.platform, dataset_files=lambda uri: Files(b"abd"))

    assert datasets.read_file(good, dataset, file) == b"abc"
    with pytest.raises(NotFound, match=r"train\.json of dataset xview:1 is not what was registered"):
        datasets.read_file(bad, dataset, file)


def test_a_platform_without_files_says_where_to_look(world: Any, register: Callable[..., DatasetVersion]) -> None:
    with pytest.raises(NotSupported, match="look at /data/xview itself"):
        datasets.read_file(world.platform, register(), FILES[0])
