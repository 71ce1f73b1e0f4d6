"""Files of a model: what travels, what is served beside the weights, and when that has changed."""

import json
from pathlib import Path
from typing import Any

import pytest

from resolute.client.lifecycle.definition import Definition, define
from resolute.client.lifecycle.files import (
    add_serving,
    assemble,
    check_servable,
    digest_of,
    requirements_of,
    serving_parts,
    staged,
)
from resolute.lifecycle import InvalidModelProperty, UndefinedModelProperty

SERVING = {"model_file": "model.py", "handler": "image_classifier"}


def definition(**changes: Any) -> Definition:
    given = {
        "id": "dev/mnist",
        "name": "MNIST",
        "version": "0.0.1",
        "framework": "pytorch",
        "framework_version": "2",
        "main_file": "trainer.py",
        "serving_config": SERVING,
    }
    return define(**{**given, **changes})


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


class TestTravelling:
    def test_only_what_was_named_travels(self, base_dir: Path) -> None:
        (base_dir / "secrets.txt").write_text("not named")

        with staged(definition(extra_files=["datasets/MNIST"]), base_dir) as folder:
            assert names(folder) == {"trainer.py", "model.py", "datasets/MNIST/train"}

        assert not folder.exists()

    def test_a_trainer_may_lie_in_a_folder(self, base_dir: Path) -> None:
        (base_dir / "src").mkdir()
        (base_dir / "src" / "train.py").touch()

        with staged(definition(main_file="./src/train.py", serving_config=None), base_dir) as folder:
            assert names(folder) == {"src/train.py"}

    def test_a_file_named_twice_travels_once(self, base_dir: Path) -> None:
        with staged(definition(extra_files=["model.py", "./model.py", "trainer.py"]), base_dir) as folder:
            assert names(folder) == {"trainer.py", "model.py"}

    def test_files_of_the_handler_travel_too(self, base_dir: Path) -> None:
        for name in ("handler.py", "names.json"):
            (base_dir / name).touch()
        serving = {**SERVING, "handler": "handler.py:handle", "extra_files": ["names.json"]}

        with staged(definition(serving_config=serving), base_dir) as folder:
            assert names(folder) == {"trainer.py", "model.py", "handler.py", "names.json"}

    @pytest.mark.parametrize(
        ("content", "wanted"),
        [("", False), ("# tqdm\n\n", False), ("tqdm\n", True), ("\n  tqdm==4 # why\n", True)],
    )
    def test_requirements_count_if_they_ask_for_something(self, base_dir: Path, content: str, wanted: bool) -> None:
        (base_dir / "requirements.txt").write_text(content)

        found = requirements_of(definition(requirements="./requirements.txt"), base_dir)

        assert found == ("requirements.txt" if wanted else None)


