"""A whole experiment: defaults, both dialects, every section, and what a refusal says."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from resolute.domain.errors import InvalidConfig
from resolute.spec.experiment import ClusterDefaults, ExperimentConfig, ParsedExperiment, reparse

Parse = Callable[..., ParsedExperiment]
Refusals = Callable[..., list[str]]
ConfigText = Callable[[str], str]
LEAST = "searcher: {name: single, metric: loss}\n"
CLUSTER = ClusterDefaults(
    checkpoint_storage={"type": "shared_fs", "host_path": "/var/checkpoints"}, pools={"default": 4, "gpus": None}
)
REAL = [
    "detection-distributed.yaml",
    "detection-search.yaml",
    "iris-const.yaml",
    "iris-distributed.yaml",
    "iris-adaptive.yaml",
]


@pytest.mark.parametrize("name", REAL)
def test_configs_that_people_published_parse(name: str, parse: Parse, config_text: ConfigText) -> None:
    parsed = parse(config_text(name))

    assert parsed.resolved["name"] == parsed.config.name
    assert reparse(parsed.resolved) == parsed.config


def test_placeholders_stay_as_written(parse: Parse, config_text: ConfigText) -> None:
    parsed = parse(config_text("detection-distributed.yaml"))

    assert parsed.resolved["workspace"] == "<WORKSPACE_NAME>"
    assert parsed.resolved["project"] == "<PROJECT_NAME>"


def test_each_doubtful_key_of_a_real_config_is_warned_about_once(parse: Parse, config_text: ConfigText) -> None:
    parsed = parse(config_text("detection-distributed.yaml"))

    assert [warning.split(": ")[1] for warning in parsed.warnings] == [
        "environment.image",
        "searcher.smaller_is_better",
        "resources.slots_per_trial",
        "resources.shm_size",
    ]
    assert parsed.exceeds_slots
    assert parsed.resolved["environment"]["image"] == dict.fromkeys(
        ("cpu", "cuda", "rocm"), "example/environments:cuda-11.3"
    )


def test_every_default_is_filled_in(parse: Parse) -> None:
    resolved = parse(LEAST).resolved

    assert {key: value for key, value in resolved.items() if key != "searcher"} == {
        "name": "quiet-otter",
        "description": None,
        "labels": [],
        "workspace": "",
        "project": "",
        "entrypoint": None,
        "hyperparameters": {},
        "checkpoint_storage": {
            "type": "shared_fs",
            "host_path": "/var/checkpoints",
            "storage_path": None,
            "propagation": "rprivate",
            "container_path": None,
            "checkpoint_path": None,
            "tensorboard_path": None,
            "save_experiment_best": 0,
            "save_trial_best": 1,
            "save_trial_latest": 1,
        },
        "checkpoint_policy": "best",
        "reproducibility": {"experiment_seed": 7},
        "resources": {
            "slots_per_trial": 1,
            "slots": None,
            "max_slots": None,
            "weight": 1,
            "priority": None,
            "resource_pool": "default",
            "shm_size": None,
            "devices": [],
            "native_parallel": False,
            "is_single_node": None,
            "agent_label": None,
        },
        "environment": {
            "image": None,
            "environment_variables": {"cpu": [], "cuda": [], "rocm": []},
            "ports": {},
            "proxy_ports": [],
            "force_pull_image": False,
            "registry_auth": None,
            "add_capabilities": [],
            "drop_capabilities": [],
            "pod_spec": None,
            "python": None,
            "requirements": None,
        },
        "bind_mounts": [],
        "max_restarts": 5,
        "min_checkpoint_period": {"batches": 0},
        "min_validation_period": {"batches": 0},
        "perform_initial_validation": False,
        "records_per_epoch": 0,
        "scheduling_unit": 100,
        "optimizations": {
            "aggregation_frequency": 1,
            "average_aggregated_gradients": True,
            "average_training_metrics": True,
            "gradient_compression": False,
            "mixed_precision": "O0",
            "tensor_fusion_threshold": 64,
            "tensor_fusion_cycle_time": 1,
            "auto_tune_tensor_fusion": False,
            "grad_updates_size_file": None,
        },
        "profiling": {"enabled": False, "begin_on_batch": 0, "end_after_batch": None, "sync_timings": True},
        "log_policies": [
            {"name": "CUDA OOM", "pattern": ".*CUDA out of memory.*", "action": None},
            {"name": "ECC Error", "pattern": ".*uncorrectable ECC error encountered.*", "action": None},
        ],
        "retention_policy": None,
        "preemption_timeout": None,
        "integrations": None,
        "data": {},
        "data_layer": None,
        "debug": False,
        "security": None,
        "slurm": {"slots_per_node": None, "gpu_type": None, "sbatch_args": []},
        "pbs": {"slots_per_node": None, "pbsbatch_args": []},
        "ray": None,
        "tensorboard_storage": None,
        "internal": None,
    }


@pytest.mark.parametrize("key", sorted(set(ExperimentConfig.model_fields) - {"searcher"}))
def test_a_null_is_the_same_as_a_key_left_out(key: str, parse: Parse) -> None:
    assert parse(f"{LEAST}{key}: null\n").resolved == parse(LEAST).resolved


def test_what_is_written_wins_over_what_the_cluster_would_fill_in(parse: Parse) -> None:
    resolved = parse(
        f"{LEAST}name: mine\nreproducibility: {{experiment_seed: 0}}\nresources: {{resource_pool: gpus}}\n"
    ).resolved

    assert resolved["name"] == "mine"
    assert resolved["reproducibility"] == {"experiment_seed": 0}
    assert resolved["resources"]["resource_pool"] == "gpus"


def test_an_empty_pool_name_means_the_default_pool(parse: Parse) -> None:
    assert parse(f"{LEAST}resources: {{resource_pool: ''}}\n").resolved["resources"]["resource_pool"] == "default"


def test_a_resolved_config_is_json_and_resolves_to_itself(parse: Parse, config_text: ConfigText) -> None:
    first = parse(config_text("iris-adaptive.yaml")).resolved
    again = parse(json.dumps(first, allow_nan=False)).resolved

    assert again == first
    assert reparse(first).resolved() == first


def test_stored_json_that_cannot_be_read_says_which_key(parse: Parse) -> None:
    resolved = parse(LEAST).resolved | {"max_restarts": "many"}

    with pytest.raises(InvalidConfig, match='stored configuration: max_restarts: "many" is not a whole number'):
        reparse(resolved)


@pytest.mark.parametrize(
    ("written", "path", "value"),
    [
        ("entrypoint: model_def:Trial", ("entrypoint",), "model_def:Trial"),
        ("entrypoint: [python3, train.py]", ("entrypoint",), ["python3", "train.py"]),
        ("labels: [b, a, b]", ("labels",), ["b", "a"]),
        ("resources: {shm_size: 2g}", ("resources", "shm_size"), 2 * 1024**3),
        ("resources: {shm_size: 512 MiB}", ("resources", "shm_size"), 512 * 1024**2),
        ("resources: {shm_size: 1.5k}", ("resources", "shm_size"), 1536),
        ("resources: {shm_size: 2000000000}", ("resources", "shm_size"), 2_000_000_000),
        ("resources: {slots_per_trial: 2.0}", ("resources", "slots_per_trial"), 2),
        ("resources: {slots_per_trial: 0}", ("resources", "slots_per_trial"), 0),
        ("resources: {weight: 0.5}", ("resources", "weight"), 0.5),
        ("resources: {is_single_node: true}", ("resources", "is_single_node"), True),
        ("min_validation_period: {epochs: 1}", ("min_validation_period",), {"epochs": 1}),
        ("retention_policy: {log_retention_days: -1}", ("retention_policy",), {"log_retention_days": -1}),
        ("preemption_timeout: 60", ("preemption_timeout",), 60),
        (
            "log_policies: [{pattern: '.*OOM.*', action: {type: cancel_retries}}]",
            ("log_policies", 0),
            {"name": None, "pattern": ".*OOM.*", "action": "cancel_retries"},
        ),
        (
            "log_policies: [{name: CUDA OOM, pattern: mine}, {name: ECC Error}]",
            ("log_policies",),
            [
                {"name": "CUDA OOM", "pattern": "mine", "action": None},
                {"name": "ECC Error", "pattern": None, "action": None},
            ],
        ),
        (
            "resources: {devices: ['/h:/c', '/h2:/c2:r']}",
            ("resources", "devices"),
            [
                {"host_path": "/h", "container_path": "/c", "mode": "mrw"},
                {"host_path": "/h2", "container_path": "/c2", "mode": "r"},
            ],
        ),
        (
            "integrations: {webhooks: {webhook_name: [chat]}}",
            ("integrations", "webhooks"),
            {"webhook_id": None, "webhook_name": ["chat"], "exclude": False},
        ),
        (
            "environment: {environment_variables: [A=1, B]}",
            ("environment", "environment_variables"),
            {"cpu": ["A=1", "B"], "cuda": ["A=1", "B"], "rocm": ["A=1", "B"]},
        ),
        (
            "environment: {environment_variables: {cpu: [A=1], gpu: [A=2]}}",
            ("environment", "environment_variables"),
            {"cpu": ["A=1"], "cuda": ["A=2"], "rocm": []},
        ),
        ("environment: {requirements: requirements.txt}", ("environment", "requirements"), "requirements.txt"),
        ("environment: {requirements: [numpy, torch]}", ("environment", "requirements"), ["numpy", "torch"]),
        ("environment: {python: /opt/venv}", ("environment", "python"), "/opt/venv"),
        (
            "bind_mounts: [{host_path: /a, container_path: b}]",
            ("bind_mounts",),
            [{"host_path": "/a", "container_path": "b", "read_only": False, "propagation": "rprivate"}],
        ),
        ("data: {url: x, deep: {er: [1]}}", ("data",), {"url": "x", "deep": {"er": [1]}}),
        ("slurm: {sbatch_args: [--mem=1g]}", ("slurm", "sbatch_args"), ["--mem=1g"]),
        ("security: {kerberos: {config_file: /k}}", ("security",), {"kerberos": {"config_file": "/k"}}),
    ],
)
def test_each_way_of_writing_a_key_has_one_resolved_form(
    written: str, path: tuple[str | int, ...], value: object, parse: Parse
) -> None:
    found: Any = parse(f"{LEAST}{written}\n").resolved
    for key in path:
        found = found[key]

    assert found == value


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("slots_per_trial: 2", "slots_per_trial: unknown key here; it belongs at resources.slots_per_trial"),
        ("max_restart: 2", "max_restart: unknown key; did you mean max_restarts?"),
        ("zebra: 2", "zebra: unknown key; remove it"),
        ("resources: {slots_per_trial: two}", 'resources.slots_per_trial: "two" is not a whole number'),
        ("resources: {slots_per_trial: true}", "resources.slots_per_trial: true is not a whole number"),
        ("resources: {slots_per_trial: -1}", "resources.slots_per_trial: -1 is out of range; it must be at least 0"),
        ("resources: {priority: 0}", "resources.priority: 0 is out of range; it must be at least 1"),
        ("resources: {priority: 100}", "resources.priority: 100 is out of range; it must be at most 99"),
        ("resources: {weight: 0}", "resources.weight: 0 is out of range; it must be greater than 0.0"),
        (
            "resources: {shm_size: big}",
            'resources.shm_size: "big" is not a size; write for example 2g, 512m or a number of bytes',
        ),
        ("resources: {searcher: 3}", "resources.searcher: unknown key here; it belongs at the top level"),
        ("resources: 8", "resources: 8 is not a map of keys to values"),
        ("debug: 'yes'", 'debug: "yes" is not true or false'),
        ("max_restarts: -1", "max_restarts: -1 is out of range; it must be at least 0"),
        ("scheduling_unit: 0", "scheduling_unit: 0 is out of range; it must be at least 1"),
        ("checkpoint_policy: bets", 'checkpoint_policy: "bets" is not known; did you mean best?'),
        ("labels: vision", 'labels: "vision" is not a list; start each item with a dash'),
        ("name: 3", "name: 3 is not text; put it in quotes if it is meant as text"),
        ("name: ''", "name: is empty; give it a value"),
        ("entrypoint: []", "entrypoint: is empty; write a command such as `python3 train.py`, or module:Class"),
        ("entrypoint: ' '", "entrypoint: is empty; write a command such as `python3 train.py`, or module:Class"),
        ("entrypoint: {a: b}", 'entrypoint: {"a": "b"} is not text; put it in quotes if it is meant as text'),
        (
            "min_validation_period: 100",
            "min_validation_period: 100 is not a length; write for example {batches: 100}",
        ),
        (
            "min_checkpoint_period: {}",
            "min_checkpoint_period: a length needs one unit; write for example {batches: 100}, {records: 5000}"
            " or {epochs: 2}",
        ),
        (
            "environment: {pod_spec: {spec: {containers: [{name: determined-container, image: mine}]}}}",
            "environment.pod_spec.spec.containers[0].image: is not configurable for determined-container, which the "
            "platform sets up; use the keys of environment",
        ),
        ("log_policies: [{action: cancel_retries}]", "log_policies[0].pattern: is missing; add it"),
        (
            "resources: {devices: [/h]}",
            'resources.devices[0]: "/h" is not host_path:container_path or host_path:container_path:mode',
        ),
        (
            "log_policies: [{pattern: '(['}]",
            'log_policies[0].pattern: "([" is not a regular expression: unterminated character set at position 1',
        ),
        (
            "log_policies: [{pattern: a, action: retry}]",
            'log_policies[0].action: "retry" is not known; use one of cancel_retries, exclude_node',
        ),
        (
            "retention_policy: {log_retention_days: -2}",
            "retention_policy.log_retention_days: -2 is out of range; it must be at least -1",
        ),
        (
            "profiling: {begin_on_batch: 5, end_after_batch: 2}",
            "profiling.end_after_batch: 2 is before begin_on_batch 5; raise it, or leave it out to profile to the end",
        ),
        (
            "optimizations: {mixed_precision: O7}",
            'optimizations.mixed_precision: "O7" is not known; use one of O0, O1, O2, O3',
        ),
        (
            "environment: {environment_variables: {FOO: 1}}",
            "environment.environment_variables: is a list, not a map; write `- FOO=1`",
        ),
        (
            "environment: {environment_variables: [FOO: 1]}",
            'environment.environment_variables[0]: {"FOO": 1} is not text; put it in quotes if it is meant as text',
        ),
        (
            "environment: {environment_variables: [1A=2]}",
            'environment.environment_variables[0]: "1A=2" is not NAME=value; a name has letters, digits and _ only',
        ),
        (
            "environment: {python: /a, requirements: b}",
            "environment.requirements: python and requirements both choose the environment; keep one",
        ),
        ("environment: {imgae: x}", "environment.imgae: unknown key; did you mean image?"),
        (
            "environment: {ports: {web: 99999}}",
            "environment.ports.web: 99999 is out of range; it must be at most 65535",
        ),
        (
            "bind_mounts: [{host_path: data, container_path: /d}]",
            'bind_mounts[0].host_path: "data" is not an absolute path; start it with /',
        ),
        ("bind_mounts: [{host_path: /data}]", "bind_mounts[0].container_path: is missing; add it"),
        (
            "bind_mounts: [{host_path: /data, container_path: .}]",
            'bind_mounts[0].container_path: "." would hide the working directory; name a folder in it',
        ),
        (
            "reproducibility: {experiment_seed: -1}",
            "reproducibility.experiment_seed: -1 is out of range; it must be at least 0",
        ),
    ],
)
def test_a_refusal_names_line_key_value_and_remedy(written: str, problem: str, refusals: Refusals) -> None:
    assert refusals(f"{LEAST}{written}\n") == [f"exp.yaml:2: {problem}"]


def test_all_problems_are_told_at_once_in_the_order_of_the_file(refusals: Refusals) -> None:
    problems = refusals(
        "name: a\n"
        "resources: {slots_per_trail: 1}\n"
        "searcher:\n"
        "  name: grid\n"
        "  metric: loss\n"
        "hyperparameters:\n"
        "  lr: {type: double, minval: 0, maxval: 1}\n"
        "max_restarts: -1\n"
        "name: b\n"
    )

    assert [problem.split(": ")[0:2] for problem in problems] == [
        ["exp.yaml:1", "name"],
        ["exp.yaml:2", "resources.slots_per_trail"],
        ["exp.yaml:7", "hyperparameters.lr.count"],
        ["exp.yaml:8", "max_restarts"],
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "exp.yaml: is empty; write keys such as `name: my-experiment`, one per line"),
        ("# nothing\n", "exp.yaml: is empty; write keys such as `name: my-experiment`, one per line"),
        ("- a\n", "exp.yaml:1: is a list, not a map; write keys such as `name: my-experiment`, one per line"),
        ("hello\n", "exp.yaml:1: is a single value, not a map; write keys such as `name: my-experiment`, one per line"),
        (
            "a:\n\tb: 1\n",
            "exp.yaml:2: is not YAML: there is a tab in the indentation of 'b: 1'; indent with spaces",
        ),
    ],
)
def test_a_text_that_is_no_configuration_is_refused(text: str, problem: str, refusals: Refusals) -> None:
    assert refusals(text) == [problem]


def test_secrets_stay_out_of_messages(refusals: Refusals) -> None:
    storage = "checkpoint_storage: {type: s3, bucket: b, access_key: AKIA, secret_key: [hunter2]}"

    problems = refusals(f"{LEAST}{storage}\n")

    assert len(problems) == 1
    assert "checkpoint_storage.secret_key" in problems[0]
    assert "hunter2" not in problems[0]


def test_a_trial_too_large_for_its_pool_is_told_apart(parse: Parse) -> None:
    large = parse(f"{LEAST}resources: {{slots_per_trial: 5}}\n")
    fitting = parse(f"{LEAST}resources: {{slots_per_trial: 4}}\n")
    growing = parse(f"{LEAST}resources: {{slots_per_trial: 5, resource_pool: gpus}}\n")

    assert large.exceeds_slots
    assert "pool default has at most 4 slots" in large.warnings[0]
    assert not fitting.exceeds_slots
    assert not growing.exceeds_slots


def test_a_pool_that_does_not_exist_is_refused_with_its_line_and_the_nearest_name(refusals: Refusals) -> None:
    problems = refusals(f"{LEAST}resources:\n  resource_pool: gpu\n")

    assert len(problems) == 1
    assert "resources.resource_pool: there is no resource pool 'gpu'; did you mean gpus?" in problems[0]
    assert "There are: default, gpus." in problems[0]


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("environment: {image: x}", "environment.image"),
        ("environment: {force_pull_image: true}", "environment.force_pull_image"),
        ("environment: {registry_auth: {username: me}}", "environment.registry_auth"),
        ("environment: {add_capabilities: [SYS_PTRACE]}", "environment.add_capabilities"),
        ("environment: {pod_spec: {spec: {}}}", "environment.pod_spec"),
        ("resources: {shm_size: 1g}", "resources.shm_size"),
        ("resources: {devices: [{host_path: /dev/x, container_path: /dev/x}]}", "resources.devices"),
        ("resources: {agent_label: a}", "resources.agent_label"),
        ("slurm: {slots_per_node: 4}", "slurm"),
        ("pbs: {slots_per_node: 4}", "pbs"),
        ("data_layer: {type: s3}", "data_layer"),
        ("security: {kerberos: {config_file: x}}", "security"),
        ("tensorboard_storage: {type: s3}", "tensorboard_storage"),
        ("integrations: {pachyderm: {pachd: {host: x}}}", "integrations.pachyderm"),
    ],
)
def test_a_key_without_effect_here_is_kept_and_warned_about(written: str, key: str, parse: Parse) -> None:
    parsed = parse(f"{LEAST}{written}\n")
    section, _, name = key.partition(".")
    kept = parsed.resolved[section][name] if name else parsed.resolved[section]

    assert len(parsed.warnings) == 1
    assert parsed.warnings[0].startswith(f"exp.yaml:2: {key}: has no effect")
    assert kept not in (None, False, [], {})


def test_an_image_means_something_where_there_are_containers(parse: Parse) -> None:
    parsed = parse(f"{LEAST}environment: {{image: x}}\n", defaults=replace(CLUSTER, runner="kubernetes"))

    assert parsed.warnings == ()


def test_a_key_set_to_its_default_is_not_warned_about(parse: Parse) -> None:
    assert parse(f"{LEAST}environment: {{image: null, force_pull_image: false}}\nslurm: {{}}\n").warnings == ()
