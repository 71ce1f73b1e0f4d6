"""From a trial's reports to event files that TensorBoard reads: curves, and a row of its HParams tab.

Reports may be given again and again: what has been written is not written twice.
"""

import math
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2, summary_v2
from tensorboard.summary.writer.event_file_writer import EventFileWriter

_STATUS = {"COMPLETED": api_pb2.STATUS_SUCCESS, "ERROR": api_pb2.STATUS_FAILURE, "CANCELED": api_pb2.STATUS_FAILURE}


class TrialEvents:
    """Of one trial, in a folder of its own. One thread at a time."""

    def __init__(self, folder: Path, hparams: Mapping[str, Any]) -> None:
        self._writer = EventFileWriter(str(folder))
        self._written: set[tuple[str, int]] = set()
        self._has_ended = False
        values = dict(_flat(hparams, leaves=(bool, int, float, str)))
        if values:
            self._add(summary_v2.hparams_pb(values), step=0, at=None)

    def write(self, reports: Iterable[Mapping[str, Any]]) -> int:
        """Each with `group`, `steps_completed`, `time` and `metrics`. Returns how many values were new."""
        new = 0
        for report in reports:
            step, at = int(report["steps_completed"] or 0), _seconds(report.get("time"))
            fresh = [pair for pair in _values(report) if (pair[0], step) not in self._written]
            if fresh:
                summary = Summary(value=[Summary.Value(tag=tag, simple_value=value) for tag, value in fresh])
                self._add(summary, step=step, at=at)
                self._written.update((tag, step) for tag, _ in fresh)
                new += len(fresh)
        self._writer.flush()
        return new

    def end(self, state: str) -> None:
        """It reports no more. Only the first call does something."""
        if not self._has_ended:
            self._has_ended = True
            self._add(_end(_STATUS.get(state, api_pb2.STATUS_UNKNOWN)), step=0, at=None)
            self._writer.flush()

    def _add(self, summary: Any, *, step: int, at: float | None) -> None:
        event = Event(step=step, summary=summary)
        event.wall_time = time.time() if at is None else at
        self._writer.add_event(event)


def _end(status: Any) -> Summary:
    """Of the trial, for the HParams tab."""
    info = plugin_data_pb2.SessionEndInfo(status=status, end_time_secs=time.time())
    about = metadata.create_summary_metadata(plugin_data_pb2.HParamsPluginData(session_end_info=info))
    value = Summary.Value(tag=metadata.SESSION_END_INFO_TAG, metadata=about, tensor=metadata.NULL_TENSOR)
    return Summary(value=[value])


def _values(report: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Curves of one group stand together, as TensorBoard groups tags by what is before the slash."""
    for name, value in _flat(report.get("metrics") or {}, leaves=(int, float, str)):
        number = _number(value)
        if number is not None:
            yield f"{report['group']}/{name}", number


def _flat(values: Mapping[str, Any], *, leaves: tuple[type, ...], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, leaves=leaves, prefix=f"{prefix}{name}/")
        elif isinstance(value, leaves):
            yield f"{prefix}{name}", value


def _number(value: Any) -> float | None:
    """NaN and infinities travel by name; other text is no number."""
    if isinstance(value, str):
        return {"NaN": math.nan, "Nan": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}.get(value)
    return float(value)


def _seconds(moment: str | None) -> float | None:
    return datetime.fromisoformat(moment).timestamp() if moment else None
