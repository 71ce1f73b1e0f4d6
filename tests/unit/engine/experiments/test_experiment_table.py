"""The table of experiments: any column filters and sorts, and few statements fill it."""

import json
from typing import Any

import pytest

from resolute.domain.errors import InvalidInput, NotFound
from resolute.engine.access.workspaces import add_project, add_workspace
from resolute.engine.experiments.changes import archive_experiment, move_experiment, patch_experiment
from resolute.engine.experiments.table import experiment_table, metric_ranges, table_columns
from resolute.engine.ports.queries import PageRequest

CONFIG = """
name: {name}
entrypoint: python3 train.py
searcher: {{name: single, metric: loss}}
hyperparameters: {{lr: {lr}, optimizer: {{name: adam}}}}
max_restarts: 0
"""


def trained(world: Any, name: str, lr: float, loss: float | None = None, **metrics: float) -> int:
    """A finished experiment; without a loss it never validated."""
    experiment = world.create(CONFIG.format(name=name, lr=lr))
    world.tick()
    (trial,) = world.trials(experiment.id)
    if loss is not None:
        world.validate(trial, 1, loss=loss, **metrics)
    world.finish(trial)
    return int(experiment.id)


@pytest.fixture
def three(world: Any) -> tuple[int, int, int]:
    return trained(world, "b", 0.1, 0.5), trained(world, "a", 0.3, 0.1), trained(world, "c", 0.2, 0.5)


def ids(world: Any, **options: Any) -> list[int]:
    return [row.summary.experiment.id for row in experiment_table(world.platform, **options).items]


def where(column: str, operator: str, value: Any = None) -> str:
    return json.dumps({"columnName": column, "operator": operator, "value": value})


def test_the_newest_come_first_when_nothing_is_said(world: Any, three: tuple[int, int, int]) -> None:
    assert ids(world) == sorted(three, reverse=True)


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("name=asc", "abc"),
        ("name=desc", "cba"),
        ("hp.lr=desc", "acb"),
        ("validation.loss.min=asc,name=desc", "acb"),
        ("searcherMetricsVal=desc,hp.lr=asc", "bca"),
        ("startTime=asc", "bac"),
        ("numTrials=asc,id=asc", "bac"),
        ("nothing=asc,name=asc", "abc"),
    ],
)
def test_it_is_sorted_by_any_columns_the_first_counts_most(
    world: Any, three: tuple[int, int, int], sort: str, order: str
) -> None:
    rows = experiment_table(world.platform, sort=sort).items

    assert "".join(row.summary.experiment.name for row in rows) == order


@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_those_without_a_value_come_last_either_way(world: Any, direction: str) -> None:
    silent = trained(world, "silent", 0.1)
    loud = trained(world, "loud", 0.1, 0.5)

    assert ids(world, sort=f"validation.loss.last={direction}") == [loud, silent]


def test_numbers_come_before_words(world: Any) -> None:
    word = world.create(CONFIG.format(name="w", lr="auto")).id
    number = world.create(CONFIG.format(name="n", lr=5)).id

    assert ids(world, sort="hp.lr=asc") == [number, word]


def test_metrics_hyperparameters_and_fields_filter_together(world: Any, three: tuple[int, int, int]) -> None:
    first, second, third = three
    both = json.dumps({"children": [json.loads(where("hp.lr", ">", 0.15)), json.loads(where("name", "!=", "a"))]})

    assert ids(world, filter=where("validation.loss.max", "<", 0.3)) == [second]
    assert ids(world, filter=both) == [third]
    assert ids(world, filter=where("searcherType", "=", "single"), sort="id=asc") == [first, second, third]
    assert ids(world, filter=where("user", "contains", "nobody")) == []


def test_how_long_one_took_is_a_column_and_what_runs_is_counted_up_to_now(world: Any) -> None:
    short = trained(world, "short", 0.1, 0.1)
    running = world.create(CONFIG.format(name="running", lr=0.1)).id
    world.tick()
    world.clock.forward(1000)

    assert ids(world, sort="duration=asc") == [short, running]
    assert ids(world, filter=where("duration", ">", 900)) == [running]


def test_archived_ones_can_be_left_out(world: Any, three: tuple[int, int, int]) -> None:
    archive_experiment(world.platform, three[1])
    hide = json.dumps({"filterGroup": {"kind": "group", "children": []}, "showArchived": False})

    assert ids(world, filter=hide) == [three[2], three[0]]
    assert ids(world) == sorted(three, reverse=True)


