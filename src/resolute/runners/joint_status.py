"""What the parts of a gang come to together. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from resolute.domain.gang import Phase, phase_of
from resolute.engine.ports.runner import GangStatus


@dataclass(frozen=True, slots=True)
class PartStatus:
    node_id: str
    status: GangStatus
    ended_at: float = 0.0
    """Seconds of any clock that all parts share."""

    @property
    def has_failed(self) -> bool:
        return self.status.is_lost or self.status.exit_code not in (None, 0)


def joint_status(parts: Sequence[PartStatus]) -> GangStatus:
    """Over when all parts are. A lost node explains what became of the others, so the gang is lost with it; else it
    ends as the part did that failed first."""
    if any(not part.status.is_over for part in parts):
        return GangStatus(phase=phase_of([part.status.phase for part in parts]))
    failed = [part for part in parts if part.has_failed]
    if not failed:
        return GangStatus(phase=Phase.ENDED, exit_code=0)
    decisive = min(failed, key=lambda part: (not part.status.is_lost, part.ended_at))
    if len(parts) == 1:
        return decisive.status
    return replace(decisive.status, reason=f"Node {decisive.node_id}: {decisive.status.reason}")


def must_end(parts: Sequence[PartStatus]) -> bool:
    """The parts that are left cannot finish what they have begun together."""
    return any(part.has_failed for part in parts) and any(not part.status.is_over for part in parts)
