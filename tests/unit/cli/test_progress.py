"""What a long command says while it works: how much, how fast, how long still; and nothing when it is quick."""

import io
import threading

import pytest

from resolute.cli.progress import Progress, _write_lines, duration, progress_bar


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def progress(title: str, total: int | None, unit: str, *, done: int, after_s: float, note: str = "") -> Progress:
    clock = Clock()
    made = Progress(title, total, unit, clock=clock)
    clock.now += after_s
    made(done)
    made.note = note
    return made


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (
            progress("Looking", 5832, "windows", done=1240, after_s=62, note="file 2 of 3, b.tif"),
            "Looking: 1,240 of 5,832 windows (21 %), 20 a second, 3 min 50 s left, file 2 of 3, b.tif",
        ),
        (progress("Hashing", None, "files", done=300, after_s=30), "Hashing: 300 files, 10 a second"),
        (progress("Downloading", None, "bytes", done=3 << 20, after_s=2), "Downloading: 3.0 MiB, 1.5 MiB a second"),
        (progress("Exporting", None, "", done=0, after_s=75), "Exporting: 1 min 15 s so far"),
        (progress("Tiling", 4, "images", done=0, after_s=5), "Tiling: 0 of 4 images (0 %)"),
        (progress("Tiling", 0, "images", done=0, after_s=5), "Tiling: 0 of 0 images"),
        (progress("Tiling", 4, "images", done=4, after_s=8), "Tiling: 4 of 4 images (100 %), 0.5 a second"),
    ],
)
def test_a_line_says_how_much_how_fast_and_how_long_still(made: Progress, sentence: str) -> None:
    assert made.sentence() == sentence


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (1500, "25 min"), (7300, "2 h 1 min")]
)
def test_durations_are_said_as_people_say_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text


class Stream(io.StringIO):
    """Tells when a line has been written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def flush(self) -> None:
        self.written.set()


def test_a_step_that_reports_nothing_is_seen_to_be_alive_and_its_end_is_told() -> None:
    made, out, ended = progress("Exporting", None, "", done=0, after_s=3), Stream(), threading.Event()
    thread = threading.Thread(target=_write_lines, args=(made, out, ended, 0.0, 60.0))

    thread.start()
    assert out.written.wait(10)
    ended.set()
    thread.join(10)

    assert out.getvalue().splitlines() == ["Exporting: 3 s so far", "Exporting: done in 3 s"]


def test_what_is_quick_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("Hashing", 3, "files") as advance:
        advance(3)

    assert capsys.readouterr() == ("", "")


def test_a_terminal_sees_a_bar_that_is_gone_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm-256color")

    with progress_bar("Hashing", 4, "files") as advance:
        advance(1)

    assert "Hashing: 1 of 4 files (25 %)" in screen.getvalue()
    assert "\x1b[2K" in screen.getvalue()
