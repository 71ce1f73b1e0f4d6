"""Writing checkpoints when things go wrong around it: outages, late shards, clashing names, other slots' damage."""

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from resolute.domain.errors import InvalidInput, NotFound, Unavailable
from resolute.store.blobs import open_blobs
from resolute.training.checkpoints import Checkpoints
from resolute.training.environment import Place
from resolute.training.offline import LocalMaster


def make(tmp_path: Path, *, rank: int = 0, size: int = 1, master: Any = None, **options: Any) -> Checkpoints:
    storage = {"type": "directory", "container_path": str(tmp_path / "storage")}
    return Checkpoints(
        master=master or LocalMaster(tmp_path / "run", echo=False),
        blobs=options.pop("blobs", None) or open_blobs(storage),
        place=Place(rank=rank, size=size, local_rank=rank),
        name_base="base",
        retry_s=0.01,
        **options,
    )


class Away:
    """Fails `times` times at every call of `name`, then does it."""

    def __init__(self, inner: Any, name: str, times: int) -> None:
        self._inner, self._name, self._left = inner, name, times

    def __getattr__(self, name: str) -> Any:
        if name == self._name and self._left > 0:
            return self._fail
        return getattr(self._inner, name)

    def _fail(self, *args: Any) -> None:
        self._left -= 1
        raise Unavailable(f"{self._name} is away.")


@pytest.mark.parametrize("part", ["store", "master"])
def test_an_outage_is_waited_out(tmp_path: Path, part: str, caplog: pytest.LogCaptureFixture) -> None:
    local = LocalMaster(tmp_path / "run", echo=False)
    blobs = open_blobs({"type": "directory", "container_path": str(tmp_path / "storage")})
    checkpoints = make(
        tmp_path,
        master=Away(local, "send_checkpoint", 3) if part == "master" else local,
        blobs=Away(blobs, "upload", 3) if part == "store" else blobs,
    )

    with caplog.at_level(logging.WARNING, logger="resolute"):
        uuid = checkpoints.save({"a": 1}, steps=1)
        checkpoints.close()

    assert [record.uuid for record in local.checkpoints()] == [uuid]
    assert caplog.text.count("Trying again") == 1


def test_metrics_are_flushed_before_the_checkpoint_is_known(tmp_path: Path) -> None:
    order: list[str] = []

    class Noting(LocalMaster):
        def send_checkpoint(self, checkpoint: Any) -> None:
            order.append("checkpoint")

    checkpoints = make(
        tmp_path, master=Noting(tmp_path / "run", echo=False), before_report=lambda: order.append("metrics")
    )
    checkpoints.save({"a": 1}, steps=1)
    checkpoints.close()

    assert order == ["metrics", "checkpoint"]


def _on_each_rank(tmp_path: Path, work: Callable[[Checkpoints, int], None]) -> list[BaseException]:
    errors: list[BaseException] = []

    def rank(number: int) -> None:
        checkpoints = make(tmp_path, rank=number, size=2)
        try:
            work(checkpoints, number)
            checkpoints.close()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=rank, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_shards_of_two_ranks_become_one_checkpoint(tmp_path: Path) -> None:
    def work(checkpoints: Checkpoints, rank: int) -> None:
        with checkpoints.store(steps=3, shard=True) as (folder, _):
            (folder / f"part-{rank}").write_text(str(rank))

    errors = _on_each_rank(tmp_path, work)

    (record,) = LocalMaster(tmp_path / "run", echo=False).checkpoints()
    assert errors == []
    assert sorted(record.resources) == ["metadata.json", "part-0", "part-1"]
    assert sorted(record.digests) == sorted(record.resources)


def test_two_ranks_that_write_the_same_name_are_told(tmp_path: Path) -> None:
    def work(checkpoints: Checkpoints, rank: int) -> None:
        with checkpoints.store(steps=3, shard=True) as (folder, _):
            (folder / "part").write_text(str(rank))

    (error,) = _on_each_rank(tmp_path, work)

    assert isinstance(error, InvalidInput)
    assert "Two ranks wrote part" in str(error)


def test_a_shard_that_never_comes_gives_the_checkpoint_up(tmp_path: Path) -> None:
    checkpoints = make(tmp_path, size=2, shard_timeout_s=0.05)
    checkpoints.save({"a": 1}, steps=1, shard=True)

    with pytest.raises(Unavailable, match=r"rank-1.json did not arrive"):
        checkpoints.close()

    assert LocalMaster(tmp_path / "run", echo=False).checkpoints() == []


def test_metadata_that_is_not_json_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    checkpoints = make(tmp_path)

    with pytest.raises(InvalidInput, match="plain JSON values"):
        checkpoints.save({"a": 1}, steps=1, metadata={"path": tmp_path})

    checkpoints.close()
    assert not list((tmp_path / "storage").rglob("*.pt"))


def test_a_checkpoint_asked_for_by_name_must_exist(tmp_path: Path) -> None:
    checkpoints = make(tmp_path)

    with pytest.raises(NotFound, match="checkpoint not found: nope"):
        checkpoints.restore("nope")

    checkpoints.close()


def test_nothing_whole_left_means_a_start_from_the_beginning_said_aloud(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = make(tmp_path)
    uuid = first.save({"a": 1}, steps=1)
    first.close()
    next((tmp_path / "storage").rglob("state.pt")).unlink()

    second = make(tmp_path, latest=uuid)
    with caplog.at_level(logging.ERROR, logger="resolute"):
        restored = second.restore()
    second.close()

    assert restored is None
    assert "starts from the beginning" in caplog.text


def test_names_differ_by_count_and_steps_and_agree_between_ranks(tmp_path: Path) -> None:
    ranks = [make(tmp_path, rank=rank, size=2) for rank in range(2)]

    names = [[each._next_uuid(steps) for steps in (5, 5, 6)] for each in ranks]

    assert names[0] == names[1]
    assert len(set(names[0])) == 3
    for each in ranks:
        each.close()
