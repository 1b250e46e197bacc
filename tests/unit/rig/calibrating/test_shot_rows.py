"""Shots in a file that grows: each is written down before it is fired, and nothing of it is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from rig.calibrating.shot_rows import ShotRows
from rig.calibrating.shots_file import ShotsFileError

HEADER = "elevation_deg,range_cm,gate_mps,dwell_s"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shots.csv"


def rows(path: Path) -> list[str]:
    header, *below = path.read_text().splitlines()
    assert header == HEADER
    return below


def test_a_row_is_there_before_the_shot_and_grows_with_what_is_known(path: Path) -> None:
    shots = ShotRows.open(path)
    assert rows(path) == []
    shots.begin(41.6)
    assert rows(path) == ["41.6,?,,"]
    shots.left(9.63412, 15.04)
    assert rows(path) == ["41.6,?,9.6341,15.0"]
    shots.taped(668.5)
    assert rows(path) == ["41.6,668.5,9.6341,15.0"]
    shots.begin(20)
    shots.left(None, 12)
    shots.taped(None)
    assert rows(path) == ["41.6,668.5,9.6341,15.0", "20,,,12.0"]
    assert shots.count == 2


def test_a_shot_that_was_not_fired_is_taken_out_and_no_other(path: Path) -> None:
    ShotRows.open(path).begin(41.6)  # of an earlier run that was killed
    shots = ShotRows.open(path)
    shots.strike()
    assert rows(path) == ["41.6,?,,"]
    shots.begin(41.6)
    assert shots.count == 2
    shots.strike()
    assert rows(path) == ["41.6,?,,"]
    assert shots.count == 1


def test_a_last_line_without_an_end_is_ended_first(path: Path) -> None:
    path.write_text(f"{HEADER}\n41.6,668,9.634,15")
    ShotRows.open(path).begin(20)
    assert rows(path) == ["41.6,668,9.634,15", "20,?,,"]


def test_a_file_that_a_spreadsheet_of_windows_kept_stays_one(path: Path) -> None:
    path.write_bytes(f"{HEADER}\r\n41.6,668,9.634,15\r\n".encode("utf-8-sig"))
    shots = ShotRows.open(path)
    shots.begin(20)
    shots.taped(494)
    assert path.read_bytes() == f"{HEADER}\r\n41.6,668,9.634,15\r\n20,494,,\r\n".encode("utf-8-sig")


def test_a_file_that_a_spreadsheet_kept_with_semicolons_and_decimal_commas_stays_one(path: Path) -> None:
    header = HEADER.replace(",", ";")
    path.write_bytes(f"{header}\r\n41,6;668,5;9,634;15\r\n".encode("utf-8-sig"))
    shots = ShotRows.open(path)
    shots.begin(41.6)
    assert path.read_bytes().endswith(b"\r\n41,6;?;;\r\n")
    assert [fault.key for fault in shots.open_ranges()] == ["line 3, range_cm"]
    shots.left(9.63412, 15.04)
    shots.taped(668.5)
    assert path.read_bytes().endswith(b"\r\n41,6;668,5;9,6341;15,0\r\n")
    shots.begin(20)
    shots.strike()
    assert path.read_text(encoding="utf-8-sig").split("\n") == [
        header,
        "41,6;668,5;9,634;15",
        "41,6;668,5;9,6341;15,0",
        "",
    ]


def test_points_before_decimals_stay_where_semicolons_part_the_cells(path: Path) -> None:
    path.write_text(f"{HEADER.replace(',', ';')}\n41.6;668;9.634;15\n")
    ShotRows.open(path).begin(5.5)
    assert path.read_text().splitlines()[-1] == "5.5;?;;"


def test_what_somebody_wrote_meanwhile_stays(path: Path) -> None:
    shots = ShotRows.open(path)
    shots.begin(41.6)
    shots.left(9.6, 15)
    shots.taped(None)
    shots.begin(41.6)
    path.write_text(path.read_text().replace("41.6,,", "41.6,670,"))
    shots.left(9.7, 15)
    assert rows(path) == ["41.6,670,9.6000,15.0", "41.6,?,9.7000,15.0"]
    path.write_text(f"{HEADER}\n41.6,671,9.7,15\n")
    with pytest.raises(ShotsFileError) as refused:
        shots.taped(672)
    assert str(refused.value) == (
        f"{path}: the file: found no line 41.6,?,9.7000,15.0, "
        "expected that line, to make it 41.6,672,9.7000,15.0"
    )
    assert rows(path) == ["41.6,671,9.7,15"]


def test_a_row_that_the_disk_does_not_take_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, text: str) -> None:
        raise OSError(28, "No space left on device", str(path))

    shots = ShotRows.open(path)
    monkeypatch.setattr("rig.calibrating.shot_rows.write_changed", full)
    with pytest.raises(
        ShotsFileError, match=r"No space left on device, expected one that takes this shot's row, 20,\?,,"
    ):
        shots.begin(20)


def test_open_ranges_are_told_with_what_to_do(path: Path) -> None:
    path.write_text(f"{HEADER}\n41.6,668,9.6,15\n\n20,?,9.5,15\n")
    (still_open,) = ShotRows.open(path).open_ranges()
    assert str(still_open) == (
        "line 4, range_cm: found ? for shot 2, at 20 degrees, expected its range, nothing where it was not measured, "
        "or no such line where it was not fired"
    )
