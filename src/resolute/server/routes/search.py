"""Finding experiments: filters over fields, hyperparameters and metrics, sorted by any column.

The filter is a tree of `{"kind": "group", "conjunction": "and", "children": [...]}` and
`{"kind": "field", "columnName": "validation.loss.min", "operator": "<", "value": 0.1}`, as tables send it.
"""

import json
from collections.abc import Callable
from typing import Any

from resolute.domain import needs
from resolute.domain.errors import InvalidInput
from resolute.domain.metric import MetricSummary
from resolute.domain.rights import Permission
from resolute.engine.ports.queries import ExperimentQuery, ExperimentSummary
from resolute.server.auth import Caller, PlatformOf
from resolute.server.paging import PageParams, pagination
from resolute.server.resource import Resource
from resolute.server.shapes.experiments import experiment_message
from resolute.server.views import show_trials
from resolute.spec.wire import experiments as wire

router = Resource(tags=["experiments"])

Row = tuple[ExperimentSummary, dict[str, Any]]
_MAX_DEPTH = 50
"""Of groups inside groups: tables make three, and each level is one call deep."""
_STATISTICS = ("last", "max", "mean", "min")


@router.post("/api/v1/experiments-search", needs=needs.VIEW_EXPERIMENT.listed)
def search_experiments(
    body: wire.SearchExperimentsRequest, platform: PlatformOf, caller: Caller
) -> wire.SearchExperimentsResponse:
    """`sort` is `column=asc,column=desc`; a metric column is `group.name.last|min|max|mean` of the best trial."""
    page = PageParams(body.offset, body.limit)
    keep = _filter(body.filter)
    visible = caller.workspaces(Permission.VIEW_EXPERIMENT_METADATA)
    with platform.store.read() as tx:
        found = tx.experiments.search(ExperimentQuery(project_id=body.project_id or None, visible_in=visible)).items
        best = [summary.best_trial_id for summary in found if summary.best_trial_id is not None]
        metrics = tx.metrics.summaries_of(best)
    rows: list[Row] = [(s, _columns(s, metrics.get(s.best_trial_id or 0, []))) for s in found]
    rows = _sorted([row for row in rows if keep(row[1])], body.sort)
    cut = page.cut([summary for summary, _ in rows])
    with platform.store.read() as tx:
        trials = [tx.trials.get(s.best_trial_id) for s in cut.items if s.best_trial_id is not None]
        shown = {message.id: message for message in show_trials(platform, tx, trials)}
    now = platform.clock()
    return wire.SearchExperimentsResponse(
        experiments=[
            wire.SearchExperimentExperiment(
                experiment=experiment_message(summary, now=now), best_trial=shown.get(summary.best_trial_id or 0)
            )
            for summary in cut.items
        ],
        pagination=pagination(cut, page),
    )


def _columns(summary: ExperimentSummary, metrics: list[MetricSummary]) -> dict[str, Any]:
    """Everything a filter or a sort can name."""
    experiment = summary.experiment
    columns: dict[str, Any] = {
        "id": experiment.id,
        "name": experiment.name,
        "description": experiment.description,
        "tags": ",".join(experiment.labels),
        "forkedFrom": experiment.parent_id,
        "startTime": experiment.start_time.isoformat(),
        "endTime": experiment.end_time.isoformat() if experiment.end_time else None,
        "numTrials": summary.num_trials,
        "state": str(experiment.state),
        "searcherType": (experiment.config.get("searcher") or {}).get("name"),
        "searcherMetric": (experiment.config.get("searcher") or {}).get("metric"),
        "searcherMetricsVal": summary.best_metric,
        "resourcePool": summary.resource_pool,
        "progress": experiment.progress,
        "checkpointSize": summary.checkpoint_size,
        "checkpointCount": summary.checkpoint_count,
        "user": summary.username,
        "userId": experiment.user_id,
        "archived": experiment.archived,
        "projectId": experiment.project_id,
    }
    for key, value in (experiment.config.get("hyperparameters") or {}).items():
        columns[f"hp.{key}"] = value.get("val", value) if isinstance(value, dict) else value
    for metric in metrics:
        values = {"last": metric.last, "min": metric.min, "max": metric.max, "mean": metric.mean}
        columns |= {f"{metric.group}.{metric.name}.{statistic}": values[statistic] for statistic in _STATISTICS}
    return columns


# ---------------------------------------------------------------------------------------------------------- filter


def _filter(text: str) -> Any:
    if not text:
        return lambda columns: True
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"filter: not JSON: {error}.") from error
    group = tree.get("filterGroup", tree) if isinstance(tree, dict) else tree
    _check_filter(group, 0)
    show_archived = bool(tree.get("showArchived", True))
    return lambda columns: (show_archived or not columns["archived"]) and _holds(group, columns)


def _check_filter(node: Any, depth: int) -> None:
    """Raises InvalidInput for what is no tree of groups and fields, or is nested beyond what a table can send."""
    if not isinstance(node, dict) or not isinstance(node.get("children") or [], list):
        raise InvalidInput(
            f"filter: {node!r:.80} is neither a group nor a field. Send {{kind, children}} or {{columnName}}."
        )
    if not isinstance(node.get("columnName", ""), str):
        raise InvalidInput(f"filter: columnName {node['columnName']!r:.80} is not text. Name a column.")
    if depth > _MAX_DEPTH:
        raise InvalidInput(f"filter: groups are nested more than {_MAX_DEPTH} deep. Flatten them.")
    for child in node.get("children") or []:
        _check_filter(child, depth + 1)


def _holds(node: dict[str, Any], columns: dict[str, Any]) -> bool:
    if node.get("kind") == "group" or "children" in node:
        children = [_holds(child, columns) for child in node.get("children") or []]
        if not children:
            return True
        return any(children) if node.get("conjunction") == "or" else all(children)
    return _compare(columns.get(node.get("columnName", "")), str(node.get("operator", "=")), node.get("value"))


def _compare(actual: Any, operator: str, wanted: Any) -> bool:
    match operator:
        case "isEmpty":
            return actual in (None, "")
        case "notEmpty":
            return actual not in (None, "")
        case "contains":
            return str(wanted or "").lower() in str(actual or "").lower()
        case "notContains":
            return str(wanted or "").lower() not in str(actual or "").lower()
        case "=":
            return actual == wanted or str(actual) == str(wanted)
        case "!=":
            return actual != wanted and str(actual) != str(wanted)
    if wanted is None or wanted == "":
        return True
    try:
        left, right = _comparable(actual), _comparable(wanted)
        return bool({"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[operator])
    except (TypeError, KeyError):
        return False


def _comparable(value: Any) -> Any:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return value


def _sorted(rows: list[Row], sort: str) -> list[Row]:
    """Last key first: Python's sort is stable. Rows without a value stay at the end."""
    for part in reversed([part for part in (sort or "id=desc").split(",") if part]):
        column, _, direction = part.partition("=")
        with_value = [row for row in rows if row[1].get(column) is not None]
        without = [row for row in rows if row[1].get(column) is None]
        with_value.sort(key=_key_of(column), reverse=direction == "desc")
        rows = [*with_value, *without]
    return rows


def _key_of(column: str) -> Callable[[Row], tuple[int, float, str]]:
    return lambda row: _sort_key(row[1][column])


def _sort_key(value: Any) -> tuple[int, float, str]:
    if isinstance(value, int | float):
        return (0, float(value), "")
    return (1, 0.0, str(value).lower())
