"""What every runner promises, as tests that a runner written anywhere can be held to. Needs pytest.

    class TestMyRunner(RunnerContract):
        @pytest.fixture
        def subject(self, tmp_path):
            subject = MySubject(tmp_path)
            yield subject
            subject.runner.close(stop_gangs=True)

`RunnerContract` is for all of them, `SeveralNodesContract` for those with more than one node, `DelegatingContract` for
those with a pool whose engine places. A subject says how gangs are made that the runner can run; see the protocols.
"""

from resolute.runners.contract.delegating import Delegating, DelegatingContract
from resolute.runners.contract.master import MasterStandIn
from resolute.runners.contract.patience import ended, until
from resolute.runners.contract.several_nodes import SeveralNodes, SeveralNodesContract
from resolute.runners.contract.suite import RunnerContract, RunnerUnderTest

__all__ = [
    "Delegating",
    "DelegatingContract",
    "MasterStandIn",
    "RunnerContract",
    "RunnerUnderTest",
    "SeveralNodes",
    "SeveralNodesContract",
    "ended",
    "until",
]