def test_a_page_is_cut_after_sorting_and_knows_the_total(world: Any, three: tuple[int, int, int]) -> None:
    found = experiment_table(world.platform, sort="name=asc", page=PageRequest(offset=1, limit=1))

    assert [row.summary.experiment.name for row in found.items] == ["b"]
    assert (found.total, found.offset) == (3, 1)
    assert ids(world, sort="name=asc", page=PageRequest(offset=-1)) == [three[2]]
    assert ids(world, page=PageRequest(limit=0)) == []


def test_a_row_shows_its_best_trial_and_one_that_never_validated_has_none(world: Any) -> None:
    trained(world, "silent", 0.1)
    loud = trained(world, "loud", 0.1, 0.5, accuracy=0.9)

    first, second = experiment_table(world.platform, sort="name=asc").items

    assert first.best_trial is not None
    assert first.best_trial.trial.experiment_id == loud
    assert first.best_trial.best is not None
    assert first.best_trial.best.metrics == {"loss": 0.5, "accuracy": 0.9}
    assert second.best_trial is None


def test_only_experiments_of_the_project_and_the_workspaces_one_may_see_are_there(world: Any) -> None:
    near, far = trained(world, "near", 0.1), trained(world, "far", 0.1)
    workspace = add_workspace(world.platform, user=world.user, name="far")
    project = add_project(world.platform, user=world.user, workspace_id=workspace.id, name="p")
    move_experiment(world.platform, far, project.id)

    assert ids(world, project_id=project.id) == [far]
    assert ids(world, visible_in=frozenset({1})) == [near]
    assert ids(world, project_id=project.id, visible_in=frozenset({1})) == []


def test_a_filter_that_is_none_is_refused_before_anything_is_read(world: Any, count_statements: Any) -> None:
    with count_statements() as counted, pytest.raises(InvalidInput, match="filter: not JSON"):
        experiment_table(world.platform, filter="{")

    assert counted.selects == 0


def test_a_longer_table_takes_no_more_statements(world: Any, count_statements: Any) -> None:
    def statements() -> int:
        with count_statements() as counted:
            experiment_table(world.platform, sort="validation.loss.min=asc")
        return int(counted.selects)

    trained(world, "a", 0.1, 0.5)
    trained(world, "b", 0.1, 0.5)
    few = statements()
    for number in range(5):
        trained(world, f"c{number}", 0.1, 0.5)

    assert statements() == few


def test_metrics_are_not_read_when_no_column_asks_for_them(world: Any, count_statements: Any) -> None:
    trained(world, "a", 0.1, 0.5)

    def statements(sort: str) -> int:
        with count_statements() as counted:
            experiment_table(world.platform, sort=sort)
        return int(counted.selects)

    assert statements("hp.lr=asc") == statements("validation.loss.min=asc") - 1


# ----------------------------------------------------------------------------------------------------------- columns


def test_columns_are_the_hyperparameters_of_all_and_the_metrics_of_the_best_trials(world: Any) -> None:
    trained(world, "a", 0.1, 0.5, accuracy=0.9)
    world.create("{name: x, entrypoint: x, searcher: {name: single, metric: loss}, hyperparameters: {depth: 3}}")

    shown = table_columns(world.platform, 1)

    assert shown.hyperparameters == ["depth", "lr", "optimizer"]
    assert shown.metrics == [("validation", "accuracy"), ("validation", "loss")]


def test_ranges_go_from_the_smallest_to_the_largest_of_all_best_trials(world: Any) -> None:
    trained(world, "a", 0.1, 0.5, accuracy=0.9)
    trained(world, "b", 0.1, 0.1)
    trained(world, "c", 0.1, 0.3, accuracy=0.2)

    assert metric_ranges(world.platform, 1) == {
        "validation.accuracy": (0.2, 0.9),
        "validation.loss": (0.1, 0.5),
    }


def test_a_metric_that_was_never_a_number_has_no_range(world: Any) -> None:
    trained(world, "a", 0.1, 0.5, note="fine")  # type: ignore[arg-type]

    assert metric_ranges(world.platform, 1) == {"validation.loss": (0.5, 0.5)}


@pytest.mark.parametrize("read", [table_columns, metric_ranges])
def test_a_project_that_is_not_there_is_not_found(world: Any, read: Any) -> None:
    with pytest.raises(NotFound, match="project not found: 99"):
        read(world.platform, 99)


def test_a_new_name_is_seen_at_once(world: Any, three: tuple[int, int, int]) -> None:
    patch_experiment(world.platform, three[0], name="renamed")

    assert ids(world, filter=where("name", "=", "renamed")) == [three[0]]
