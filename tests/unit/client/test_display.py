"""Things of the SDK in a notebook: cards that tell what matters, escape everything, and keep up with what runs."""

import threading
from typing import Any

import IPython.display
import pytest

from resolute.client.checkpoint import Checkpoint
from resolute.client.display import card, show_live
from resolute.client.experiment import Experiment
from resolute.client.session import Session
from resolute.client.trial import Trial


@pytest.fixture
def session() -> Session:
    return Session("http://master:8080")


def test_what_users_wrote_cannot_become_markup() -> None:
    html = card("<script>", {"<b>": "<i>", "link": '"x"'}, state="<s>", link='javascript:"')

    assert "<script>" not in html
    assert "<i>" not in html
    assert "<s>" not in html
    assert 'href="javascript:&quot;"' in html


def test_an_experiment_shows_its_state_progress_and_best_metric(session: Session) -> None:
    config = {"searcher": {"name": "random", "metric": "val_loss"}}
    data = {"id": 3, "name": "digits", "state": "STATE_RUNNING", "progress": 0.25, "numTrials": 4, "config": config}

    html = Experiment(session, {**data, "bestTrialSearcherMetric": 0.123456789})._repr_html_()

    for words in ("Experiment 3: digits", "RUNNING", "width:25%", "best val_loss", "0.12346", "/det/experiments/3"):
        assert words in html


def test_trials_and_checkpoints_show_what_they_have(session: Session) -> None:
    trial = {"id": 7, "experimentId": 3, "state": "STATE_COMPLETED", "hparams": {"lr": 0.1}}
    checkpoint = {"uuid": "abc", "state": "STATE_COMPLETED", "resources": {"a": "1048576"}}

    assert "lr 0.1" in Trial(session, trial)._repr_html_()
    assert "1.0 MiB" in Checkpoint(session, checkpoint)._repr_html_()


class Steps:
    """Finishes after two looks."""

    def __init__(self) -> None:
        self.looks = 0

    @property
    def is_finished(self) -> bool:
        return self.looks >= 2

    def reload(self) -> None:
        self.looks += 1

    def _repr_html_(self) -> str:
        return f"look {self.looks}"


def test_a_card_keeps_up_until_the_thing_has_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, html: Any) -> None:
            shown.append(html.data)

    monkeypatch.setattr(IPython.display, "display", lambda html, display_id: shown.append(html.data) or Handle())

    thread = show_live(Steps(), wait=lambda seconds: None)

    assert isinstance(thread, threading.Thread)
    thread.join(10)
    assert shown == ["look 0", "look 1", "look 2"]
