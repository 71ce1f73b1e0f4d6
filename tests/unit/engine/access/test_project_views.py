"""Projects with what lists show beside them."""

from dataclasses import replace
from typing import Any

import pytest

from resolute.domain.errors import NotFound
from resolute.domain.user import User
from resolute.engine.access.project_views import (
    ProjectQuery,
    active_projects,
    list_projects,
    project_by_key,
    project_view,
)
from resolute.engine.access.workspaces import add_project, add_workspace, archive_project, archive_workspace
from resolute.engine.experiments.changes import move_experiment
from resolute.engine.ports.queries import PageRequest


@pytest.fixture
def places(world: Any) -> dict[str, int]:
    """Two workspaces beside the one that is always there, with a project or two."""
    made = {}
    for workspace, projects in {"north": ("Alpha", "beta"), "south": ("Gamma",)}.items():
        made[workspace] = add_workspace(world.platform, user=world.user, name=workspace).id
        for name in projects:
            made[name] = add_project(world.platform, user=world.user, workspace_id=made[workspace], name=name).id
    return made


def names(world: Any, **query: Any) -> list[str]:
    return [view.project.name for view in list_projects(world.platform, ProjectQuery(**query)).items]


def test_projects_come_as_they_were_made_or_by_name_either_way(world: Any, places: dict[str, int]) -> None:
    assert names(world, workspace_id=places["north"]) == ["Alpha", "beta"]
    assert names(world, workspace_id=places["north"], descending=True) == ["beta", "Alpha"]
    assert names(world, by_name=True, descending=True)[0] == "beta"


def test_every_filter_narrows_the_list(world: Any, places: dict[str, int]) -> None:
    add_project(world.platform, user=world.person("ann"), workspace_id=places["south"], name="alphabet")

    assert names(world, name="ALPHA") == ["Alpha"]
    assert names(world, name="alphabet", users=("ann",)) == ["alphabet"]
    assert names(world, name="alpha", user_ids=(world.user.id,)) == ["Alpha"]
    assert names(world, visible_in=frozenset({places["south"]})) == ["Gamma", "alphabet"]
    assert names(world, visible_in=frozenset()) == []


def test_a_project_in_an_archived_workspace_is_archived_too(world: Any, places: dict[str, int]) -> None:
    archive_project(world.platform, places["beta"], archived=True)
    archive_workspace(world.platform, places["south"], archived=True)

    assert names(world, archived=True) == ["beta", "Gamma"]
    assert "Alpha" in names(world, archived=False)


def test_a_page_knows_the_total(world: Any, places: dict[str, int]) -> None:
    found = list_projects(world.platform, ProjectQuery(by_name=True, page=PageRequest(offset=1, limit=1)))

    assert [view.project.name for view in found.items] == ["Gamma"]
    assert found.total == 4


def test_a_view_counts_experiments_and_knows_the_newest(world: Any, places: dict[str, int]) -> None:
    first = world.create()
    world.clock.forward(60)
    second = world.create()
    for experiment in (first, second):
        move_experiment(world.platform, experiment.id, places["Alpha"])
    world.tick()
    world.finish(world.trials(first.id)[0])

    view = project_view(world.platform, places["Alpha"])

    assert (view.experiments, view.active_experiments, view.last_start) == (2, 1, second.start_time)
    assert (view.owner.username, view.workspace.name) == ("determined", "north")


def test_a_project_is_found_by_its_key_in_any_case(world: Any, places: dict[str, int]) -> None:
    key = project_view(world.platform, places["Gamma"]).project.key

    assert project_by_key(world.platform, key.lower()).project.id == places["Gamma"]
    with pytest.raises(NotFound, match="project not found: NOPE"):
        project_by_key(world.platform, "NOPE")
    with pytest.raises(NotFound, match="project not found: 99"):
        project_view(world.platform, 99)


def test_the_projects_one_works_in_come_by_the_newest_experiment(world: Any, places: dict[str, int]) -> None:
    for name in ("Alpha", "Gamma", "Alpha", "beta"):
        world.clock.forward(60)
        move_experiment(world.platform, world.create().id, places[name])

    def active(user: User, **options: Any) -> list[str]:
        return [view.project.name for view in active_projects(world.platform, user, **{"limit": 5, **options})]

    assert active(world.user) == ["beta", "Alpha", "Gamma"]
    assert active(world.user, limit=2) == ["beta", "Alpha"]
    assert active(world.user, visible_in=frozenset({places["south"]})) == ["Gamma"]
    assert active(replace(world.user, id=99)) == []


def test_a_longer_list_takes_no_more_statements(world: Any, places: dict[str, int], count_statements: Any) -> None:
    def statements() -> int:
        with count_statements() as counted:
            names(world)
        return int(counted.selects)

    few = statements()
    for number in range(5):
        add_project(world.platform, user=world.user, workspace_id=places["south"], name=f"p{number}")

    assert statements() == few == 4
