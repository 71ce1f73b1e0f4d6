"""What a store keeps in memory has a bound that suits a laptop, however many pages are open."""

from pathlib import Path

from resolute.store.db.connect import READERS, connect
from resolute.store.metrics.series import CACHE_BYTES


def test_all_readers_together_cache_less_than_a_hundred_megabytes(tmp_path: Path) -> None:
    database = connect(f"sqlite:///{tmp_path}/db.sqlite3")
    with database.writer.transaction():
        pass
    with database.reader.connect() as connection:
        kib = -int(connection.exec_driver_sql("PRAGMA cache_size").scalar_one())
    database.dispose()

    assert 0 < kib * READERS < 100 * 1024


def test_points_of_curves_take_less_than_two_hundred_megabytes() -> None:
    assert CACHE_BYTES < 200 * 1024 * 1024
