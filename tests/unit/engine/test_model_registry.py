"""Rules of the model registry: what stays true whatever people do with it, one after another and at once."""

import tempfile
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from resolute.domain.checkpoint import Checkpoint, CheckpointState
from resolute.domain.errors import AlreadyExists, IllegalTransition, InvalidInput, NotFound
from resolute.domain.model import ModelVersion, Stage
from resolute.engine.access.accounts import ensure_default_users
from resolute.engine.access.workspaces import add_workspace, archive_workspace, ensure_default_workspace
from resolute.engine.experiments.collection import collect, delete_checkpoints
from resolute.engine.platform import MasterConfig, Platform
from resolute.engine.registry import models as registry
from resolute.engine.registry.models import Place, checked_model_name
from resolute.runners.fake import FakeRunner
from resolute.store.blobs import open_blobs
from resolute.store.db import open_store
from resolute.store.logs import FileLogs


@pytest.fixture
def trial(world: Any) -> Any:
    experiment = world.create()
    world.tick(2)
    return world.trials(experiment.id)[0]


@pytest.fixture
def ships(world: Any, trial: Any) -> Callable[..., ModelVersion]:
    """Makes the model `ships` and registers a new checkpoint with every call."""
    registry.create_model(world.platform, user=world.user, name="ships")

    def register(steps: int = 1) -> ModelVersion:
        checkpoint = world.checkpoint(trial, steps)
        return registry.register_version(world.platform, "ships", user=world.user, checkpoint_uuid=checkpoint)

    return register


def stages(world: Any) -> dict[int, Stage]:
    with world.platform.store.read() as tx:
        return {version.version: version.stage for version in tx.models.versions(1)}


# ----------------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize("name", ["ships", "Größe 3", "v1.2-beta", "12a", "a" * 255, "船", "  padded  "])
def test_usable_names_are_kept_without_the_space_around_them(name: str) -> None:
    assert checked_model_name(name) == name.strip()


@pytest.mark.parametrize("name", ["", " ", "7", "007", "a/b", "a\\b", "a  b", "a\tb", "\x00", "a" * 256])
def test_names_that_would_be_taken_for_something_else_are_refused(name: str) -> None:
    with pytest.raises(InvalidInput):
        checked_model_name(name)


def test_a_digit_of_another_script_is_no_id(world: Any) -> None:
    with world.platform.store.read() as tx, pytest.raises(NotFound, match="resolute model list"):
        registry.find_model(tx, "٣")


def test_a_refused_change_leaves_everything_as_it_was(world: Any) -> None:
    registry.create_model(world.platform, user=world.user, name="ships")
    before = registry.create_model(world.platform, user=world.user, name="planes", labels=["a"])

    with pytest.raises(AlreadyExists):
        registry.change_model(world.platform, "planes", {"name": "ships", "labels": ["b"]})
    with pytest.raises(NotFound):
        registry.change_model(world.platform, "planes", {"labels": ["b"]}, place=Place(workspace_name="moon"))

    with world.platform.store.read() as tx:
        assert tx.models.by_name("planes") == before


def test_a_model_cannot_go_into_an_archived_workspace(world: Any) -> None:
    lab = add_workspace(world.platform, user=world.user, name="lab")
    archive_workspace(world.platform, lab.id, archived=True)

    with pytest.raises(IllegalTransition, match="'lab' is archived"):
        registry.create_model(world.platform, user=world.user, name="ships", place=Place(workspace_id=lab.id))

    with world.platform.store.read() as tx:
        assert tx.models.by_name("ships") is None


# -------------------------------------------------------------------------------------------------------- versions


def test_registering_and_changing_a_version_touches_its_model(world: Any, ships: Callable[..., ModelVersion]) -> None:
    def updated() -> Any:
        with world.platform.store.read() as tx:
            return tx.models.get(1).last_updated_time

    times = [updated()]
    for change in (
        ships,
        lambda: registry.change_version(world.platform, "ships", 1, {"notes": "n"}),
        lambda: registry.delete_version(world.platform, "ships", 1),
    ):
        world.clock.forward(1)
        change()
        times.append(updated())

    assert times == sorted(set(times))


