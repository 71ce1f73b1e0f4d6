"""Several trials by one request, as the list of experiments asks for the metrics of its best trials."""

from typing import Any


def test_trials_come_in_the_order_asked_for_with_their_best_validation(api: Any) -> None:
    first, second = api.running(), api.running()
    first.report("validation", 1, loss=0.5)
    second.report("validation", 1, loss=0.25)

    found = api.get("/api/v1/trials", ids=[second.id, first.id, second.id])["trials"]

    assert [trial["id"] for trial in found] == [second.id, first.id]
    assert [trial["bestValidation"]["metrics"]["avgMetrics"]["loss"] for trial in found] == [0.25, 0.5]


def test_what_is_not_there_is_left_out(api: Any) -> None:
    trial = api.running()

    found = api.get("/api/v1/trials", ids=[999_999, trial.id])["trials"]

    assert [each["id"] for each in found] == [trial.id]


def test_none_and_too_many_are_refused(api: Any) -> None:
    api.get("/api/v1/trials", expect=400)
    api.get("/api/v1/trials", ids=list(range(1, 202)), expect=400)
