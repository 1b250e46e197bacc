"""A CSV file as people and spreadsheets write it: one reader for groups, ranges and shots."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rig.calibrating.range_file import read_ranges
from rig.calibrating.shots_file import read_shots
from rig.files.checked_file import FaultyFile
from rig.files.csv_table import CsvRow, read_table, shown, to_number
from rig.stats.group_file import read_group

_CELL = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp"]), min_size=1)


def _file(folder: Path, text: str | bytes) -> Path:
    path = folder / "some.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@given(st.lists(st.lists(_CELL, min_size=2, max_size=4), min_size=1, max_size=4))
def test_what_a_spreadsheet_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    path = tmp_path_factory.mktemp("table") / "some.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows(rows)
    read = read_table(path, FaultyFile, expected="rows")
    assert [list(read.header), *(list(row.cells) for row in read.rows)] == rows


def test_rows_know_their_line_past_empty_ones_and_cells_of_two_lines(tmp_path: Path) -> None:
    read = read_table(_file(tmp_path, 'a,b\r\n\r\n1, 2 \r\n"one\ntwo",3\n4,5\n'), FaultyFile, expected="rows")
    assert read.rows == (
        CsvRow(3, ("1", "2")),
        CsvRow(5, ("one\ntwo", "3")),
        CsvRow(6, ("4", "5")),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file: found nothing in it, expected columns a,b"),
        ("\n , \n", "the file: found nothing in it, expected columns a,b"),
        ('a,b\n1,"2\n', "line 2: found unexpected end of data, expected rows of cells parted by commas"),
        (b"a,b\n\xff,1\n", "byte 5: found text that is not UTF-8"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, text: str | bytes, said: str) -> None:
    with pytest.raises(FaultyFile, match=f"some.csv: {said}"):
        read_table(_file(tmp_path, text), FaultyFile, expected="columns a,b")


def test_an_uneven_row_and_a_header_of_semicolons_are_told(tmp_path: Path) -> None:
    read = read_table(_file(tmp_path, "a,b\n1\n1,2\n"), FaultyFile, expected="columns a,b")
    assert [str(read.uneven(row) or "") for row in read.rows] == [
        "line 2: found 1 cell, expected 2, as the header has",
        "",
    ]
    assert not read.hint
    assert "by commas" in read_table(_file(tmp_path, "a;b\n1;2\n"), FaultyFile, expected="columns a,b").hint


@given(st.floats())
def test_a_cell_is_a_finite_number_or_none(value: float) -> None:
    assert to_number(repr(value)) == (value if math.isfinite(value) else None)


@pytest.mark.parametrize("cell", ["", "abc", "1_000", "1,5", "0x10", "6 cm"])
def test_what_is_no_number_is_none(cell: str) -> None:
    assert to_number(cell) is None


def test_a_message_quotes_no_more_than_a_line() -> None:
    assert shown("x" * 500) == '"' + "x" * 57 + '..."'
    assert shown(("a", "b")) == '"a,b"'
    assert shown("  ") == "nothing"


def test_every_file_of_shots_may_come_from_a_spreadsheet(tmp_path: Path) -> None:
    """Excel and its kind put a byte order mark before a CSV file in UTF-8."""
    path = _file(tmp_path, "\ufeffelevation_deg,range_cm\r\n42,650\r\n42,655\r\n42,652\r\n")
    assert read_ranges(path).ranges_m == pytest.approx((6.5, 6.55, 6.52))
    read = read_shots(path, unit=None, elevation_rad=None, floor_m=0.0)
    assert [shot.range_m for shot in read.shots] == pytest.approx([6.5, 6.55, 6.52])
    assert len(read_group(_file(tmp_path, "\ufeffx,y\r\n1,2\r\n")).points) == 1
