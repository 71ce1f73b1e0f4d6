"""The `checkpoint_storage` section and how it meets the cluster's own."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from resolute.spec.experiment import ClusterDefaults, ParsedExperiment

Parse = Callable[..., ParsedExperiment]
Refusals = Callable[..., list[str]]
LEAST = "searcher: {name: single, metric: loss}\n"
CLUSTER = ClusterDefaults(checkpoint_storage={"type": "shared_fs", "host_path": "/ck", "save_trial_best": 3})
KEEP = {"save_experiment_best": 0, "save_trial_best": 1, "save_trial_latest": 1}


@pytest.mark.parametrize(
    ("written", "resolved"),
    [
        ({"type": "directory", "container_path": "/ck"}, {}),
        ({"type": "gcs", "bucket": "b"}, {"prefix": None}),
        (
            {"type": "s3", "bucket": "b"},
            {"prefix": None, "access_key": None, "secret_key": None, "endpoint_url": None},
        ),
        (
            {"type": "azure", "container": "c", "account_url": "https://x"},
            {"connection_string": None, "credential": None},
        ),
    ],
)
def test_each_type_has_its_keys_and_the_policy_of_what_is_kept(
    written: dict[str, Any], resolved: dict[str, Any], parse: Parse
) -> None:
    parsed = parse(f"{LEAST}checkpoint_storage: {written}\n")

    assert parsed.resolved["checkpoint_storage"] == {**written, **resolved, **KEEP}


def test_the_clusters_storage_is_used_when_none_is_named(parse: Parse) -> None:
    storage = parse(LEAST, defaults=CLUSTER).resolved["checkpoint_storage"]

    assert (storage["host_path"], storage["save_trial_best"]) == ("/ck", 3)


def test_what_to_keep_can_be_said_without_repeating_where(parse: Parse) -> None:
    text = f"{LEAST}checkpoint_storage: {{save_trial_best: 0}}\n"

    storage = parse(text, defaults=CLUSTER).resolved["checkpoint_storage"]

    assert (storage["host_path"], storage["save_trial_best"]) == ("/ck", 0)


def test_another_type_takes_only_the_policy_from_the_cluster(parse: Parse) -> None:
    text = f"{LEAST}checkpoint_storage: {{type: gcs, bucket: b}}\n"

    storage = parse(text, defaults=CLUSTER).resolved["checkpoint_storage"]

    assert storage == {"type": "gcs", "bucket": "b", "prefix": None, **KEEP, "save_trial_best": 3}


@pytest.mark.parametrize(
    ("written", "key", "words"),
    [
        ("{type: hdfs, hdfs_url: x}", "type", "no longer supported; use shared_fs with the file system mounted"),
        ("{type: s4, bucket: b}", "type", "use one of shared_fs, directory, s3, gcs, azure"),
        ("{type: s3}", "bucket", "is missing"),
        ("{type: s3, bucket: b, access_key: a}", "secret_key", "both access_key and secret_key"),
        ("{type: s3, bucket: b, prefix: ../up}", "prefix", "has .. in it"),
        ("{type: shared_fs, host_path: here}", "host_path", "not an absolute path"),
        ("{type: shared_fs, host_path: /a, storage_path: ../b}", "storage_path", "leaves host_path"),
        ("{type: shared_fs, host_path: /a, storage_path: /b}", "storage_path", "leaves host_path"),
        ("{type: directory, container_path: a}", "container_path", "not an absolute path"),
        ("{type: azure, container: c}", "account_url", "exactly one of"),
        ("{type: azure, container: c, account_url: a, connection_string: b}", "account_url", "exactly one of"),
        ("{type: gcs, bucket: b, save_trial_best: -1}", "save_trial_best", "at least 0"),
    ],
)
def test_a_storage_that_cannot_work_is_refused(written: str, key: str, words: str, refusals: Refusals) -> None:
    problems = refusals(f"{LEAST}checkpoint_storage: {written}\n")

    assert problems[0].startswith(f"exp.yaml:2: checkpoint_storage.{key}: ")
    assert words in problems[0]


def test_a_folder_inside_the_host_path_is_fine(parse: Parse) -> None:
    text = f"{LEAST}checkpoint_storage: {{storage_path: /ck/team}}\n"

    assert parse(text, defaults=CLUSTER).resolved["checkpoint_storage"]["storage_path"] == "/ck/team"


def test_a_storage_without_type_anywhere_is_refused(refusals: Refusals) -> None:
    problems = refusals(LEAST, defaults=replace(CLUSTER, checkpoint_storage={}))

    assert problems == ["exp.yaml:1: checkpoint_storage: has no type; add one of shared_fs, directory, s3, gcs, azure"]
