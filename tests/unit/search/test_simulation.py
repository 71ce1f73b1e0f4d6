"""What a search will cost: counts, wall time, the picture, and busy workers."""

from typing import Any

import pytest

from resolute.domain.errors import InvalidInput
from resolute.search.simulate import simulate

SPACE = {"rate": {"type": "double", "minval": 0, "maxval": 1, "count": 4}}


def section(name: str = "adaptive_asha", **more: Any) -> dict[str, Any]:
    return {"name": name, "metric": "loss", "max_trials": 16, "max_length": {"batches": 64}} | more


def test_random_trains_every_trial_to_the_end() -> None:
    simulation = simulate(section("random", max_concurrent_trials=0), SPACE, 1, slots=4)

    assert simulation.total_units == 16 * 64
    assert simulation.wall_time == 4 * 64
    assert simulation.utilisation == 1.0
    assert simulation.preview() == [{"count": 16, "unit": {"name": "batches", "value": 64, "maxLength": True}}]


def test_trials_of_several_slots_take_turns() -> None:
    simulation = simulate(section("random"), SPACE, 1, slots=8, slots_per_trial=4, seconds_per_unit=0.5)

    assert simulation.wall_time == 8 * 64 * 0.5


def test_a_grid_counts_its_points() -> None:
    simulation = simulate({"name": "grid", "metric": "loss"}, SPACE, 1, slots=2)

    assert len(simulation.trials) == 4
    assert simulation.length is None
    assert simulation.preview() == [{"count": 4, "unit": {"name": "trials", "value": 1, "maxLength": False}}]


@pytest.mark.parametrize("stop_once", [True, False])
def test_halving_costs_a_part_of_training_everything(stop_once: bool) -> None:
    simulation = simulate(section(max_trials=64, stop_once=stop_once), SPACE, 1, slots=4)

    assert len(simulation.trials) == 64
    assert sum(row["count"] for row in simulation.preview()) == 64
    assert simulation.total_units < 0.5 * 64 * 64
    assert [view.max_trials for view in simulation.brackets] == [45, 14, 5]
    for view in simulation.brackets:
        assert view.reached[0] == view.max_trials
        assert list(view.reached) == sorted(view.reached, reverse=True)


def test_a_promotion_search_keeps_about_the_top_fraction() -> None:
    simulation = simulate(section("async_halving", num_rungs=3, max_trials=64, stop_once=False), SPACE, 1, slots=4)

    assert simulation.brackets[0].lengths == (4, 16, 64)
    # Promotions happen before all results are in, so a few more than a quarter go up.
    first, second, third = simulation.brackets[0].reached
    assert first == 64
    assert 16 <= second <= 24
    assert 4 <= third <= 8


def test_a_population_trains_its_rounds() -> None:
    config = {"name": "pbt", "metric": "loss", "population_size": 10, "num_rounds": 3, "length_per_round": 5}

    simulation = simulate(config, SPACE, 1, slots=10)

    assert simulation.total_units == 10 * 3 * 5
    assert simulation.wall_time == 15
    assert simulation.unit == "units"
    assert simulation.preview()[0]["unit"]["value"] == max(trial.units for trial in simulation.trials)
    rows = [row for row in simulation.picture().splitlines() if "█" in row]
    lengths = [int(row.split()[0]) for row in rows]
    assert lengths == sorted(lengths)


@pytest.mark.parametrize("stop_once", [True, False])
def test_500_workers_stay_busy_beside_stragglers(stop_once: bool) -> None:
    config = section(max_trials=4000, max_length={"batches": 256}, max_concurrent_trials=500, stop_once=stop_once)

    simulation = simulate(config, SPACE, 7, slots=500, pace=lambda trial: 10.0 if trial % 20 == 0 else 1.0)

    assert len(simulation.trials) == 4000
    assert simulation.utilisation >= 0.99


def test_workers_without_work_lower_the_utilisation() -> None:
    """The measure above can fail: by too few trials at once, and by a method whose rounds wait for the slowest."""

    def pace(trial: int) -> float:
        return 10.0 if trial % 20 == 0 else 1.0

    narrow = section(max_trials=1000, max_length={"batches": 256}, max_concurrent_trials=400)
    rounds = {"name": "pbt", "metric": "loss", "population_size": 500, "num_rounds": 4, "length_per_round": 16}

    assert simulate(narrow, SPACE, 7, slots=500, pace=pace).utilisation < 0.81
    assert simulate(rounds, SPACE, 7, slots=500, pace=pace).utilisation < 0.5


def test_the_same_seed_gives_the_same_simulation() -> None:
    one, two = (simulate(section(), SPACE, 5, slots=3) for _ in range(2))

    assert one == two


def test_the_picture_shows_every_rung() -> None:
    text = simulate(section(max_trials=64), SPACE, 1, slots=4).picture()

    assert text.splitlines()[0].startswith("64 trials, ")
    assert "of training every trial to the end); wall time on 4 slots: " in text
    assert text.count("rung ") >= 9
    assert "bracket 1: 4 rungs, 45 trials" in text
    assert "          64 batches  " in text
    assert "█ " in text


def test_the_picture_of_a_search_without_rungs_shows_lengths() -> None:
    text = simulate(
        {"name": "single", "metric": "loss", "max_time": 7, "time_metric": "days"}, SPACE, 1, slots=1
    ).picture()

    assert text.splitlines() == [
        "1 trial, 7 days in all; wall time on 1 slot: 7 s",
        "",
        f"                   7 days     {'█' * 40} 1",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(1.0, "64 s"), (60.0, "64 min"), (3600.0, "2.7 days"), (600.0, "10.7 h")]
)
def test_wall_time_is_told_in_fitting_units(seconds: float, text: str) -> None:
    config = {"name": "single", "metric": "loss", "max_length": {"batches": 64}}

    assert simulate(config, SPACE, 1, slots=1, seconds_per_unit=seconds).picture().splitlines()[0].endswith(text)


def test_a_goal_ends_a_simulation_early() -> None:
    simulation = simulate(section("random", goal=10.0, max_concurrent_trials=4), SPACE, 1, slots=2)

    assert len(simulation.trials) == 4


def test_too_few_slots_are_refused() -> None:
    with pytest.raises(InvalidInput, match="2 slots cannot hold a trial of 4"):
        simulate(section(), SPACE, 1, slots=2, slots_per_trial=4)


def test_a_custom_search_cannot_be_simulated() -> None:
    with pytest.raises(InvalidInput, match="decides outside"):
        simulate({"name": "custom", "metric": "loss"}, SPACE, 1, slots=1)
