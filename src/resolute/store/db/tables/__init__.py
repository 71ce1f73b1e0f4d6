"""The schema. A column has the name of the domain field that it carries; the few others say why they exist.

A change here needs a new revision under `migrations/versions`; a test compares the two.
"""

from resolute.store.db.tables.base import metadata
from resolute.store.db.tables.changes import changes, followers, held_things
from resolute.store.db.tables.checkpoints import checkpoints
from resolute.store.db.tables.deployments import deployments, revisions
from resolute.store.db.tables.experiments import (
    contexts,
    experiments,
    searcher_patches,
    searcher_snapshots,
    trial_sources,
    trials,
)
from resolute.store.db.tables.jobs import allocations, gang_nodes, jobs, tasks
from resolute.store.db.tables.metrics import metric_chunks, metric_heads, metric_outlines, metric_summaries
from resolute.store.db.tables.people import sessions, user_settings, users
from resolute.store.db.tables.registry import dataset_experiments, datasets, model_versions, models
from resolute.store.db.tables.rights import group_members, groups, role_assignments
from resolute.store.db.tables.workspaces import projects, settings, templates, workspaces

__all__ = [
    "allocations",
    "changes",
    "checkpoints",
    "contexts",
    "dataset_experiments",
    "datasets",
    "deployments",
    "experiments",
    "followers",
    "gang_nodes",
    "group_members",
    "groups",
    "held_things",
    "jobs",
    "metadata",
    "metric_chunks",
    "metric_heads",
    "metric_outlines",
    "metric_summaries",
    "model_versions",
    "models",
    "projects",
    "revisions",
    "role_assignments",
    "searcher_patches",
    "searcher_snapshots",
    "sessions",
    "settings",
    "tasks",
    "templates",
    "trial_sources",
    "trials",
    "user_settings",
    "users",
    "workspaces",
]
