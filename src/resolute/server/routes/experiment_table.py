"""Finding experiments: filters over fields, hyperparameters and metrics, sorted by any column."""

from resolute.domain import needs
from resolute.domain.rights import Permission
from resolute.engine.experiments.table import experiment_table
from resolute.server.auth import Caller, PlatformOf
from resolute.server.paging import PageParams, pagination
from resolute.server.resource import Resource
from resolute.server.shapes.experiments import experiment_message
from resolute.server.shapes.trials import trial_message
from resolute.spec.wire import experiments as wire

router = Resource(tags=["experiments"])


@router.post("/api/v1/experiments-search", needs=needs.VIEW_EXPERIMENT.listed)
def search_experiments(
    body: wire.SearchExperimentsRequest, platform: PlatformOf, caller: Caller
) -> wire.SearchExperimentsResponse:
    """`sort` is `column=asc,column=desc`; a metric column is `group.name.last|min|max|mean` of the best trial."""
    page = PageParams(body.offset, body.limit)
    found = experiment_table(
        platform,
        project_id=body.project_id or None,
        filter=body.filter,
        sort=body.sort,
        page=page.request,
        visible_in=caller.workspaces(Permission.VIEW_EXPERIMENT_METADATA),
    )
    now = platform.clock()
    return wire.SearchExperimentsResponse(
        experiments=[
            wire.SearchExperimentExperiment(
                experiment=experiment_message(row.summary, now=now),
                best_trial=trial_message(row.best_trial, now=now) if row.best_trial else None,
            )
            for row in found.items
        ],
        pagination=pagination(found, page),
    )
