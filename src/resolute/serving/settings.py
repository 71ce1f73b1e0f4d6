"""How a model server is set up: what it serves, and how much it takes on. Checked here, before anything starts."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from resolute.domain.errors import InvalidInput

DEFAULT_LOAD = "resolute.serving.loading:load_model"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """One model: what its process loads, and the name it answers to."""

    name: str
    source: Path
    aliases: tuple[str, ...] = ()
    """Other names that it answers to: the one that its archive or folder gives it."""
    version: str = "1"
    options: dict[str, Any] = field(default_factory=dict)
    load: str = DEFAULT_LOAD
    """`module:function` with the signature of `serving.model.Load`."""
    workers: int = 1
    """Processes that each hold the whole model."""
    is_trusted: bool = False
    """Its code is the user's own: its processes keep the network and every file of this user."""
    allow_pickle: bool = False
    """Files whose loading runs code that they carry are loaded."""
    memory_bytes: int = 0
    """Of each process; 0: as much as the machine has."""

    def __post_init__(self) -> None:
        if not self.name or set(self.name) & set("/:?#% "):
            raise InvalidInput(f"A model cannot be called {self.name!r}: use letters, digits, '-', '_' and '.'.")
        if self.workers < 1:
            raise InvalidInput(f"workers is {self.workers}; at least one process must hold the model.")
        if self.memory_bytes < 0:
            raise InvalidInput(f"memory_bytes is {self.memory_bytes}; give a number of bytes, or 0 for no limit.")
        if not all(self.load.partition(":")):
            raise InvalidInput(f"load is {self.load!r}; write module:function, for example {DEFAULT_LOAD}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a server takes on at once. `domain.deployment.Serving` has the same names."""

    max_batch_size: int = 8
    """Instances (V1) or requests (V2) in one call of the model. A larger request is a batch of its own."""
    max_batch_delay_ms: float = 5.0
    """The longest that a free model waits for company, and only while there has been company."""
    max_queue: int = 100
    """Requests that may wait; one more gets 429."""
    timeout_s: float = 60.0
    max_body_bytes: int = 64 << 20
    drain_s: float = 30.0
    """How long requests may still take after SIGTERM."""

    def __post_init__(self) -> None:
        for name, least in (("max_batch_size", 1), ("max_batch_delay_ms", 0), ("max_queue", 1), ("max_body_bytes", 1)):
            if getattr(self, name) < least:
                raise InvalidInput(f"{name} is {getattr(self, name)}; it must be at least {least}.")
        if self.timeout_s <= 0 or self.drain_s < 0:
            raise InvalidInput(f"timeout_s {self.timeout_s} must be above 0 and drain_s {self.drain_s} not below it.")