class TestServing:
    def test_without_a_configuration_there_is_nothing(self, base_dir: Path) -> None:
        parts = serving_parts(definition(serving_config=None), base_dir)

        assert (parts.document, parts.files, parts.digest) == ({}, (), "")

    def test_the_document_names_files_as_they_lie_beside_the_weights(self, base_dir: Path) -> None:
        (base_dir / "net").mkdir()
        for name in ("net/model.py", "net/handler.py"):
            (base_dir / name).touch()
        serving = {"model_file": "net/model.py", "handler": "net/handler.py:handle", "requirements_file": "model.py"}

        parts = serving_parts(definition(serving_config=serving), base_dir)

        assert parts.document == {
            "model_name": "dev-mnist",
            "version": "0.0.1",
            "handler": "handler.py:handle",
            "model_file": "model.py",
            "requirements_file": "model.py",
        }
        assert set(parts.files) == {"net/model.py", "net/handler.py", "model.py"}

    @pytest.mark.parametrize(
        "change",
        [
            lambda base: (base / "model.py").write_text("class Other: ...\n"),
            lambda base: (base / "names.json").write_text("{}"),
        ],
    )
    def test_the_digest_follows_the_files(self, base_dir: Path, change: Any) -> None:
        (base_dir / "names.json").write_text("[]")
        made = definition(serving_config={**SERVING, "extra_files": ["names.json"]})
        before = serving_parts(made, base_dir).digest

        again = serving_parts(made, base_dir).digest
        change(base_dir)

        assert again == before
        assert serving_parts(made, base_dir).digest != before

    def test_the_digest_follows_the_configuration(self, base_dir: Path) -> None:
        digests = {
            serving_parts(definition(serving_config={**SERVING, "handler": handler}), base_dir).digest
            for handler in ("image_classifier", "object_detector")
        }

        assert len(digests) == 2

    def test_a_folder_is_put_together_for_the_server(self, base_dir: Path, tmp_path: Path) -> None:
        weights, target = tmp_path / "weights", tmp_path / "served"
        weights.mkdir()
        target.mkdir()
        (weights / "mnist.pth").write_bytes(b"w")

        assemble(target, weights, serving_parts(definition(), base_dir), base_dir)

        assert names(target) == {"mnist.pth", "model.py", "serving.json"}
        assert json.loads((target / "serving.json").read_text())["serialized_file"] == "mnist.pth"

    def test_what_the_trainer_exported_itself_is_not_replaced(self, base_dir: Path, tmp_path: Path) -> None:
        (tmp_path / "model.py").write_text("exported")

        add_serving(tmp_path, {}, {"model.py": base_dir / "model.py"})

        assert (tmp_path / "model.py").read_text() == "exported"
        assert not (tmp_path / "serving.json").exists()

    @pytest.mark.parametrize("count", [0, 2])
    def test_which_file_has_the_weights_is_not_guessed(self, tmp_path: Path, count: int) -> None:
        for number in range(count):
            (tmp_path / f"{number}.pt").touch()

        add_serving(tmp_path, {"handler": "x"}, {})

        assert json.loads((tmp_path / "serving.json").read_text()) == {"handler": "x"}

    def test_a_named_file_of_weights_is_the_one(self, tmp_path: Path) -> None:
        (tmp_path / "other.pt").touch()

        add_serving(tmp_path, {"handler": "x", "serialized_file": "best.pt"}, {})

        assert json.loads((tmp_path / "serving.json").read_text())["serialized_file"] == "best.pt"

    @pytest.mark.parametrize("missing", ["model_file", "handler"])
    def test_what_the_server_needs_is_asked_for(self, missing: str) -> None:
        serving = {key: value for key, value in SERVING.items() if key != missing}

        with pytest.raises(UndefinedModelProperty, match=rf"serving_config\.{missing}: not given"):
            check_servable(definition(serving_config=serving))

    def test_files_out_of_the_folder_are_refused(self, base_dir: Path) -> None:
        with pytest.raises(InvalidModelProperty, match=r"serving_config: '\.\./model\.py' is not below"):
            serving_parts(definition(serving_config={**SERVING, "model_file": "../model.py"}), base_dir)


class TestContent:
    def test_equal_files_have_one_name(self, tmp_path: Path) -> None:
        for name in ("a", "b"):
            (tmp_path / name / "inner").mkdir(parents=True)
            (tmp_path / name / "inner" / "x").write_text("same")

        assert digest_of(tmp_path / "a") == digest_of(tmp_path / "b")
        assert len(digest_of(tmp_path / "a")) == 32

    @pytest.mark.parametrize(("name", "content"), [("y", "same"), ("x", "other"), ("inner/x", "same")])
    def test_another_name_or_content_has_another(self, tmp_path: Path, name: str, content: str) -> None:
        for folder in ("a", "b/inner"):
            (tmp_path / folder).mkdir(parents=True)
        (tmp_path / "a" / "x").write_text("same")
        (tmp_path / "b" / name).write_text(content)

        assert digest_of(tmp_path / "a") != digest_of(tmp_path / "b")
