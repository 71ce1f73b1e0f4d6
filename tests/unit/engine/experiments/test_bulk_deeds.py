"""One deed on many experiments."""

from typing import Any

import pytest

from resolute.domain.experiment import ExperimentState
from resolute.domain.rights import Permission, Rights, basic_rights
from resolute.engine.experiments.bulk import Done, do_for_each, experiments_meant
from resolute.engine.experiments.changes import archive_experiment, delete_experiment, kill_experiment, pause_experiment
from resolute.engine.experiments.submission import create_experiment
from resolute.engine.ports.queries import ExperimentQuery

CONFIG = "{name: a, entrypoint: x, searcher: {name: single, metric: loss}}"


@pytest.fixture
def rights(world: Any) -> Rights:
    return basic_rights(world.user)


def test_it_is_done_to_each_in_the_order_given_and_once(world: Any, rights: Rights) -> None:
    first, second = world.create().id, world.create().id
    done: list[int] = []

    told = do_for_each(
        world.platform,
        [second, first, second],
        lambda platform, each: done.append(each),
        rights=rights,
        permission=Permission.UPDATE_EXPERIMENT,
    )

    assert done == [second, first]
    assert told == [Done(second), Done(first)]


def test_what_fails_is_told_beside_its_id_and_stops_nobody_else(world: Any, rights: Rights) -> None:
    running, ended = world.create().id, world.create().id
    kill_experiment(world.platform, ended)

    told = do_for_each(
        world.platform, [ended, 99, running], pause_experiment, rights=rights, permission=Permission.UPDATE_EXPERIMENT
    )

    assert [each.experiment_id for each in told] == [ended, 99, running]
    assert "CANCELED" in told[0].error
    assert told[1].error == "experiment not found: 99"
    assert told[2].error == ""
    assert world.experiment(running).state is ExperimentState.PAUSED


def test_each_is_asked_for_by_itself_what_one_may_not_is_left_alone(world: Any) -> None:
    own = world.create().id
    foreign = create_experiment(world.platform, user=world.person("ann"), config_text=CONFIG).experiment.id
    for each in (own, foreign):
        kill_experiment(world.platform, each)

    mine, hers = do_for_each(
        world.platform,
        [own, foreign],
        delete_experiment,
        rights=basic_rights(world.user),
        permission=Permission.DELETE_EXPERIMENT,
    )

    assert mine == Done(own)
    assert "ann" in hers.error or "owner" in hers.error
    assert world.experiment(foreign).state is ExperimentState.CANCELED


def test_a_filter_names_experiments_except_those_taken_out(world: Any) -> None:
    first, second, third = (world.create().id for _ in range(3))
    archive_experiment_when_over(world, third)

    assert experiments_meant(world.platform, ExperimentQuery(archived=False), excluded=[second]) == [first]
    assert experiments_meant(world.platform, ExperimentQuery(visible_in=frozenset())) == []


def archive_experiment_when_over(world: Any, experiment_id: int) -> None:
    kill_experiment(world.platform, experiment_id)
    archive_experiment(world.platform, experiment_id)
