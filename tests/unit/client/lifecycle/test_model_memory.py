"""What a model remembers: metrics, data, its JSON, and where its files are."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resolute.client.lifecycle.model import Model
from resolute.client.lifecycle.storage import ModelStorage, local_path
from resolute.domain.errors import InvalidInput, NotFound
from resolute.lifecycle import (
    Config,
    DefaultMinioConfigurationProvider,
    DockerConfigurationProvider,
    DockerRegistryCertificateProvider,
    InvalidModelProperty,
    ModelAlreadyExistsException,
    S3ConfigurationProvider,
    UnsupportedMetricsTypeException,
)

Make = Callable[..., Model]


class TestMetricsAndData:
    @pytest.mark.parametrize("kind", ["training", "testing", "validation", "production", "Testing"])
    def test_metrics_are_kept_by_type(self, model: Model, kind: str) -> None:
        before = model.revision

        model.log_metrics({"loss": 0.5, "accuracy": "0.9906"}, kind)

        assert model.metrics == {kind.lower(): {"loss": 0.5, "accuracy": 0.9906}}
        assert model.revision != before

    def test_later_metrics_join_earlier_ones(self, model: Model) -> None:
        model.log_metrics({"loss": 0.5, "f1": 1}, "testing")
        model.log_metrics({"loss": 0.4}, "testing", uri="s3://reports/1")

        assert model.metrics["testing"] == {"loss": 0.4, "f1": 1.0, "uri": "s3://reports/1"}

    def test_another_type_is_refused_with_those_there_are(self, model: Model) -> None:
        with pytest.raises(UnsupportedMetricsTypeException, match="training, testing, validation, production"):
            model.log_metrics({"loss": 1}, "guessing")

    @pytest.mark.parametrize("metrics", [{}, [1], {"loss": "low"}, {"loss": None}])
    def test_metrics_are_numbers_with_names(self, model: Model, metrics: Any) -> None:
        with pytest.raises(InvalidModelProperty):
            model.log_metrics(metrics, "testing")

    def test_data_sets_are_remembered(self, model: Model) -> None:
        model.log_data("MNIST", "s3://data/mnist", description="digits", features=("pixels",), version="1")
        model.log_data("more", "/data/more")

        assert model.meta()["data"] == [
            {
                "name": "MNIST",
                "uri": "s3://data/mnist",
                "description": "digits",
                "features": ["pixels"],
                "version": "1",
            },
            {"name": "more", "uri": "/data/more"},
        ]

    def test_a_data_set_without_an_address_is_none(self, model: Model) -> None:
        with pytest.raises(InvalidModelProperty, match="needs a name and a uri"):
            model.log_data("MNIST", "")

    def test_all_that_is_known_is_json(self, model: Model) -> None:
        model.train({"--epochs": 1}, verbose=False)

        meta = json.loads(json.dumps(model.meta()))

        assert (meta["id"], meta["framework"], meta["state"]) == ("dev/mnist", "pytorch", "trained")
        assert meta["saved"][0]["registered"] == "dev-mnist/1"


class TestJson:
    def test_a_saved_model_comes_back_as_it_was(self, model: Model, config: Config, tmp_path: Path) -> None:
        model.train({"--epochs": 1}, verbose=False)
        model.log_data("MNIST", "/data")

        uri = model.save_as_json()
        loaded = Model.load_from_json(uri, config)

        assert uri == f"{tmp_path}/models/dev/mnist/model.json"
        assert loaded.meta() == model.meta()

    def test_a_loaded_model_can_be_deployed_at_once(self, model: Model, config: Config, master: Any) -> None:
        model.train({"--epochs": 1}, verbose=False)

        Model.load_from_json(model.save_as_json(), config).deploy()

        assert master.deployments["dev-mnist"]["sent"]["model"] == "dev-mnist/1"

    def test_it_is_found_by_its_folder_too(self, model: Model, config: Config, tmp_path: Path) -> None:
        model.save_as_json()

        assert Model.load_from_json(f"{tmp_path}/models/dev/mnist/", config).revision == model.revision

    def test_what_is_there_is_not_overwritten_by_accident(self, model: Model, tmp_path: Path) -> None:
        path = tmp_path / "saved" / "mine.json"
        model.save_as_json(path)

        with pytest.raises(ModelAlreadyExistsException, match=r"mine\.json exists already"):
            model.save_as_json(path)
        assert model.save_as_json(path, overwrite=True) == str(path)

    def test_any_path_of_this_machine_will_do(self, model: Model, config: Config, tmp_path: Path) -> None:
        uri = model.save_as_json(tmp_path / "my models" / ".hidden" / "digits of mine.json")

        assert Model.load_from_json(uri, config).revision == model.revision
        assert [path.name for path in Path(uri).parent.iterdir()] == ["digits of mine.json"]

    @pytest.mark.parametrize("uri", ["s3://bucket", "s3://bucket/model.json", "s3://bucket//model.json"])
    def test_a_bucket_alone_is_no_place_for_it(self, model: Model, uri: str) -> None:
        with pytest.raises(InvalidInput, match="names no file in a folder of a bucket"):
            model.save_as_json(uri)

    @pytest.mark.parametrize("content", ["no json", "[]", "{}", '{"format": 1, "record": {}, "colour": 3}'])
    def test_another_file_is_refused(self, config: Config, tmp_path: Path, content: str) -> None:
        (tmp_path / "model.json").write_text(content)

        with pytest.raises(InvalidInput, match="is not the JSON of a model"):
            Model.load_from_json(tmp_path / "model.json", config)

    def test_a_file_that_is_not_there_is_told(self, config: Config, tmp_path: Path) -> None:
        with pytest.raises(NotFound):
            Model.load_from_json(tmp_path / "none.json", config)


class TestStorage:
    def test_the_default_is_a_folder_in_resolutes_home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("RESOLUTE_HOME", str(tmp_path / "home"))

        assert Config.default().base_model_storage_uri == f"{tmp_path}/home/models"
        assert Config.default().base_dir == Path.cwd()

    def test_files_go_into_an_object_store_when_the_base_is_one(self, tmp_path: Path) -> None:
        config = Config(base_model_storage_uri="s3://kaptain/models/")

        assert ModelStorage(config, "dev/mnist").uri("trained", "e2") == "s3://kaptain/models/dev/mnist/trained/e2"

    def test_an_address_is_a_folder_a_bucket_or_refused(self) -> None:
        assert local_path("/a/b") == Path("/a/b")
        assert local_path("file:///a") == Path("/a")
        assert local_path("s3://bucket/a") is None
        with pytest.raises(InvalidInput, match="hdfs://a cannot be opened"):
            local_path("hdfs://a")

    def test_folders_of_folders_are_kept_whole(self, config: Config, tmp_path: Path) -> None:
        source = tmp_path / "source" / "0001"
        source.mkdir(parents=True)
        (source / "saved_model.pb").write_bytes(b"tf")
        storage = ModelStorage(config, "dev/mnist")

        uri = storage.put("trained", "ab12", tmp_path / "source")

        with storage.fetched(uri) as folder:
            assert (folder / "0001" / "saved_model.pb").read_bytes() == b"tf"


class TestProviders:
    def test_the_environment_names_the_store(self) -> None:
        provider = S3ConfigurationProvider.from_env({"S3_ENDPOINT": "minio:9000", "AWS_REGION": "eu"})

        assert provider.storage("kaptain", "models") == {
            "type": "s3",
            "bucket": "kaptain",
            "prefix": "models",
            "endpoint_url": "http://minio:9000",
            "region": "eu",
        }

    def test_a_credentials_file_is_read(self, tmp_path: Path) -> None:
        file = tmp_path / "credentials"
        file.write_text("[default]\naws_access_key_id = a\naws_secret_access_key = hidden\n")

        provider = S3ConfigurationProvider.from_file(file)

        assert provider.storage("b", "p")["secret_key"] == "hidden"
        assert "hidden" not in repr(provider)
        with pytest.raises(InvalidInput, match=r"has no section \[other\]"):
            S3ConfigurationProvider.from_file(file, profile="other")

    def test_minio_in_the_cluster_has_its_usual_name(self) -> None:
        assert DefaultMinioConfigurationProvider().storage("b", "")["endpoint_url"] == "http://minio.kubeflow:9000"

    def test_dockers_file_is_read_only_when_asked(self, tmp_path: Path) -> None:
        provider = DockerConfigurationProvider.from_file(tmp_path / "config.json")
        certificate = DockerRegistryCertificateProvider.from_file(tmp_path / "ca.crt")

        Config(provider, docker_registry_certificate_provider=certificate, docker_registry_url="registry.test")

        with pytest.raises(InvalidInput, match="cannot be read as Docker's configuration"):
            provider.get()
        (tmp_path / "config.json").write_text('{"auths": {}}')
        assert provider.get() == {"auths": {}}
        assert DockerConfigurationProvider.default().path.name == "config.json"
        assert DockerRegistryCertificateProvider.default().path.name == "certificate.crt"
