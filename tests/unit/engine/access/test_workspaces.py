"""Workspaces and projects: names, keys, what holds work stays."""

from typing import Any

import pytest

from resolute.domain.errors import AlreadyExists, Forbidden, IllegalTransition, InvalidConfig, InvalidInput, NotFound
from resolute.engine.access.workspaces import (
    add_note,
    add_project,
    add_workspace,
    archive_project,
    archive_workspace,
    change_project,
    change_workspace,
    delete_project,
    delete_workspace,
    ensure_default_workspace,
    move_project,
    pin_workspace,
    write_notes,
)
from resolute.engine.experiments.changes import move_experiment


@pytest.fixture
def north(world: Any) -> int:
    return add_workspace(world.platform, user=world.user, name="north").id


@pytest.fixture
def deep(world: Any, north: int) -> int:
    return add_project(world.platform, user=world.user, workspace_id=north, name="deep", description="d").id


def workspace(world: Any, workspace_id: int) -> Any:
    with world.platform.store.read() as tx:
        return tx.workspaces.get(workspace_id)


def project(world: Any, project_id: int) -> Any:
    with world.platform.store.read() as tx:
        return tx.workspaces.project(project_id)


def test_the_first_start_makes_a_place_for_work_that_names_none(world: Any) -> None:
    ensure_default_workspace(world.platform)

    with world.platform.store.read() as tx:
        (first,) = tx.workspaces.all()
        (own,) = tx.workspaces.projects()
    assert (first.name, first.is_immutable, own.name, own.is_immutable) == (
        "Uncategorized",
        True,
        "Uncategorized",
        True,
    )


@pytest.mark.parametrize(
    "deed",
    [
        lambda p: change_workspace(p, 1, name="x"),
        lambda p: archive_workspace(p, 1, archived=True),
        lambda p: delete_workspace(p, 1),
        lambda p: change_project(p, 1, name="x"),
        lambda p: archive_project(p, 1, archived=True),
        lambda p: move_project(p, 1, workspace_id=1),
        lambda p: delete_project(p, 1),
    ],
)
def test_that_place_cannot_be_changed(world: Any, deed: Any) -> None:
    with pytest.raises(Forbidden, match="is where work goes that names none; it cannot be changed"):
        deed(world.platform)


# ------------------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize("name", ["", "   ", "x" * 81])
def test_a_name_has_1_to_80_characters(world: Any, north: int, name: str) -> None:
    with pytest.raises(InvalidInput, match="give it 1 to 80"):
        add_workspace(world.platform, user=world.user, name=name)
    with pytest.raises(InvalidInput, match="give it 1 to 80"):
        add_project(world.platform, user=world.user, workspace_id=north, name=name)


def test_a_workspaces_name_is_its_own(world: Any, north: int) -> None:
    with pytest.raises(AlreadyExists, match="Workspace 'north' exists already"):
        add_workspace(world.platform, user=world.user, name=" north ")
    other = add_workspace(world.platform, user=world.user, name="other")
    with pytest.raises(AlreadyExists, match="Workspace 'north' exists already"):
        change_workspace(world.platform, other.id, name="north")

    assert change_workspace(world.platform, north, name="north").name == "north"


def test_a_projects_name_is_its_own_in_its_workspace(world: Any, north: int, deep: int) -> None:
    south = add_workspace(world.platform, user=world.user, name="south").id
    twin = add_project(world.platform, user=world.user, workspace_id=south, name="deep")

    with pytest.raises(AlreadyExists, match="Project 'deep' exists already in this workspace"):
        add_project(world.platform, user=world.user, workspace_id=north, name="deep")
    with pytest.raises(AlreadyExists, match="Project 'deep' exists already in this workspace"):
        move_project(world.platform, twin.id, workspace_id=north)

    assert project(world, twin.id).workspace_id == south


def test_a_key_is_made_of_the_name_and_is_never_taken_twice(world: Any, north: int) -> None:
    def key(name: str, **options: Any) -> str:
        made = add_project(world.platform, user=world.user, workspace_id=north, name=name, **options)
        return str(made.key)

    assert [key("Deep sea"), key("deep water"), key("!?"), key("own", key="ab1")] == ["DEE", "DEE1", "PRJ", "AB1"]
    with pytest.raises(AlreadyExists, match="Project key 'AB1' is taken"):
        key("other", key="AB1")


