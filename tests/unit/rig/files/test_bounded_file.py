"""What is named in the place of a file and has no end is refused; the shell's pipe is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rig.calibrating.shots_file import ShotsFileError
from rig.cli import main
from rig.files.bounded_file import MOST_BYTES, read_text
from rig.files.csv_table import read_table


@pytest.fixture
def endless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Stand in for /dev/zero, so that who reads it to its end has memory left to say so."""
    monkeypatch.chdir(tmp_path)
    path = Path("endless")
    path.touch()
    os.truncate(path, MOST_BYTES + 1)
    return str(path)


@pytest.mark.parametrize(
    "words",
    [
        ("check", "--settings"),
        ("log", "--settings"),
        ("run",),
        ("certificate",),
        ("stats", "group"),
        ("calibrate", "range", "--csv"),
        ("calibrate", "show"),
        ("game", "replay"),
        ("game", "chart"),
        ("game", "play", "--battle"),
        ("tournament", "show"),
    ],
)
def test_a_file_without_end_is_one_line(
    endless: str, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, endless]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "endless: the file: " in line
    assert "more than 64 MB" in line


def test_of_a_transcript_without_end_no_more_than_the_first_line_is_read(
    endless: str, capsys: pytest.CaptureFixture[str]
) -> None:
    os.truncate(endless, 1 << 40)
    assert main(["transcript", endless]) == 2
    assert "the first line is '\\x00" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ("check", "--settings"),
        ("log", "--settings"),
        ("run",),
        ("stats", "group"),
        ("calibrate", "show"),
        ("game", "replay"),
        ("tournament", "show"),
        ("transcript",),
        ("monitor",),
    ],
)
@pytest.mark.parametrize("kind", ["a pipe with a name", "a device"])
def test_what_nobody_may_ever_write_into_is_not_waited_for(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    kind: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    if kind == "a device":
        Path("odd").symlink_to("/dev/zero")
    else:
        os.mkfifo("odd")
    assert main([*words, "odd"]) == 2
    *_, line = capsys.readouterr().err.splitlines()
    assert "odd: " in line
    assert "a device or a pipe" in line


def test_the_shells_pipe_is_read_as_a_file_is() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"elevation_deg,range_cm\n42,650\n")
    os.close(writing)
    table = read_table(Path(f"/dev/fd/{reading}"), ShotsFileError, expected="rows")
    os.close(reading)
    assert [row.cells for row in table.rows] == [("42", "650")]


def test_the_null_device_is_an_empty_file() -> None:
    assert read_text(Path(os.devnull)) == ""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_every_system_ends_them(tmp_path: Path, end: str) -> None:
    path = tmp_path / "text"
    path.write_bytes(f"\ufeffa{end}b{end}".encode())
    assert read_text(path, encoding="utf-8-sig") == "a\nb\n"
