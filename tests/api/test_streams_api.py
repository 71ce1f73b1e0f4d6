"""Streams: logs that are followed, the master's log, change events; all end cleanly and hold no thread."""

import asyncio
import logging
import threading
from collections.abc import Coroutine
from typing import Any

import pytest

from resolute.domain.errors import NotFound
from resolute.domain.log import LogLevel, LogLine
from resolute.engine.bus import Bus
from resolute.engine.ports.logs import LogQuery
from resolute.server.events import _events
from resolute.server.following import log_batches
from resolute.server.routes.master import _master_lines
from resolute.server.streams import _lines, _lines_sync
from resolute.server.watch import Watches


def run(work: Coroutine[Any, Any, Any]) -> Any:
    async def bounded() -> Any:
        return await asyncio.wait_for(work, 30)

    return asyncio.run(bounded())


def line(text: str, *, rank: int = 0, level: LogLevel = LogLevel.INFO, at: int = 1_767_268_800_000_000) -> LogLine:
    return LogLine(timestamp_us=at, text=text, rank=rank, level=level)


def test_log_lines_are_formatted_as_a_terminal_shows_them(api: Any) -> None:
    trial = api.running()
    api.platform.logs.append(trial.task_id, [line("hello", rank=3, level=LogLevel.WARNING)])

    found = api.lines(f"/api/v1/trials/{trial.id}/logs", rankIds=3)

    assert found[0]["message"] == "[2026-01-01T12:00:00.000000Z]          [rank=3] || WARNING: hello\n"
    assert (found[0]["level"], found[0]["rankId"], found[0]["trialId"]) == ("LOG_LEVEL_WARNING", 3, trial.id)
    assert isinstance(found[0]["id"], str)


def test_logs_are_filtered_and_cut(api: Any) -> None:
    trial = api.running()
    lines = [line(f"line {n}", rank=n % 2, level=LogLevel.ERROR if n == 7 else LogLevel.INFO) for n in range(3000)]
    api.platform.logs.append(trial.task_id, lines)
    path = f"/api/v1/trials/{trial.id}/logs"

    def texts(**query: Any) -> list[str]:
        return [each["log"].strip() for each in api.lines(path, **query)]

    assert len(texts(searchText="line")) == 3000
    assert texts(levels="LOG_LEVEL_ERROR") == ["line 7"]
    assert texts(searchText="line 12.9$", enableRegex=True)[0] == "line 1209"
    assert texts(limit=2, orderBy="ORDER_BY_DESC") == ["line 2999", "line 2998"]
    assert len(texts(rankIds=1, limit=1200)) == 1200


def test_a_negative_limit_is_refused(api: Any) -> None:
    trial = api.running()

    api.get(f"/api/v1/trials/{trial.id}/logs", expect=400, limit=-5)


def test_task_logs_carry_their_own_fields(api: Any) -> None:
    trial = api.running()
    api.platform.logs.append(trial.task_id, [line("hello")])

    found = api.lines(f"/api/v1/tasks/{trial.task_id}/logs")[-1]
    (fields,) = api.lines(f"/api/v1/tasks/{trial.task_id}/logs/fields")

    assert (found["taskId"], found["log"]) == (trial.task_id, "hello\n")
    assert (fields["rankIds"], fields["stdtypes"]) == ([0], ["stdout"])


def test_logs_of_nobody_are_404_before_the_stream_begins(api: Any) -> None:
    api.get("/api/v1/trials/99/logs", expect=404)
    api.get("/api/v1/tasks/nope/logs", expect=404)


def test_lines_are_shipped_by_tasks_that_are_not_ours(api: Any) -> None:
    trial = api.running()
    shipped = [{"task_id": trial.task_id, "timestamp": "2026-01-01T12:00:00Z", "log": "from afar\n", "rank": 1}]

    trial.api.post("/task-logs", shipped)
    trial.api.post(
        "/api/v1/task/logs", {"logs": [{"taskId": trial.task_id, "log": "again", "level": "LOG_LEVEL_ERROR"}]}
    )

    found = [(each["log"], each["rankId"], each["level"]) for each in api.lines(f"/api/v1/trials/{trial.id}/logs")]
    assert ("from afar\n", 1, "LOG_LEVEL_INFO") in found
    assert ("again\n", None, "LOG_LEVEL_ERROR") in found


def test_a_task_may_not_write_into_anothers_log(api: Any) -> None:
    first, second = api.running(), api.running()

    first.api.post("/api/v1/task/logs", {"logs": [{"taskId": second.task_id, "log": "x"}]}, expect=403)


def test_a_followed_log_shows_new_lines_and_ends_with_the_trial(api: Any) -> None:
    trial = api.running()
    api.platform.logs.append(trial.task_id, [line("first")])

    async def follow() -> list[str]:
        watches = Watches(api.platform.bus)
        found = []
        wrote = 0
        async for batch in log_batches(api.platform, watches, trial.task_id, LogQuery(ranks=(0,)), follow=True):
            found += [each.text for each in batch]
            wrote += 1
            if wrote == 1:
                api.platform.logs.append(trial.task_id, [line("second")])
            if wrote == 2:
                api.platform.logs.append(trial.task_id, [line("last words")])
                trial.exit()
        return found

    assert run(follow()) == ["first", "second", "last words"]