@pytest.mark.parametrize("key", ["TOOLONG", "a b", "ä", "-"])
def test_a_key_has_1_to_5_letters_and_digits(world: Any, north: int, deep: int, key: str) -> None:
    with pytest.raises(InvalidInput, match="is not usable: 1 to 5 letters and digits"):
        add_project(world.platform, user=world.user, workspace_id=north, name="x", key=key)
    with pytest.raises(InvalidInput, match="is not usable"):
        change_project(world.platform, deep, key=key)


# ------------------------------------------------------------------------------------------------------------ changes


def test_what_is_not_named_stays_as_it_is(world: Any, deep: int) -> None:
    before = project(world, deep)

    changed = change_project(world.platform, deep, description="new")

    assert (changed.name, changed.key, changed.description) == (before.name, before.key, "new")
    assert change_project(world.platform, deep) == changed


def test_storage_keeps_its_secrets_when_it_is_sent_back_masked_and_goes_when_it_is_emptied(
    world: Any, north: int
) -> None:
    storage = {"type": "s3", "bucket": "b", "access_key": "me", "secret_key": "hush"}
    change_workspace(world.platform, north, checkpoint_storage=storage)

    change_workspace(world.platform, north, checkpoint_storage={**storage, "secret_key": "********", "bucket": "c"})
    kept = workspace(world, north).checkpoint_storage
    change_workspace(world.platform, north, checkpoint_storage={})

    assert kept == {**storage, "bucket": "c"}
    assert workspace(world, north).checkpoint_storage is None
    with pytest.raises(InvalidConfig, match="stands for a secret that is not known here"):
        change_workspace(world.platform, north, checkpoint_storage={**storage, "secret_key": "********"})


def test_an_archived_workspace_takes_no_new_project(world: Any, north: int) -> None:
    archive_workspace(world.platform, north, archived=True)

    with pytest.raises(IllegalTransition, match="'north' is archived"):
        add_project(world.platform, user=world.user, workspace_id=north, name="x")

    archive_workspace(world.platform, north, archived=False)
    add_project(world.platform, user=world.user, workspace_id=north, name="x")


def test_pins_come_and_go(world: Any, north: int) -> None:
    pin_workspace(world.platform, north, pinned=True)
    pinned = workspace(world, north).is_pinned
    pin_workspace(world.platform, north, pinned=False)

    assert (pinned, workspace(world, north).is_pinned) == (True, False)


def test_notes_are_added_and_replaced(world: Any, deep: int) -> None:
    add_note(world.platform, deep, {"name": "a", "contents": "1"})
    added = add_note(world.platform, deep, {"name": "b", "contents": "2"})
    write_notes(world.platform, deep, ({"name": "c", "contents": "3"},))

    assert [note["name"] for note in added] == ["a", "b"]
    assert project(world, deep).notes == ({"name": "c", "contents": "3"},)


# ----------------------------------------------------------------------------------------------------------- deleting


def test_what_holds_work_is_not_deleted_and_says_what_it_holds(world: Any, north: int, deep: int) -> None:
    experiment = world.create()
    move_experiment(world.platform, experiment.id, deep)

    with pytest.raises(IllegalTransition, match=r"Project 'deep' holds 1 experiments\. Delete or move"):
        delete_project(world.platform, deep)
    with pytest.raises(IllegalTransition, match="1 experiments"):
        delete_workspace(world.platform, north)

    assert project(world, deep).id == deep


def test_an_empty_workspace_goes_with_its_projects(world: Any, north: int, deep: int) -> None:
    delete_workspace(world.platform, north)

    for read in (lambda: workspace(world, north), lambda: project(world, deep)):
        with pytest.raises(NotFound):
            read()


@pytest.mark.parametrize(
    "deed",
    [
        lambda p: change_workspace(p, 99),
        lambda p: archive_workspace(p, 99, archived=True),
        lambda p: delete_workspace(p, 99),
        lambda p: pin_workspace(p, 99, pinned=True),
        lambda p: change_project(p, 99),
        lambda p: add_note(p, 99, {}),
        lambda p: write_notes(p, 99, ()),
        lambda p: delete_project(p, 99),
    ],
)
def test_what_is_not_there_is_not_found(world: Any, deed: Any) -> None:
    with pytest.raises(NotFound, match="not found: 99"):
        deed(world.platform)
