"""A subscription: which changes somebody outside wants to hear of. Pure."""

from dataclasses import dataclass

from resolute.domain.change import Action, Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """Every part that is not empty must match."""

    name: str
    """Under which its progress is kept, such as `webhook/7`; never given to another one."""
    kinds: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    states: tuple[str, ...] = ()
    """Those that a thing has come into."""
    workspace_id: int | None = None

    def wants(self, change: Change) -> bool:
        return (
            (not self.kinds or change.kind in self.kinds)
            and (not self.actions or change.action in self.actions)
            and (not self.states or change.to_state in self.states)
            and (self.workspace_id is None or change.workspace_id == self.workspace_id)
        )