def test_a_follower_with_a_limit_stops_when_it_has_enough(api: Any) -> None:
    trial = api.running()
    api.platform.logs.append(trial.task_id, [line(str(n)) for n in range(5)])

    async def follow() -> list[str]:
        query = LogQuery(ranks=(0,), limit=3)
        batches = log_batches(api.platform, Watches(api.platform.bus), trial.task_id, query, follow=True)
        return [each.text async for batch in batches for each in batch]

    assert run(follow()) == ["0", "1", "2"]


def test_followers_let_go_when_the_server_stops(api: Any) -> None:
    trial = api.running()

    async def follow() -> int:
        watches = Watches(api.platform.bus)
        asyncio.get_running_loop().call_later(0.01, watches.stop)
        batches = log_batches(api.platform, watches, trial.task_id, LogQuery(), follow=True)
        return len([batch async for batch in batches])

    assert run(follow()) <= 1


def test_following_a_trial_that_has_ended_answers_at_once(api: Any) -> None:
    trial = api.running()
    api.platform.logs.append(trial.task_id, [line("only")])
    trial.exit()

    found = api.lines(f"/api/v1/trials/{trial.id}/logs", follow=True, rankIds=0)

    assert [each["log"] for each in found] == ["only\n"]


def test_a_waiting_trial_hears_of_preemption_without_polling(api: Any) -> None:
    trial = api.running()
    pause = threading.Timer(0.05, api.post, (f"/api/v1/experiments/{trial.experiment_id}/pause",))
    pause.start()

    answer = trial.api.get(f"/api/v1/allocations/{trial.allocation_id}/signals/preemption", timeoutSeconds=30)

    pause.join()
    assert answer == {"preempt": True}


def test_the_masters_log_is_read_from_either_end(api: Any) -> None:
    logger = logging.Logger("resolute.test")
    logger.addHandler(api.logbook)
    for number in range(5):
        logger.warning("entry %d", number)

    last = api.lines("/api/v1/master/logs", offset=-2)
    first = api.lines("/api/v1/master/logs", limit=1)

    assert [each["logEntry"]["message"] for each in last] == ["resolute.test: entry 3", "resolute.test: entry 4"]
    assert first[0]["logEntry"]["level"] == "LOG_LEVEL_WARNING"
    assert first[0]["logEntry"]["id"] == 0


def test_the_masters_log_is_followed(api: Any) -> None:
    logger = logging.Logger("resolute.test")
    logger.addHandler(api.logbook)
    logger.info("one")

    async def follow() -> list[str]:
        state = api.client.app.state.server
        found = []
        async for batch in _master_lines(state, 0, 2, True):
            found += [each["logEntry"]["message"] for each in batch]
            if len(found) == 1:
                logger.info("two")
        return found

    assert run(follow()) == ["resolute.test: one", "resolute.test: two"]


def test_events_name_the_topics_that_changed(api: Any) -> None:
    async def listen() -> list[bytes]:
        state = api.client.app.state.server
        stream = _events(state, ["experiments", "trial/1"])
        found = [await anext(stream)]
        api.platform.bus.publish("trial/1", "trial/2")
        found.append(await anext(stream))
        await stream.aclose()  # type: ignore[attr-defined]
        return found

    assert run(listen()) == [b": listening\n\n", b'data: {"topic":"trial/1"}\n\n']


def test_unknown_topics_are_refused(api: Any) -> None:
    answer = api.get("/api/v1/events", expect=400, topics="experiments,weather")

    assert "'weather'" in answer["error"]["error"]


def test_listeners_leave_nothing_behind_on_the_bus() -> None:
    async def open_and_close() -> dict[str, Any]:
        bus = Bus()
        with Watches(bus).open(("a", "b")):
            pass
        return bus._callbacks

    assert run(open_and_close()) == {}


def test_a_stream_that_fails_says_so_in_its_last_line() -> None:
    async def failing() -> Any:
        yield [{"a": 1}]
        raise NotFound("gone")

    async def collect() -> list[bytes]:
        return [each async for each in _lines(failing())]

    first, last = run(collect())
    assert first == b'{"result":{"a":1}}\n'
    assert b'"message":"gone"' in last
    assert b'"httpCode":404' in last


def test_a_bug_in_a_stream_is_not_shown_but_told() -> None:
    async def broken() -> Any:
        yield []
        raise KeyError("secret")

    async def collect() -> list[bytes]:
        return [each async for each in _lines(broken())]

    last = run(collect())[-1]
    assert b"secret" not in last
    assert b"KeyError" in last


def test_a_stream_of_a_thread_fails_the_same_way() -> None:
    def failing() -> Any:
        raise NotFound("gone")
        yield []

    (last,) = list(_lines_sync(failing()))

    assert b'"httpStatus":"NotFound"' in last


@pytest.mark.parametrize("period", [0, 1])
def test_a_chart_stream_without_a_period_answers_once(api: Any, period: int) -> None:
    trial = api.running()
    trial.report("validation", 1, loss=0.5)
    if period:
        api.client.app.state.server.watches.is_stopping = True

    found = api.lines("/api/v1/experiments/metrics-stream/metric-names", ids=trial.experiment_id, periodSeconds=period)

    assert len(found) == 1
