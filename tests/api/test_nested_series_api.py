"""Series of values inside nested metrics, as a profiler reports them by node."""

from typing import Any


def series(api: Any, trial: Any, *names: str, **query: Any) -> dict[str, list[Any]]:
    found = api.get(f"/api/v1/trials/{trial.id}/series", group="cpu", name=list(names), **query)["series"]
    return {each["name"]: each["values"] for each in found}


def test_a_value_inside_a_metric_is_found_by_its_path(api: Any) -> None:
    trial = api.running()
    for step, load in ((1, 10.0), (2, 90.0)):
        trial.report("cpu", step, **{"node-1": {"cpu_util": load, "deep": {"cores": 2}}})

    found = series(api, trial, "node-1.cpu_util", "node-1.deep.cores")

    assert found == {"node-1.cpu_util": [10.0, 90.0], "node-1.deep.cores": [2.0, 2.0]}


def test_a_nodes_name_may_hold_dots(api: Any) -> None:
    trial = api.running()
    trial.report("cpu", 1, **{"node.example.org": {"cpu_util": 5.0}})

    assert series(api, trial, "node.example.org.cpu_util") == {"node.example.org.cpu_util": [5.0]}


def test_only_new_points_and_as_few_as_wanted_come(api: Any) -> None:
    trial = api.running()
    for step in range(1, 41):
        trial.report("cpu", step, node={"cpu_util": float(step)})

    tail = series(api, trial, "node.cpu_util", since=38)
    thinned = series(api, trial, "node.cpu_util", maxPoints=10)

    assert tail == {"node.cpu_util": [39.0, 40.0]}
    assert len(thinned["node.cpu_util"]) <= 10
    assert (thinned["node.cpu_util"][0], thinned["node.cpu_util"][-1]) == (1.0, 40.0)


def test_what_is_not_a_number_or_not_there_has_no_series(api: Any) -> None:
    trial = api.running()
    trial.report("cpu", 1, node={"cpu_util": 1.0, "name": "x", "is_on": True})

    assert series(api, trial, "node.name", "node.is_on", "node.other", "node.cpu_util.more", "a.b") == {}
