"""Parts of a configuration kept under a name, merged under what a user submits."""

from dataclasses import replace

from resolute.domain.change import Action
from resolute.domain.errors import AlreadyExists, InvalidInput, NotFound
from resolute.domain.template import Template
from resolute.engine.platform import Platform
from resolute.engine.unit_of_work import flow
from resolute.spec.secrets import restored


def put_template(platform: Platform, template: Template, *, must_be_new: bool = False) -> Template:
    name = _checked_name(template.name)
    template = replace(template, name=name)
    with flow(platform) as current:
        workspace = current.tx.workspaces.get(template.workspace_id)
        known = next((each for each in current.tx.templates.all() if each.name == name), None)
        if known is None or known.workspace_id != workspace.id:
            workspace.require_open()
        if known is None:
            return current.add(replace(template, config=restored(template.config, earlier=None)))
        if must_be_new:
            raise AlreadyExists(f"Template {name!r} exists already. Use `template set` to replace its configuration.")
        return current.change(known, replace(template, config=restored(template.config, earlier=known.config)))


def change_template(platform: Platform, name: str, config: dict[str, object]) -> Template:
    """Replace the configuration of a template that exists."""
    with flow(platform) as current:
        stored = current.tx.templates.get(name)
        return current.change(stored, replace(stored, config=restored(config, earlier=stored.config)))


def rename_template(platform: Platform, old: str, new: str) -> Template:
    new = _checked_name(new)
    with flow(platform) as current:
        tx = current.tx
        known = {template.name for template in tx.templates.all()}
        if old not in known:
            raise NotFound(f"template not found: {old}")
        if new in known:
            raise AlreadyExists(f"Template {new!r} exists already. Choose another name.")
        tx.templates.rename(old, new)
        template = tx.templates.get(new)
        current.record(
            Action.CHANGED, "template", new, changed={"name": [old, new]}, workspace_id=template.workspace_id
        )
        return template


def remove_template(platform: Platform, name: str) -> None:
    with flow(platform) as current:
        current.remove(current.tx.templates.get(name))


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name or "/" in name:
        raise InvalidInput(f"Template name {name!r} is not usable: give one without slashes.")
    return name
