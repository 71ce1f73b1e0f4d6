"""The line that shows how far a search is. Pure: figures in, text out."""

from dataclasses import dataclass

_WIDTH = 25
_RUNNING = ("ACTIVE", "RUNNING", "STARTING", "PULLING", "STOPPING")
_FAILED = ("ERROR",)
_KILLED = ("CANCELED",)
_DONE = ("COMPLETED", *_FAILED, *_KILLED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    done: int
    total: int
    running: int = 0
    pending: int = 0
    failed: int = 0
    killed: int = 0

    @classmethod
    def of(cls, states: list[str], total: int) -> "Progress":
        """From the states of the trials there are so far."""
        return cls(
            done=sum(state in _DONE for state in states),
            total=total,
            running=sum(state.startswith(_RUNNING) for state in states),
            pending=sum(state == "QUEUED" for state in states),
            failed=sum(state in _FAILED for state in states),
            killed=sum(state in _KILLED for state in states),
        )

    def line(self, elapsed_s: float, objective: str, best: float | None) -> str:
        share = min(self.done / self.total, 1.0) if self.total else 1.0
        bar = "=" * int(share * _WIDTH)
        minutes, seconds = divmod(int(elapsed_s), 60)
        value = "-" if best is None else f"{best!r}"
        return (
            f"Progress: {int(share * 100)}%|{bar:<{_WIDTH}}|{self.done}/{self.total} "
            f"[time: {minutes:02d}:{seconds:02d}, {objective}: {value}, trials running: {self.running}, "
            f"pending: {self.pending}, failed: {self.failed}, killed: {self.killed}]"
        )
