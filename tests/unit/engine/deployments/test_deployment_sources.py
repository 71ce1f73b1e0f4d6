"""A revision's files come to this machine once, whole, and checked."""

import hashlib
import http.server
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from resolute.domain.checkpoint import CheckpointState
from resolute.domain.deployment import Revision, Serving
from resolute.domain.errors import CheckpointDamaged, IllegalTransition, InvalidInput, NotFound, Unavailable
from resolute.domain.node import Node, Slot
from resolute.engine.deployments.models import SourceSpec
from resolute.engine.deployments.sources import Sources, fetch, source_folder
from resolute.engine.jobs.nodes import model_path
from resolute.engine.platform import Platform
from resolute.store.blobs import ObjectBlobs, open_blobs

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def revision_of(source: str, uuid: str | None = None) -> Revision:
    return Revision(
        id=1,
        deployment_id=1,
        number=1,
        source=source,
        model_version_id=None,
        checkpoint_uuid=uuid,
        serving=Serving(),
        created_at=NOON,
    )


@pytest.fixture
def checkpoint(world: Any) -> Callable[..., Revision]:
    """A stored checkpoint with one file, as a revision."""

    def make(content: bytes = b"weights", digest: str | None = None) -> Revision:
        trial = world.trials(world.create().id)[0]
        digests = {"model.bin": digest or hashlib.sha256(content).hexdigest()}
        uuid = world.checkpoint(trial, 1, content, digests=digests)
        return revision_of(f"checkpoint:{uuid}", uuid)

    return make


@pytest.fixture
def wait_for() -> Callable[[Sources, Revision], str]:
    def wait(sources: Sources, revision: Revision) -> str:
        while (state := sources.state(revision)) is None:
            sources._pool.submit(lambda: None).result(timeout=5)
        return state

    return wait


def test_a_checkpoint_is_downloaded_once(world: Any, checkpoint: Callable[..., Revision]) -> None:
    revision = checkpoint()

    fetch(world.platform, revision)
    folder = source_folder(world.home, revision)
    changed = folder / "model.bin"
    changed.write_bytes(b"still the same copy")
    fetch(world.platform, revision)

    assert folder == world.home / "served" / str(revision.checkpoint_uuid)
    assert changed.read_bytes() == b"still the same copy"


def test_a_checkpoint_whose_content_changed_is_refused_and_leaves_nothing(
    world: Any, checkpoint: Callable[..., Revision]
) -> None:
    revision = checkpoint(digest="0" * 64)

    with pytest.raises(CheckpointDamaged, match=r"content of model\.bin has changed"):
        fetch(world.platform, revision)

    assert list((world.home / "served").iterdir()) == []


def test_fetching_happens_behind_and_its_outcome_is_remembered(
    world: Any, checkpoint: Callable[..., Revision], wait_for: Callable[[Sources, Revision], str]
) -> None:
    sources = Sources(world.platform)
    good, bad = checkpoint(b"one"), checkpoint(b"two", digest="0" * 64)

    assert wait_for(sources, good) == ""
    assert "has changed" in wait_for(sources, bad)
    assert "has changed" in str(sources.state(bad))
    sources.forget(bad)
    assert sources.state(bad) is None
    sources.close()


def test_a_path_is_served_from_where_it_lies(world: Any, tmp_path: Path) -> None:
    revision = revision_of(str(tmp_path))
    sources = Sources(world.platform)

    assert sources.state(revision) == ""
    assert source_folder(world.home, revision) == tmp_path
    sources.close()


def test_what_nobody_is_served_from_any_more_is_removed(world: Any, checkpoint: Callable[..., Revision]) -> None:
    kept, gone = checkpoint(b"one"), checkpoint(b"two")
    fetch(world.platform, kept)
    fetch(world.platform, gone)
    sources = Sources(world.platform)

    sources.prune([kept, revision_of("/somewhere")])

    assert [path.name for path in (world.home / "served").iterdir()] == [kept.checkpoint_uuid]
    sources.close()


@pytest.fixture
def archive_url() -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/to/"):
                self.send_response(302)
                self.send_header("location", self.path.removeprefix("/to/"))
                self.end_headers()
                return
            is_there = self.path.startswith("/models/")
            self.send_response(200 if is_there else 404)
            self.send_header("content-length", "7")
            self.end_headers()
            self.wfile.write(b"archive")

        def log_message(self, *_: Any) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_archive_is_downloaded_under_its_own_name(world: Any, archive_url: str) -> None:
    revision = revision_of(f"{archive_url}/models/digits.mar?token=1")

    fetch(world.platform, revision)

    file = source_folder(world.home, revision)
    assert (file.name, file.read_bytes()) == ("digits.mar", b"archive")


def test_an_archive_that_is_not_there_says_so(world: Any, archive_url: str) -> None:
    with pytest.raises(Unavailable, match="cannot be downloaded: HTTP Error 404"):
        fetch(world.platform, revision_of(f"{archive_url}/nope.mar"))


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "2852039166", "0.0.0.0", "224.0.0.1"]
)
def test_nothing_is_fetched_from_where_clouds_keep_their_keys(world: Any, archive_url: str, address: str) -> None:
    """Nor by a redirect that leads there; numbers and mapped addresses are the same place."""
    url = f"http://{address}/latest/meta-data/"

    for given in (url, f"{archive_url}/to/{url}"):
        with pytest.raises(InvalidInput, match="from which no models are fetched"):
            fetch(world.platform, revision_of(given))


