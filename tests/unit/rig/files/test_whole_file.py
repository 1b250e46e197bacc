"""A file is written whole, in its own place."""

import os
import stat
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from rig.files.not_written import NotWrittenError
from rig.files.whole_file import write_whole


def test_a_link_that_leads_to_itself_is_refused_and_left(tmp_path: Path) -> None:
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        write_whole(circle, "text")
    assert circle.is_symlink()
    assert list(tmp_path.iterdir()) == [circle]


def test_two_that_write_a_file_at_once_do_so_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, sync = tmp_path / "file", os.fsync
    drafts: list[bytes] = []
    others: list[Future[None]] = []

    def in_the_middle(descriptor: int) -> None:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):  # the folder's names are put on the disk too
            drafts.append(os.pread(descriptor, 100, 0))
        if not others:
            others.append(pool.submit(write_whole, path, "the second"))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", in_the_middle)
    with ThreadPoolExecutor() as pool:
        write_whole(path, b"the first, longer")
        others[0].result()
    assert drafts == [b"the first, longer", b"the second"]
    assert path.read_text() == "the second"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_a_file_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    path.chmod(mode)
    write_whole(path, "after")
    assert path.read_text() == "after"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_file_that_must_not_be_written_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("before")
    path.chmod(0o444)
    if os.access(path, os.W_OK):
        pytest.skip("the superuser may write anywhere")
    with pytest.raises(NotWrittenError, match="file cannot be written: Permission denied"):
        write_whole(path, "after")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_program_left_is_taken_away_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "file"
    Path(f"{path}.part").write_text("half of something long")
    write_whole(path, "short")
    assert path.read_text() == "short"
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_written_is_on_the_disk_before_it_takes_its_place_and_its_name_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the supply fails in between, the name must not lead to a file that the disk does not have yet."""
    sync, rename = os.fsync, os.replace
    order: list[object] = []

    def and_tell(descriptor: int) -> None:
        sync(descriptor)
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        order.append(os.pread(descriptor, 100, 0) if is_file else os.fstat(descriptor).st_ino)

    def and_tell_too(draft: Path, target: Path) -> None:
        rename(draft, target)
        order.append(target)

    monkeypatch.setattr(os, "fsync", and_tell)
    monkeypatch.setattr(os, "replace", and_tell_too)
    path = tmp_path / "file"
    write_whole(path, "all of it")
    assert order == [b"all of it", path, tmp_path.stat().st_ino]
