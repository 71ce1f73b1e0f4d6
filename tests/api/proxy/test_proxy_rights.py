"""Who may use a task of a workspace, in both modes."""

from typing import Any

import httpx
import pytest

from resolute.domain.rights import RightsMode, RoleName
from resolute.domain.task import TaskType
from resolute.engine.access.rights import assign_role


@pytest.fixture
def with_roles(platform: Any) -> None:
    object.__setattr__(platform.config, "rights", RightsMode.ROLES)


def status(world: Any, task: str, token: str) -> int:
    return httpx.get(f"{world.url}/proxy/{task}/", headers={"Authorization": f"Bearer {token}"}).status_code


@pytest.mark.parametrize(
    ("role", "notebook", "tensorboard"),
    [
        (None, 404, 404),
        (RoleName.VIEWER, 403, 200),
        (RoleName.EDITOR_RESTRICTED, 403, 200),
        (RoleName.EDITOR, 200, 200),
        (RoleName.WORKSPACE_ADMIN, 200, 200),
    ],
)
def test_what_runs_as_its_owner_is_used_by_who_may_change_it(
    with_roles: None, world: Any, behind: Any, role: RoleName | None, notebook: int, tensorboard: int
) -> None:
    admin = {"Authorization": f"Bearer {world.login('admin')}"}
    made = httpx.post(f"{world.url}/api/v1/users", json={"user": {"username": "ada", "active": True}}, headers=admin)
    user_id = made.json()["user"]["id"]
    tasks = [world.start(behind.served.address, kind) for kind in (TaskType.NOTEBOOK, TaskType.TENSORBOARD)]
    if role is not None:
        with world.platform.store.read() as tx:
            workspace_id = tx.tasks.get(tasks[0]).workspace_id
        assign_role(world.platform, role, user_id=user_id, workspace_id=workspace_id)

    token = world.login("ada")

    assert [status(world, task, token) for task in tasks] == [notebook, tensorboard]
