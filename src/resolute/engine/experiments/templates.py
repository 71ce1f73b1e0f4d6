"""Parts of a configuration kept under a name, merged under what a user submits."""

from dataclasses import replace
from typing import Any

from resolute.domain.errors import AlreadyExists, InvalidInput, NotFound
from resolute.domain.template import Template
from resolute.engine.platform import Platform
from resolute.spec.secrets import restored


def put_template(platform: Platform, template: Template, *, must_be_new: bool = False) -> Template:
    name = _checked_name(template.name)
    template = replace(template, name=name)
    with platform.store.write() as tx:
        tx.workspaces.get(template.workspace_id)
        if must_be_new and any(known.name == name for known in tx.templates.all()):
            raise AlreadyExists(f"Template {name!r} exists already. Use `template set` to replace its configuration.")
        earlier = next((known.config for known in tx.templates.all() if known.name == name), None)
        template = replace(template, config=restored(template.config, earlier=earlier))
        tx.templates.put(template)
    return template


def change_template(platform: Platform, name: str, config: dict[str, Any]) -> Template:
    """Replace the configuration of a template that exists."""
    with platform.store.write() as tx:
        stored = tx.templates.get(name)
        template = replace(stored, config=restored(config, earlier=stored.config))
        tx.templates.put(template)
        return template


def rename_template(platform: Platform, old: str, new: str) -> Template:
    new = _checked_name(new)
    with platform.store.write() as tx:
        known = {template.name for template in tx.templates.all()}
        if old not in known:
            raise NotFound(f"template not found: {old}")
        if new in known:
            raise AlreadyExists(f"Template {new!r} exists already. Choose another name.")
        tx.templates.rename(old, new)
        return tx.templates.get(new)


def remove_template(platform: Platform, name: str) -> None:
    with platform.store.write() as tx:
        tx.templates.get(name)
        tx.templates.remove(name)


def _checked_name(name: str) -> str:
    name = name.strip()
    if not name or "/" in name:
        raise InvalidInput(f"Template name {name!r} is not usable: give one without slashes.")
    return name
