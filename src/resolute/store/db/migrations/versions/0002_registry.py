"""Datasets, registered models and deployments."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _datasets()
    _dataset_experiments()
    _models()
    _model_versions()
    _deployments()
    _revisions()


def downgrade() -> None:
    for table in ("revisions", "deployments", "model_versions", "models", "dataset_experiments", "datasets"):
        op.drop_table(table)


def _datasets() -> None:
    op.create_table(
        "datasets",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("uri", sa.Text(), nullable=False),
        sa.Column("annotations", sa.Text(), nullable=False),
        sa.Column("images", sa.Text(), nullable=False),
        sa.Column("manifest_id", sa.Text(), nullable=False),
        sa.Column("file_count", sa.BigInteger(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("workspace_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("classes", sa.Text(), nullable=False),
        sa.Column("parents", sa.Text(), nullable=False),
        sa.Column("statistics", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_datasets"),
        sa.UniqueConstraint("name", "version", name="uq_datasets_name_version"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_datasets_content_hash", "datasets", ["content_hash"])


def _dataset_experiments() -> None:
    op.create_table(
        "dataset_experiments",
        sa.Column("experiment_id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("dataset_id", sa.Integer(), nullable=False, autoincrement=False),
        sa.PrimaryKeyConstraint("experiment_id", "dataset_id", name="pk_dataset_experiments"),
    )
    op.create_index("ix_dataset_experiments_dataset_id", "dataset_experiments", ["dataset_id"])


def _models() -> None:
    op.create_table(
        "models",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("workspace_id", sa.Integer(), nullable=False),
        sa.Column("creation_time", sa.BigInteger(), nullable=False),
        sa.Column("last_updated_time", sa.BigInteger(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("labels", sa.Text(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("archived", sa.Boolean(), nullable=False),
        sa.Column("last_version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_models"),
        sa.UniqueConstraint("name", name="uq_models_name"),
        sqlite_autoincrement=True,
    )


def _model_versions() -> None:
    op.create_table(
        "model_versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("model_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("checkpoint_uuid", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("creation_time", sa.BigInteger(), nullable=False),
        sa.Column("last_updated_time", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("labels", sa.Text(), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("stage", sa.String(32), nullable=False),
        sa.ForeignKeyConstraint(["model_id"], ["models.id"], name="fk_model_versions_model_id"),
        sa.PrimaryKeyConstraint("id", name="pk_model_versions"),
        sa.UniqueConstraint("model_id", "version", name="uq_model_versions_model_id_version"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_model_versions_checkpoint_uuid", "model_versions", ["checkpoint_uuid"])


def _deployments() -> None:
    op.create_table(
        "deployments",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("workspace_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("stable", sa.Integer(), nullable=True),
        sa.Column("previous", sa.Integer(), nullable=True),
        sa.Column("canary", sa.Integer(), nullable=True),
        sa.Column("canary_percent", sa.Integer(), nullable=False),
        sa.Column("shadow", sa.Integer(), nullable=True),
        sa.Column("shadow_percent", sa.Integer(), nullable=False),
        sa.Column("sticky", sa.Text(), nullable=False),
        sa.Column("scaling", sa.Text(), nullable=False),
        sa.Column("guard", sa.Text(), nullable=False),
        sa.Column("public", sa.Boolean(), nullable=False),
        sa.Column("is_deleted", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_deployments"),
        sa.UniqueConstraint("namespace", "name", name="uq_deployments_namespace_name"),
        sqlite_autoincrement=True,
    )


def _revisions() -> None:
    op.create_table(
        "revisions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("deployment_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("model_version_id", sa.Integer(), nullable=True),
        sa.Column("checkpoint_uuid", sa.Text(), nullable=True),
        sa.Column("serving", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(32), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("replicas_wanted", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["deployment_id"], ["deployments.id"], name="fk_revisions_deployment_id"),
        sa.PrimaryKeyConstraint("id", name="pk_revisions"),
        sa.UniqueConstraint("deployment_id", "number", name="uq_revisions_deployment_id_number"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_revisions_model_version_id", "revisions", ["model_version_id"])
    op.create_index("ix_revisions_checkpoint_uuid", "revisions", ["checkpoint_uuid"])