@pytest.mark.parametrize("state", [each for each in CheckpointState if each is not CheckpointState.COMPLETED])
def test_only_a_whole_checkpoint_is_registered(
    world: Any, trial: Any, ships: Callable[..., ModelVersion], state: CheckpointState
) -> None:
    name = str(uuid.uuid4())
    checkpoint = Checkpoint(
        uuid=name, state=state, report_time=world.clock(), resources={}, metadata={}, trial_id=trial.id
    )
    with world.platform.store.write() as tx:
        tx.checkpoints.add(checkpoint)

    with pytest.raises(IllegalTransition, match=f"{name} is {state}; only a COMPLETED one"):
        registry.register_version(world.platform, "ships", user=world.user, checkpoint_uuid=name)

    assert stages(world) == {}


@pytest.mark.parametrize("stage", [Stage.NONE, Stage.STAGING, Stage.RETIRED])
def test_other_stages_leave_the_one_in_production_alone(
    world: Any, ships: Callable[..., ModelVersion], stage: Stage
) -> None:
    ships(1)
    ships(2)
    registry.change_version(world.platform, "ships", 1, {"stage": Stage.PRODUCTION})

    registry.change_version(world.platform, "ships", 2, {"stage": stage})

    assert stages(world) == {1: Stage.PRODUCTION, 2: stage}


def test_promoting_the_one_in_production_again_changes_nothing(world: Any, ships: Callable[..., ModelVersion]) -> None:
    ships()

    for _ in range(2):
        registry.change_version(world.platform, "ships", 1, {"stage": Stage.PRODUCTION})

    assert stages(world) == {1: Stage.PRODUCTION}


def test_models_do_not_retire_one_anothers_versions(world: Any, trial: Any, ships: Callable[..., ModelVersion]) -> None:
    first = ships()
    registry.create_model(world.platform, user=world.user, name="planes")
    registry.register_version(world.platform, "planes", user=world.user, checkpoint_uuid=first.checkpoint_uuid)

    for name in ("ships", "planes"):
        registry.change_version(world.platform, name, 1, {"stage": Stage.PRODUCTION})

    assert stages(world) == {1: Stage.PRODUCTION}


def test_deleting_is_refused_as_a_whole_when_one_is_registered(
    world: Any, trial: Any, ships: Callable[..., ModelVersion]
) -> None:
    free = world.checkpoint(trial, 9)
    held = ships().checkpoint_uuid

    with pytest.raises(IllegalTransition, match="cannot be deleted: ships/1"):
        delete_checkpoints(world.platform, [free, held])

    with world.platform.store.read() as tx:
        assert tx.checkpoints.get(free).state is CheckpointState.COMPLETED


def test_what_a_version_let_go_is_collected(world: Any, trial: Any, ships: Callable[..., ModelVersion]) -> None:
    held = ships(1).checkpoint_uuid
    for steps in (2, 3):
        world.checkpoint(trial, steps)
        world.validate(trial, steps, loss=1 / steps)
    world.finish(trial)

    kept = _state(world, held)
    registry.delete_version(world.platform, "ships", 1)
    collect(world.platform, trial.experiment_id)

    assert kept is CheckpointState.COMPLETED
    assert _state(world, held) is CheckpointState.DELETED


def _state(world: Any, name: str) -> CheckpointState:
    with world.platform.store.read() as tx:
        state: CheckpointState = tx.checkpoints.get(name).state
        return state


# --------------------------------------------------------------------------------------------------------- at once


def test_versions_registered_at_once_get_numbers_of_their_own(
    world: Any, trial: Any, ships: Callable[..., ModelVersion]
) -> None:
    name = world.checkpoint(trial, 1)

    def register(_: int) -> int:
        return registry.register_version(world.platform, "ships", user=world.user, checkpoint_uuid=name).version

    with ThreadPoolExecutor(4) as pool:
        numbers = list(pool.map(register, range(16)))

    assert sorted(numbers) == list(range(1, 17))


def test_of_versions_promoted_at_once_one_is_in_production(world: Any, ships: Callable[..., ModelVersion]) -> None:
    numbers = [ships(steps).version for steps in range(1, 7)]

    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(
                lambda n: registry.change_version(world.platform, "ships", n, {"stage": Stage.PRODUCTION}), numbers
            )
        )

    assert sorted(stages(world).values()) == [Stage.PRODUCTION, *[Stage.RETIRED] * 5]


def test_of_models_created_at_once_one_gets_the_name(world: Any) -> None:
    def create(_: int) -> bool:
        try:
            registry.create_model(world.platform, user=world.user, name="ships")
        except AlreadyExists:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(create, range(8))) == 1


# -------------------------------------------------------------------------------------------------- whatever is done