def test_a_checkpoint_is_deployed_end_to_end(
    stage: Any, world: Any, checkpoint: Callable[..., Revision], wait_for: Callable[[Sources, Revision], str]
) -> None:
    made = checkpoint()
    stage.create(source=SourceSpec(checkpoint_uuid=made.checkpoint_uuid))
    stage.rollouts.pass_once()
    wait_for(stage.rollouts._sources, replace(stage.revision(1)))

    stage.settle()

    folder = str(world.home / "served" / str(made.checkpoint_uuid))
    gang = next(g for g in world.runner.started if g.entrypoint[0] == "python3")
    assert gang.env["RESOLUTE_MODEL_SOURCE"] == gang.model_path == folder
    assert stage.revision(1).checkpoint_uuid == made.checkpoint_uuid


def test_what_was_fetched_may_be_fetched_on_by_the_hosts_of_its_replicas(
    stage: Any, world: Any, checkpoint: Callable[..., Revision], wait_for: Callable[[Sources, Revision], str]
) -> None:
    stage.create(source=SourceSpec(checkpoint_uuid=checkpoint().checkpoint_uuid))
    stage.rollouts.pass_once()
    wait_for(stage.rollouts._sources, stage.revision(1))
    stage.settle()
    gang = next(g for g in world.runner.started if g.entrypoint[0] == "python3")

    path = model_path(world.platform, gang.allocation_id)

    assert str(path) == gang.model_path
    assert (path / "model.bin").read_bytes() == b"weights"
    shutil.rmtree(path)
    with pytest.raises(Unavailable, match="is not on the master's machine yet; ask again"):
        model_path(world.platform, gang.allocation_id)


def test_a_path_that_the_user_named_is_the_same_everywhere_and_handed_to_nobody(stage: Any, world: Any) -> None:
    stage.create()
    stage.settle()
    gang = world.runner.started[0]

    assert gang.model_path == ""
    assert gang.env["RESOLUTE_MODEL_SOURCE"] == str(stage.model)
    with pytest.raises(NotFound, match="has no model to fetch"):
        model_path(world.platform, gang.allocation_id)


def test_a_replica_listens_where_the_router_reaches_its_node(stage: Any, world: Any) -> None:
    world.runner.set_nodes([Node(id="far", slots=(Slot(0),), addresses=("10.0.0.7",))])
    stage.create()
    stage.turn(3)

    entrypoint = world.runner.started[0].entrypoint

    assert entrypoint[entrypoint.index("--host") + 1] == "10.0.0.7"


def test_only_a_whole_checkpoint_can_be_deployed(stage: Any, checkpoint: Callable[..., Revision]) -> None:
    uuid = str(checkpoint().checkpoint_uuid)
    with stage.platform.store.write() as tx:
        stored = tx.checkpoints.get(uuid)
        tx.checkpoints.save(stored.moved_to(CheckpointState.DELETED), expected=stored.state)

    with pytest.raises(IllegalTransition, match="is DELETED; only a COMPLETED one"):
        stage.create(source=SourceSpec(checkpoint_uuid=uuid))


@pytest.fixture
def with_buckets(world: Any, tmp_path: Path) -> Platform:
    """Buckets are folders of this machine, named by their type."""

    def blobs(storage: dict[str, object]) -> ObjectBlobs:
        folder = tmp_path / str(storage["type"]) / str(storage["bucket"]) / str(storage["prefix"])
        return open_blobs({"type": "directory", "container_path": str(folder)})

    return replace(world.platform, blobs=blobs)


@pytest.mark.parametrize(("uri", "kind"), [("s3://models/team/pv/", "s3"), ("gs://models/team/pv", "gcs")])
def test_a_folder_of_a_bucket_is_brought_here_whole(
    world: Any, with_buckets: Platform, tmp_path: Path, uri: str, kind: str
) -> None:
    for name in ("config/config.properties", "model-store/a.mar"):
        file = tmp_path / kind / "models/team/pv" / name
        file.parent.mkdir(parents=True)
        file.write_text(name)

    fetch(with_buckets, revision_of(uri))

    folder = source_folder(world.home, revision_of(uri))
    assert folder.name == "pv"
    assert (folder / "model-store/a.mar").read_text() == "model-store/a.mar"
    assert (folder / "config/config.properties").is_file()


def test_a_file_of_a_bucket_is_brought_here(world: Any, with_buckets: Platform, tmp_path: Path) -> None:
    file = tmp_path / "s3/models/team/a.mar"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"archive")

    fetch(with_buckets, revision_of("s3://models/team/a.mar"))

    assert source_folder(world.home, revision_of("s3://models/team/a.mar")).read_bytes() == b"archive"


@pytest.mark.parametrize("uri", ["s3://models/nothing", "gs://models/no/thing"])
def test_an_empty_place_in_a_bucket_is_refused_and_leaves_nothing(world: Any, with_buckets: Platform, uri: str) -> None:
    with pytest.raises(NotFound):
        fetch(with_buckets, revision_of(uri))

    assert list((world.home / "served").iterdir()) == []
