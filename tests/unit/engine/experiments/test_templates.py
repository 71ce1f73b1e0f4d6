"""Parts of configurations under a name."""

from typing import Any

import pytest

from resolute.domain.errors import AlreadyExists, InvalidConfig, InvalidInput, NotFound
from resolute.domain.template import Template
from resolute.engine.experiments.templates import change_template, put_template, remove_template, rename_template

STORAGE = {"checkpoint_storage": {"type": "s3", "bucket": "b", "access_key": "me", "secret_key": "hush"}}
MASKED = {"checkpoint_storage": {**STORAGE["checkpoint_storage"], "secret_key": "********"}}


def put(world: Any, name: str = "base", config: Any = None, **options: Any) -> Template:
    template = Template(name=name, config=config or {"max_restarts": 1}, workspace_id=1)
    made: Template = put_template(world.platform, template, **options)
    return made


def stored(world: Any, name: str = "base") -> Template:
    with world.platform.store.read() as tx:
        found: Template = tx.templates.get(name)
    return found


def test_it_is_kept_under_its_name_and_replaced_by_the_next(world: Any) -> None:
    put(world)

    put(world, config={"max_restarts": 2})

    assert stored(world).config == {"max_restarts": 2}


def test_one_that_must_be_new_replaces_nothing(world: Any) -> None:
    put(world)

    with pytest.raises(AlreadyExists, match=r"Template 'base' exists already\. Use `template set`"):
        put(world, config={"max_restarts": 2}, must_be_new=True)

    assert stored(world).config == {"max_restarts": 1}


@pytest.mark.parametrize("name", ["", "  ", "a/b", "/"])
def test_a_name_that_no_address_can_hold_is_refused(world: Any, name: str) -> None:
    with pytest.raises(InvalidInput, match="is not usable: give one without slashes"):
        put(world, name)


def test_spaces_around_a_name_are_not_part_of_it(world: Any) -> None:
    assert put(world, "  base ").name == "base"


def test_it_belongs_to_a_workspace_that_is_there(world: Any) -> None:
    with pytest.raises(NotFound, match="workspace not found: 9"):
        put_template(world.platform, Template(name="x", config={}, workspace_id=9))


def test_its_secrets_survive_an_edit_of_what_is_shown(world: Any) -> None:
    put(world, config=STORAGE)

    put(world, config={**MASKED, "max_restarts": 3})
    change_template(world.platform, "base", {**MASKED, "max_restarts": 4})

    assert stored(world).config == {**STORAGE, "max_restarts": 4}


def test_a_mask_that_stands_for_nothing_is_refused(world: Any) -> None:
    with pytest.raises(InvalidConfig, match="stands for a secret that is not known here"):
        put(world, config=MASKED)


def test_it_is_renamed_with_its_content(world: Any) -> None:
    put(world)

    renamed = rename_template(world.platform, "base", "other")

    assert (renamed.name, renamed.config) == ("other", {"max_restarts": 1})
    with pytest.raises(NotFound, match="template not found: base"):
        stored(world)


def test_a_taken_or_missing_name_is_not_renamed(world: Any) -> None:
    put(world)
    put(world, "other", {"max_restarts": 2})

    with pytest.raises(AlreadyExists, match=r"Template 'other' exists already\. Choose another"):
        rename_template(world.platform, "base", "other")
    with pytest.raises(NotFound, match="template not found: nope"):
        rename_template(world.platform, "nope", "new")

    assert stored(world, "other").config == {"max_restarts": 2}


def test_one_that_was_removed_is_gone(world: Any) -> None:
    put(world)

    remove_template(world.platform, "base")

    for deed in (
        lambda: stored(world),
        lambda: remove_template(world.platform, "base"),
        lambda: change_template(world.platform, "base", {}),
    ):
        with pytest.raises(NotFound, match="template not found: base"):
            deed()
