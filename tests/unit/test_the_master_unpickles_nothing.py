"""Nothing that the master imports can run code out of a model's file: files of models are bytes to it."""

from pathlib import Path

import grimp
import pytest

SOURCE = Path(__file__).parents[2] / "src"
UNPICKLE = {"cloudpickle", "dill", "joblib", "keras", "marshal", "multiprocessing", "onnx", "onnxruntime", "pandas"}
UNPICKLE |= {"pickle", "safetensors", "shelve", "tensorflow", "torch", "torchvision"}


@pytest.fixture(scope="module")
def imported() -> set[str]:
    """By the master, directly or through others, at any time."""
    graph = grimp.build_graph("resolute", include_external_packages=True, cache_dir=None)
    return graph.find_upstream_modules("resolute.server.main") | {"resolute.server.main"}


def test_it_imports_nothing_that_unpickles(imported: set[str]) -> None:
    assert "sqlalchemy" in {name.partition(".")[0] for name in imported}
    assert not UNPICKLE & {name.partition(".")[0] for name in imported}


def test_what_unpickles_by_name_is_not_called(imported: set[str]) -> None:
    """numpy reads arrays, and pickles only where it is told to."""
    for name in imported:
        file = SOURCE.joinpath(*name.split(".")).with_suffix(".py")
        text = file.read_text() if file.is_file() else ""
        assert "allow_pickle=True" not in text, file
        assert "find_class" not in text, file


def test_it_imports_no_loader_of_models(imported: set[str]) -> None:
    serving = {name for name in imported if name.startswith("resolute.serving.")}

    assert serving <= {"resolute.serving.router", "resolute.serving.router.process"}
