"""`engine.ports.database.Users`, `Workspaces`, `Templates`, `Contexts` and `Settings`, on every database."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from resolute.domain.errors import AlreadyExists, NotFound
from resolute.domain.experiment import Experiment, ExperimentState
from resolute.domain.template import Template
from resolute.domain.user import Session, User
from resolute.domain.workspace import Project, Workspace
from resolute.engine.ports.database import Store

NewExperiment = Callable[..., Experiment]


class TestUsers:
    def test_a_user_is_kept_changed_and_found(self, store: Store, new_experiment: NewExperiment) -> None:
        now = new_experiment().start_time
        with store.write() as transaction:
            user = transaction.users.add(User(id=0, username="ada", password_hash="h", modified_at=now))
            changed = replace(user, display_name="Ada", is_admin=True, is_active=False, last_auth_at=now)
            transaction.users.save(changed)

        with store.read() as transaction:
            assert user.id > 2
            assert transaction.users.get(user.id) == changed
            assert transaction.users.by_name("ada") == changed
            assert transaction.users.by_name("nobody") is None
            assert transaction.users.all()[-1] == changed

    def test_a_taken_name_is_refused_for_new_and_renamed_users(
        self, store: Store, new_experiment: NewExperiment
    ) -> None:
        now = new_experiment().start_time

        with store.write() as transaction:
            with pytest.raises(AlreadyExists, match="'admin' exists already"):
                transaction.users.add(User(id=0, username="admin", modified_at=now))
            with pytest.raises(AlreadyExists, match="'admin' exists already"):
                transaction.users.save(replace(transaction.users.get(2), username="admin"))

    def test_unknown_users_and_sessions_are_not_found(self, store: Store, new_experiment: NewExperiment) -> None:
        now = new_experiment().start_time
        session = Session(id=9, user_id=1, token_hash="t", created_at=now, expires_at=now)

        with store.write() as transaction:
            with pytest.raises(NotFound, match="user not found: 99"):
                transaction.users.get(99)
            with pytest.raises(NotFound, match="user not found: 99"):
                transaction.users.save(User(id=99, username="x", modified_at=now))
            with pytest.raises(NotFound, match="session not found: 9"):
                transaction.users.save_session(session)

    def test_sessions_are_found_by_their_tokens_hash(self, store: Store, new_experiment: NewExperiment) -> None:
        now = new_experiment().start_time
        with store.write() as transaction:
            session = transaction.users.add_session(
                Session(id=0, user_id=1, token_hash="t", created_at=now, expires_at=now + timedelta(days=1))
            )
            revoked = replace(session, is_revoked=True, description="cli", is_access_token=True)
            transaction.users.save_session(revoked)

        with store.read() as transaction:
            assert transaction.users.session_by_token_hash("t") == revoked
            assert transaction.users.session_by_token_hash("u") is None
            assert transaction.users.sessions() == transaction.users.sessions(1) == [revoked]
            assert transaction.users.sessions(2) == []

    def test_settings_are_replaced_as_a_whole_and_belong_to_one_user(self, store: Store) -> None:
        with store.write() as transaction:
            transaction.users.save_settings(1, {"a/b": "1", "c": "{}"})
            transaction.users.save_settings(2, {"a/b": "2"})
            transaction.users.save_settings(1, {"a/b": "3"})

        with store.read() as transaction:
            assert transaction.users.settings(1) == {"a/b": "3"}
            assert transaction.users.settings(2) == {"a/b": "2"}
            assert transaction.users.settings(3) == {}


class TestWorkspaces:
    @pytest.fixture
    def workspace(self, store: Store, new_experiment: NewExperiment) -> Workspace:
        now = new_experiment().start_time
        with store.write() as transaction:
            return transaction.workspaces.add(
                Workspace(id=0, name="vision", user_id=2, checkpoint_storage={"type": "s3"}, created_at=now)
            )

    def test_a_workspace_is_kept_changed_and_found(self, store: Store, workspace: Workspace) -> None:
        changed = replace(workspace, name="sight", is_archived=True, is_pinned=True)

        with store.write() as transaction:
            transaction.workspaces.save(changed)

        with store.read() as transaction:
            assert transaction.workspaces.get(workspace.id) == changed
            assert transaction.workspaces.by_name("sight") == changed
            assert transaction.workspaces.by_name("vision") is None
            assert [item.name for item in transaction.workspaces.all()] == ["Uncategorized", "sight"]

    def test_taken_names_are_refused(self, store: Store, workspace: Workspace) -> None:
        with store.write() as transaction:
            with pytest.raises(AlreadyExists, match="'vision' exists already"):
                transaction.workspaces.add(replace(workspace, id=0))
            with pytest.raises(AlreadyExists, match="'Uncategorized' exists already"):
                transaction.workspaces.save(replace(workspace, name="Uncategorized"))

    def test_projects_live_in_their_workspace(self, store: Store, workspace: Workspace) -> None:
        with store.write() as transaction:
            project = transaction.workspaces.add_project(_project(workspace, "tiles"))
            changed = replace(project, description="d", notes=({"name": "n", "contents": "c"},), is_archived=True)
            transaction.workspaces.save_project(changed)

            with pytest.raises(AlreadyExists, match=f"'tiles' exists already in workspace {workspace.id}"):
                transaction.workspaces.add_project(_project(workspace, "tiles"))

        with store.read() as transaction:
            assert transaction.workspaces.project(project.id) == changed
            assert transaction.workspaces.projects(workspace.id) == [changed]
            assert len(transaction.workspaces.projects()) == 2

    def test_counts_are_per_workspace_and_project(
        self, store: Store, workspace: Workspace, new_experiment: NewExperiment
    ) -> None:
        later = workspace.created_at + timedelta(hours=1)
        with store.write() as transaction:
            project = transaction.workspaces.add_project(_project(workspace, "tiles"))
            empty = transaction.workspaces.add_project(_project(workspace, "empty"))
            for changes in ({}, {"state": ExperimentState.COMPLETED, "start_time": later}):
                transaction.experiments.add(new_experiment(project_id=project.id, **changes), searcher_snapshot=None)

        with store.read() as transaction:
            assert transaction.workspaces.counts() == {1: (1, 0), workspace.id: (2, 2)}
            assert transaction.workspaces.project_counts() == {
                1: (0, 0, None),
                project.id: (2, 1, later),
                empty.id: (0, 0, None),
            }

    def test_removing_a_workspace_takes_its_projects(self, store: Store, workspace: Workspace) -> None:
        with store.write() as transaction:
            kept = transaction.workspaces.add_project(_project(workspace, "a"))
            transaction.workspaces.remove_project(kept.id)
            gone = transaction.workspaces.add_project(_project(workspace, "b"))
            transaction.workspaces.remove(workspace.id)

        with store.read() as transaction:
            for what, ask in (
                (f"workspace not found: {workspace.id}", lambda: transaction.workspaces.get(workspace.id)),
                (f"project not found: {gone.id}", lambda: transaction.workspaces.project(gone.id)),
            ):
                with pytest.raises(NotFound, match=what):
                    ask()

    def test_saving_what_is_not_there_is_not_found(self, store: Store, workspace: Workspace) -> None:
        with store.write() as transaction:
            with pytest.raises(NotFound, match="workspace not found: 99"):
                transaction.workspaces.save(replace(workspace, id=99, name="x"))
            with pytest.raises(NotFound, match="project not found: 99"):
                transaction.workspaces.save_project(replace(_project(workspace, "x"), id=99))


class TestTemplates:
    def test_they_are_put_replaced_renamed_and_removed(self, store: Store) -> None:
        with store.write() as transaction:
            transaction.templates.put(Template(name="a", config={"v": 1}))
            transaction.templates.put(Template(name="a", config={"v": 2}, workspace_id=1))
            transaction.templates.put(Template(name="b", config={}))
            transaction.templates.rename("a", "c")
            transaction.templates.remove("b")

        with store.read() as transaction:
            assert transaction.templates.all() == [Template(name="c", config={"v": 2})]
            assert transaction.templates.get("c").config == {"v": 2}

    def test_unknown_and_taken_names_are_refused(self, store: Store) -> None:
        with store.write() as transaction:
            transaction.templates.put(Template(name="a", config={}))
            transaction.templates.put(Template(name="b", config={}))
            with pytest.raises(NotFound, match="template not found: x"):
                transaction.templates.get("x")
            with pytest.raises(NotFound, match="template not found: x"):
                transaction.templates.remove("x")
            with pytest.raises(NotFound, match="template not found: x"):
                transaction.templates.rename("x", "y")
            with pytest.raises(AlreadyExists, match="'b' exists already"):
                transaction.templates.rename("a", "b")


class TestContextsAndSettings:
    def test_the_same_content_is_stored_once_under_its_hash(self, store: Store) -> None:
        content = bytes(range(256)) * 100

        with store.write() as transaction:
            first, second = transaction.contexts.put(content), transaction.contexts.put(content)

        with store.read() as transaction:
            assert first == second == hashlib.sha256(content).hexdigest()
            assert transaction.contexts.get(first) == content
            with pytest.raises(NotFound, match="model definition not found: nope"):
                transaction.contexts.get("nope")

    @pytest.mark.parametrize("value", [1, 1.5, "text", None, [1, 2], {"a": {"b": []}}, True])
    def test_a_setting_is_any_json_value(self, store: Store, value: object) -> None:
        with store.write() as transaction:
            transaction.settings.put("key", "before")
            transaction.settings.put("key", value)

        with store.read() as transaction:
            assert transaction.settings.get("key") == value
            assert transaction.settings.get("other") is None


def _project(workspace: Workspace, name: str) -> Project:
    return Project(
        id=0, workspace_id=workspace.id, name=name, key=name.upper(), user_id=1, created_at=workspace.created_at
    )
