"""A trial's log policies: its log is read as it grows, and what a line sets off happens once a run.

What was set off is stored with the allocation, in the transaction in which it happens: a master that is killed in
between reads the log of the run again from its start, and does nothing twice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from resolute.domain.allocation import Allocation, AllocationState, node_of_rank
from resolute.domain.change import Action
from resolute.domain.errors import InvalidInput, NotFound
from resolute.domain.log import LogLevel, LogLine, LogStream
from resolute.domain.log_policy import LogAction, LogMatch, LogPolicy, find_matches, parse_log_policies
from resolute.domain.trial import Trial
from resolute.engine.experiments.configuration import readable
from resolute.engine.notices import microseconds, tell
from resolute.engine.patterns import Pattern, TooSlow
from resolute.engine.platform import Platform
from resolute.engine.ports.database import Transaction
from resolute.engine.ports.logs import LogQuery
from resolute.engine.trials.moves import trial_of
from resolute.engine.unit_of_work import Flow, flow
from resolute.spec.experiment import ExperimentConfig

_AT_ONCE = 5000
"""Lines of one log read in one go."""
_LOOKED_AT = 10_000
"""Characters of one line."""


def policies_of(tx: Transaction, trial: Trial) -> list[LogPolicy]:
    config = readable(tx.experiments.get(trial.experiment_id))
    return policies_in(config) if config else []


def policies_in(config: ExperimentConfig) -> list[LogPolicy]:
    return parse_log_policies([policy.resolved() for policy in config.log_policies if policy.pattern])


@dataclass(slots=True)
class LogReader:
    """Reads the log of one run, from where it was read to. Each thread has its own."""

    platform: Platform
    allocation: Allocation
    policies: Sequence[LogPolicy]
    _patterns: dict[int, Pattern] = field(default_factory=dict)
    _size: int = -1

    def __post_init__(self) -> None:
        for place, policy in enumerate(self.policies):
            try:
                self._patterns[place] = Pattern(policy.pattern)
            except InvalidInput as error:
                self._give_up(place, str(error))

    def read_on(self) -> None:
        """Look at what was printed since the last call, and do what it sets off."""
        size = self.platform.logs.size(self.allocation.task_id)
        if size == self._size:
            return
        while lines := self._next_lines():
            found = find_matches(self.policies, self._printed(lines), self._is_in, known=self.allocation.log_matches)
            if found:
                self.allocation = set_off(self.platform, self.allocation.id, found)
            self.platform.read_logs[self.allocation.id] = lines[-1].id
            if len(lines) < _AT_ONCE:
                break
        self._size = size

    def _next_lines(self) -> list[LogLine]:
        query = LogQuery(limit=_AT_ONCE, after_id=self.platform.read_logs.get(self.allocation.id))
        if query.after_id is None:
            query = replace(query, since_us=microseconds(self.allocation.created_at))
        return self.platform.logs.read(self.allocation.task_id, query)

    def _printed(self, lines: Sequence[LogLine]) -> Iterator[tuple[str, str]]:
        """What the platform itself says may quote a line that matched."""
        for line in lines:
            if line.stream is not LogStream.PLATFORM:
                yield line.text[:_LOOKED_AT], node_of_rank(self.allocation, line.rank)

    def _is_in(self, place: int, text: str) -> bool:
        pattern = self._patterns.get(place)
        try:
            return pattern is not None and pattern.is_in(text)
        except TooSlow as error:
            self._give_up(place, str(error))
            return False

    def _give_up(self, place: int, why: str) -> None:
        self._patterns.pop(place, None)
        sentence = f"Log policy {self.policies[place].name!r} is not looked at in this run. {why}"
        tell(self.platform, self.allocation.task_id, sentence, level=LogLevel.WARNING)


def set_off(platform: Platform, allocation_id: str, found: Sequence[LogMatch]) -> Allocation:
    """Do what was found, unless it has been done. Returns the allocation as it is then."""
    with flow(platform) as current:
        allocation = current.tx.allocations.get(allocation_id)
        return _set_off(current, allocation, found)


def _set_off(current: Flow, allocation: Allocation, found: Sequence[LogMatch]) -> Allocation:
    fresh = [match for match in found if match.key not in allocation.log_matches]
    if not fresh or allocation.state is AllocationState.TERMINATED:
        return allocation
    try:
        trial = trial_of(current.tx, current.tx.tasks.get(allocation.task_id))
    except NotFound:  # deleted meanwhile
        return allocation
    allocation = replace(allocation, log_matches=(*allocation.log_matches, *(match.key for match in fresh)))
    current.tx.allocations.save(allocation)
    excluded = {match.node_id for match in fresh if match.policy.action is LogAction.EXCLUDE_NODE}
    nodes = tuple(sorted({*trial.excluded_nodes, *excluded}))
    current.change(trial, replace(trial, excluded_nodes=nodes, log_policy_matched=fresh[0].policy.name))
    for match in fresh:
        _tell_of(current, trial, match)
    current.publish(f"trial/{trial.id}", f"experiment/{trial.experiment_id}")
    return allocation


def _tell_of(current: Flow, trial: Trial, match: LogMatch) -> None:
    current.tell(trial.task_id, match.sentence, LogLevel.WARNING)
    current.record(
        Action.LOG_PATTERN_MATCHED,
        "trial",
        trial.id,
        workspace_id=current.tx.workspaces.of_experiment(trial.experiment_id),
        experiment_id=trial.experiment_id,
        policy=match.policy.name,
        line=match.text.strip()[:200],
    )
