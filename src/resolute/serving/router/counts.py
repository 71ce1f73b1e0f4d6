"""What the router counts of each revision. Only numbers: nothing of a request is kept."""

from resolute.domain.routing import DeploymentCounts, RevisionCounts
from resolute.domain.traffic import bucket_of


class RevisionCounter:
    __slots__ = ("buckets", "errors", "in_flight", "requests")

    def __init__(self) -> None:
        self.requests = 0
        self.errors = 0
        self.in_flight = 0
        self.buckets: dict[int, int] = {}

    def ended(self, seconds: float, *, is_error: bool) -> None:
        self.requests += 1
        self.errors += is_error
        bucket = bucket_of(seconds)
        self.buckets[bucket] = self.buckets.get(bucket, 0) + 1

    def counts(self) -> RevisionCounts:
        return RevisionCounts(
            requests=self.requests, errors=self.errors, in_flight=self.in_flight, buckets=dict(self.buckets)
        )


class DeploymentCounter:
    def __init__(self) -> None:
        self.asked = 0
        self.picked = 0
        """Number of the next request to be shared out."""
        self.shadowed = 0
        self._revisions: dict[int, RevisionCounter] = {}

    def of(self, revision: int) -> RevisionCounter:
        counter = self._revisions.get(revision)
        if counter is None:
            counter = self._revisions[revision] = RevisionCounter()
        return counter

    def counts(self, waiting: int) -> DeploymentCounts:
        revisions = {number: counter.counts() for number, counter in self._revisions.items()}
        return DeploymentCounts(waiting=waiting, asked=self.asked, revisions=revisions)