NAMES = st.sampled_from(["a", "b", "c"])
NUMBERS = st.integers(1, 4)


class RegistryMachine(RuleBasedStateMachine):
    """Any order of deeds over three models and three checkpoints, beside the simplest thing that could be true."""

    def __init__(self) -> None:
        super().__init__()
        self.store = open_store("sqlite://")
        self.folder = tempfile.TemporaryDirectory()
        self.platform = _platform(self.store, Path(self.folder.name))
        with self.platform.store.write() as tx:
            self.user = tx.users.all()[0]
            for name in "xyz":
                tx.checkpoints.add(_whole(self.platform, name))
        self.known: dict[str, dict[int, Stage]] = {}
        self.given: dict[str, int] = {}
        self.archived: set[str] = set()
        self.held: dict[tuple[str, int], str] = {}

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    def attempt(self, deed: Callable[[], Any]) -> Any:
        try:
            return deed()
        except (AlreadyExists, IllegalTransition, NotFound):
            return None

    @rule(name=NAMES)
    def create(self, name: str) -> None:
        made = self.attempt(lambda: registry.create_model(self.platform, user=self.user, name=name))

        assert (made is None) == (name in self.known)
        if made is not None:
            self.known[name], self.given[name] = {}, 0

    @rule(name=NAMES, checkpoint=st.sampled_from("xyz"))
    def register(self, name: str, checkpoint: str) -> None:
        version = self.attempt(
            lambda: registry.register_version(self.platform, name, user=self.user, checkpoint_uuid=checkpoint)
        )

        assert (version is not None) == (name in self.known and name not in self.archived)
        if version is not None:
            self.given[name] += 1
            assert version.version == self.given[name]
            self.known[name][version.version] = Stage.NONE
            self.held[name, version.version] = checkpoint

    @rule(name=NAMES, number=NUMBERS, stage=st.sampled_from(Stage))
    def promote(self, name: str, number: int, stage: Stage) -> None:
        changed = self.attempt(lambda: registry.change_version(self.platform, name, number, {"stage": stage}))

        assert (changed is not None) == (name not in self.archived and number in self.known.get(name, {}))
        if changed is None:
            return
        if stage is Stage.PRODUCTION:
            for other, its in self.known[name].items():
                if its is Stage.PRODUCTION:
                    self.known[name][other] = Stage.RETIRED
        self.known[name][number] = stage

    @rule(name=NAMES, archived=st.booleans())
    def archive(self, name: str, archived: bool) -> None:
        self.attempt(lambda: registry.archive_model(self.platform, name, archived=archived))

        if name in self.known:
            self.archived = self.archived | {name} if archived else self.archived - {name}

    @rule(name=NAMES, number=NUMBERS)
    def delete_version(self, name: str, number: int) -> None:
        self.attempt(lambda: registry.delete_version(self.platform, name, number))

        self.known.get(name, {}).pop(number, None)
        self.held.pop((name, number), None)

    @rule(name=NAMES)
    def delete_model(self, name: str) -> None:
        self.attempt(lambda: registry.delete_model(self.platform, name))

        for number in self.known.pop(name, {}):
            self.held.pop((name, number))
        self.archived.discard(name)

    @invariant()
    def it_is_as_it_should_be(self) -> None:
        with self.platform.store.read() as tx:
            stored = {
                name: {version.version: version.stage for version in tx.models.versions(model.id)}
                for name in "abc"
                if (model := tx.models.by_name(name)) is not None
            }
            in_use = tx.checkpoints.in_use(1)
        assert stored == self.known
        assert in_use == set(self.held.values())
        assert all(list(numbers.values()).count(Stage.PRODUCTION) <= 1 for numbers in stored.values())


def _platform(store: Any, home: Path) -> Platform:
    """Only what the registry touches; nothing runs."""
    platform = Platform(
        store=store,
        runner=FakeRunner(0),
        logs=FileLogs(home),
        blobs=open_blobs,
        clock=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        config=MasterConfig(home=home),
    )
    ensure_default_users(platform)
    ensure_default_workspace(platform)
    return platform


def _whole(platform: Platform, name: str) -> Checkpoint:
    return Checkpoint(
        uuid=name,
        state=CheckpointState.COMPLETED,
        report_time=platform.clock(),
        resources={},
        metadata={},
        experiment_id=1,
    )


TestWhateverIsDone = RegistryMachine.TestCase
TestWhateverIsDone.settings = settings(max_examples=15, stateful_step_count=20)
