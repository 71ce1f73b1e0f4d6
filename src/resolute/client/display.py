"""How things of the SDK look in a notebook: a small card, and for an experiment that runs one that keeps up with it."""

import threading
from collections.abc import Callable, Mapping
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

_BOX = "border:1px solid #8884;border-radius:6px;padding:8px 12px;max-width:640px;font:13px system-ui,sans-serif"
_COLOURS = {
    "COMPLETED": "#2e7d32",
    "ERROR": "#c62828",
    "CANCELED": "#6d6d6d",
    "DELETED": "#6d6d6d",
    "PAUSED": "#b26a00",
}
_RUNNING = "#1565c0"
_REFRESH_S = 2.0


class Shown(Protocol):
    """What a card that keeps up with a thing asks of it."""

    @property
    def is_finished(self) -> bool: ...
    def reload(self) -> object: ...
    def _repr_html_(self) -> str: ...


def card(
    title: str, facts: Mapping[str, object], *, state: str = "", link: str = "", progress: float | None = None
) -> str:
    """HTML, with everything in it escaped. Facts that say nothing are left out."""
    name = f'<a href="{escape(link)}" target="_blank"><b>{escape(title)}</b></a>' if link else f"<b>{escape(title)}</b>"
    badge = ""
    if state:
        colour = _COLOURS.get(state, _RUNNING)
        badge = (
            f' <span style="color:#fff;background:{colour};border-radius:4px;padding:1px 6px">{escape(state)}</span>'
        )
    rows = "".join(
        f'<tr><td style="text-align:left;opacity:.7;padding:0 12px 0 0">{escape(key)}</td>'
        f'<td style="text-align:left">{escape(_text(value))}</td></tr>'
        for key, value in facts.items()
        if value not in (None, "", [], {})
    )
    return f'<div style="{_BOX}">{name}{badge}{_bar(progress)}<table style="margin:6px 0 0">{rows}</table></div>'


def _bar(progress: float | None) -> str:
    if progress is None:
        return ""
    percent = round(100 * min(max(progress, 0.0), 1.0))
    return (
        '<div style="background:#8883;border-radius:3px;height:6px;margin:6px 0">'
        f'<div style="background:{_RUNNING};border-radius:3px;height:6px;width:{percent}%"></div></div>'
    )


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_text(each)}" for key, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return str(value)


def show_live(thing: Shown, *, wait: Callable[[float], object] = threading.Event().wait) -> threading.Thread | None:
    """Display the card, and keep it up to date in the background until the thing has finished. None: nothing to follow.

    Outside of a notebook nothing happens: whoever calls this is IPython.
    """
    if find_spec("IPython") is None:
        return None
    ipython: Any = import_module("IPython.display")
    handle = ipython.display(ipython.HTML(thing._repr_html_()), display_id=True)
    if handle is None or thing.is_finished:
        return None

    def follow() -> None:
        while not thing.is_finished:
            wait(_REFRESH_S)
            try:
                thing.reload()
            except Exception:  # a master that is away, an experiment that was deleted: the last card stays
                return
            handle.update(ipython.HTML(thing._repr_html_()))

    thread = threading.Thread(target=follow, daemon=True, name="resolute-card")
    thread.start()
    return thread
