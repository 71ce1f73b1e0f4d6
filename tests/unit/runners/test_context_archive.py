"""Uploaded model definitions: what is accepted, what is refused and with which sentence, and that nothing escapes."""

import gzip
import io
import os
import tarfile
import tracemalloc
from collections.abc import Iterable
from pathlib import Path

import pytest

from resolute.domain.errors import InvalidInput, TooLarge
from resolute.runners.context import unpack_context
from resolute.spec.context import MAX_ENTRIES, Member, MemberKind, check_context, checked


def entry(
    name: str, kind: bytes = tarfile.REGTYPE, *, size: int = 0, link: str = "", mode: int = 0o644
) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname, info.mode = kind, size, link, mode
    return info


def archive(entries: Iterable[tarfile.TarInfo | tuple[str, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for item in entries:
            if isinstance(item, tarfile.TarInfo):
                tar.addfile(item, io.BytesIO(b"\0" * item.size) if item.size else None)
            else:
                tar.addfile(entry(item[0], size=len(item[1])), io.BytesIO(item[1]))
    return buffer.getvalue()


def unpacked(content: bytes, tmp_path: Path) -> Path:
    (tmp_path / "context.tar.gz").write_bytes(content)
    target = tmp_path / "deep/work"
    target.mkdir(parents=True)
    unpack_context(tmp_path / "context.tar.gz", target)
    return target


def test_an_honest_archive_is_unpacked_as_it_is(tmp_path: Path) -> None:
    content = archive(
        [
            entry(".", tarfile.DIRTYPE, mode=0o755),
            entry("./pkg", tarfile.DIRTYPE, mode=0o755),
            ("./pkg/train.py", b"print(1)"),
            entry("run.sh", size=0, mode=0o4755),
            entry("pkg/link.py", tarfile.SYMTYPE, link="train.py"),
            entry("pkg/up", tarfile.SYMTYPE, link="../run.sh"),
            entry("same.py", tarfile.LNKTYPE, link="pkg/train.py"),
        ]
    )

    check_context(content)
    work = unpacked(content, tmp_path)

    assert (work / "pkg/link.py").read_text() == (work / "same.py").read_text() == "print(1)"
    assert (work / "pkg/up").resolve() == work / "run.sh"
    assert (work / "run.sh").stat().st_mode & 0o7777 == 0o755 & ~_umask()


def test_the_last_file_of_a_name_wins(tmp_path: Path) -> None:
    work = unpacked(archive([("a.py", b"old"), ("a.py", b"new")]), tmp_path)

    assert (work / "a.py").read_text() == "new"


HOSTILE = {
    "a way up": ([("../evil", b"x")], "'../evil' leads out of the archive"),
    "a way up inside": ([("a/../../evil", b"x")], "leads out of the archive"),
    "an absolute path": ([("/tmp/evil", b"x")], "'/tmp/evil' leads out"),
    "a link out": ([entry("l", tarfile.SYMTYPE, link="../../etc")], "'l' is a link to '../../etc'"),
    "an absolute link": ([entry("l", tarfile.SYMTYPE, link="/etc/passwd")], "may lead out of the archive"),
    "a link by a detour": ([entry("l", tarfile.SYMTYPE, link="a/../../x")], "may lead out of the archive"),
    "a link over a link": (
        [entry("d", tarfile.SYMTYPE, link="."), entry("e", tarfile.SYMTYPE, link="d/../x")],
        "may lead out of the archive",
    ),
    "a file behind a link": ([entry("d", tarfile.SYMTYPE, link="sub"), ("d/evil", b"x")], "lies behind the link 'd'"),
    "a link in place of a directory": (
        [("d/file", b"x"), entry("d", tarfile.SYMTYPE, link="other")],
        "a link in one place of the archive and a directory in another",
    ),
    "a hard link out": ([entry("h", tarfile.LNKTYPE, link="../../etc/passwd")], "leads out of the archive"),
    "a hard link to nothing": ([entry("h", tarfile.LNKTYPE, link="etc/passwd")], "which is no file before it"),
    "a hard link to a link": (
        [entry("l", tarfile.SYMTYPE, link="x"), entry("h", tarfile.LNKTYPE, link="l")],
        "which is no file before it",
    ),
    "a device": ([entry("null", tarfile.CHRTYPE)], "device, pipe or sparse file"),
    "a pipe": ([entry("fifo", tarfile.FIFOTYPE)], "device, pipe or sparse file"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_member_is_refused_with_its_name_and_writes_nothing_outside(case: str, tmp_path: Path) -> None:
    entries, sentence = HOSTILE[case]
    content = archive(entries)  # type: ignore[arg-type]

    with pytest.raises(InvalidInput, match="The model definition is refused") as refused:
        check_context(content)
    with pytest.raises(InvalidInput):
        unpacked(content, tmp_path)

    assert sentence in str(refused.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["context.tar.gz", "deep"]
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["work"]


def test_ten_gigabytes_of_zeros_are_refused_without_unpacking_them(tmp_path: Path) -> None:
    header = entry("zeros.bin", size=10 * 1024**3).tobuf(tarfile.GNU_FORMAT)
    content = gzip.compress(header + b"\0" * (32 * 1024**2), compresslevel=1)

    with pytest.raises(TooLarge, match=r"more than 2 GiB at 'zeros.bin'"):
        check_context(content)
    with pytest.raises(TooLarge):
        unpacked(content, tmp_path)

    assert list((tmp_path / "deep/work").iterdir()) == []


def test_many_files_that_add_up_are_refused_where_the_limit_is_passed() -> None:
    members = [Member(f"part-{number}", size=600 * 1024**2) for number in range(5)]

    accepted = []
    with pytest.raises(TooLarge, match="part-3"):
        accepted.extend(checked(members))

    assert [member.name for member in accepted] == ["part-0", "part-1", "part-2"]


def test_too_many_entries_are_refused() -> None:
    members = (Member(f"f{number}") for number in range(MAX_ENTRIES + 1))

    with pytest.raises(TooLarge, match="more than 100,000 entries"):
        list(checked(members))


def test_a_header_that_asks_for_gigabytes_of_memory_is_refused() -> None:
    header = entry("././@PaxHeader", tarfile.XHDTYPE, size=4 * 1024**3).tobuf(tarfile.GNU_FORMAT)
    content = gzip.compress(header + b"\0" * (64 * 1024**2), compresslevel=1)
    tracemalloc.start()

    with pytest.raises(InvalidInput, match=r"not a readable tar.gz archive"):
        check_context(content)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * 1024**2


@pytest.mark.parametrize(
    "content",
    [b"", b"not an archive", gzip.compress(b"not a tar", mtime=0), archive([("a", b"x" * 5000)])[:-40]],
    ids=["empty", "text", "gzip of text", "cut off"],
)
def test_what_is_no_archive_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"not a readable tar.gz archive"):
        check_context(content)


def test_an_empty_archive_is_fine() -> None:
    check_context(archive([]))


@pytest.mark.parametrize("kind", [MemberKind.FILE, MemberKind.DIRECTORY])
def test_plain_members_pass_unchanged(kind: MemberKind) -> None:
    members = [Member("a", kind), Member("b/c", kind)]

    assert list(checked(members)) == members


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
