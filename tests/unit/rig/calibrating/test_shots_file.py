"""Shots for a calibration in a CSV file: read with what is still open left out."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from rig.calibrating.shots_file import ShotsFile, ShotsFileError, read_shots

HEADER = "elevation_deg,range_cm,gate_mps,dwell_s"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "shots.csv"


def read(path: Path, *, skip_bad_rows: bool = False) -> ShotsFile:
    return read_shots(path, unit=None, elevation_rad=None, floor_m=0.0, skip_bad_rows=skip_bad_rows)


def test_a_shot_with_an_open_range_is_not_read_and_counts_for_the_spring(path: Path) -> None:
    path.write_text(f"{HEADER}\n41.6,668,9.6,15\n41.6,?,9.5,15\n41.6,?,,\n41.6,661,,15\n")
    found = read(path)
    assert [(shot.name, shot.shots_before) for shot in found.shots] == [("line 2", 0), ("line 5", 3)]
    assert [fault.key for fault in found.skipped] == ["line 3, range_cm", "line 4, range_cm"]


def test_a_shot_of_which_nothing_was_measured_is_told_and_counts_for_the_spring(path: Path) -> None:
    """`rig calibrate fire` writes such a row where the gate did not time the shot and nobody taped it."""
    path.write_text(f"{HEADER}\n41.6,668,,15\n41.6,,,15\n41.6,661,,15\n")
    found = read(path)
    assert [shot.shots_before for shot in found.shots] == [0, 2]
    assert found.fired == 3
    assert [str(fault) for fault in found.skipped] == [
        "line 3: found nothing measured of shot 2, expected its range or its speed; it counts as fired, and no more"
    ]


def test_a_row_that_cannot_be_used_counts_for_the_spring(path: Path) -> None:
    path.write_text(f"{HEADER}\n41.6,forty,9.6,15\n41.6,661,,15\n")
    with pytest.raises(ShotsFileError, match=r"line 2, range_cm: .* \(--skip-bad-rows uses the others\)"):
        read(path)
    (shot,) = read(path, skip_bad_rows=True).shots
    assert shot.shots_before == 1


@pytest.mark.parametrize(
    ("rows", "fired"),
    [
        (["41.6,668,9.6,", "41.6,661,9.5,"], 2),
        (["41.6,668,9.6,", "41.6,661,9.5,", "41.6,?,9.5,", "41.6,?,,"], 4),
        (["41.6,?,9.6,", "41.6,661,9.5,"], 2),
        (["41.6,668,9.6,310", "41.6,661,9.5,311"], 312),
        (["41.6,668,9.6,310", "41.6,661,9.5,320", "41.6,?,9.5,321"], 322),
        (["41.6,668,9.6,320", "41.6,661,9.5,310"], 321),
    ],
)
def test_what_the_spring_had_fired_after_the_last_row_is_known(
    path: Path, rows: list[str], fired: int
) -> None:
    path.write_text("\n".join(["elevation_deg,range_cm,gate_mps,shots_before", *rows]))
    assert read(path).fired == fired


def test_a_file_whose_ranges_are_all_open_says_so(path: Path) -> None:
    path.write_text(f"{HEADER}\n41.6,?,,\n")
    with pytest.raises(ShotsFileError, match=r"line 2, range_cm: found \? for shot 1, at 41.6 degrees"):
        read(path)


@pytest.mark.parametrize("column", ["elevation_deg", "azimuth_deg"])
def test_an_angle_that_no_barrel_has_is_told_in_the_columns_own_unit(path: Path, column: str) -> None:
    cells = {"elevation_deg": "41.6", "range_cm": "668", "azimuth_deg": "0"} | {column: "300"}
    path.write_text(f"{','.join(cells)}\n{','.join(cells.values())}\n")
    with pytest.raises(ShotsFileError) as refused:
        read(path)
    (fault,) = refused.value.faults
    assert (fault.key, fault.found) == (f"line 2, {column}", "300")
    assert fault.expected == "degrees, from -90 to 90"


def test_an_elevation_that_file_and_option_tell_otherwise_is_refused(path: Path) -> None:
    path.write_text(f"{HEADER}\n41.6,668,9.6,15\n20,493,9.5,15\n,661,,15\n")
    with pytest.raises(ShotsFileError) as refused:
        read_shots(path, unit=None, elevation_rad=math.radians(41.6), floor_m=0.0, skip_bad_rows=True)
    assert [str(fault) for fault in refused.value.faults] == [
        "line 3, elevation_deg: found 20, expected 41.6, as --elevation says"
        " (without --elevation each shot has that of its row)"
    ]


def test_an_elevation_that_file_and_option_tell_alike_holds_for_empty_cells_too(path: Path) -> None:
    path.write_text(f"{HEADER}\n41.60,668,9.6,15\n,661,,15\n")
    found = read_shots(path, unit=None, elevation_rad=math.radians(41.6), floor_m=0.0)
    assert [shot.elevation_rad for shot in found.shots] == pytest.approx([math.radians(41.6)] * 2)
