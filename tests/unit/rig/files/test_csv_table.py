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

# Without the separators: where two of them part a header, neither may be meant.
_CELL = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp"], exclude_characters=",;"),
    min_size=1,
)


def _file(folder: Path, text: str | bytes) -> Path:
    path = folder / "some.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@given(st.lists(st.lists(_CELL, min_size=2, max_size=4), min_size=1, max_size=4), st.sampled_from(",;\t"))
def test_what_a_spreadsheet_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], separator: str
) -> None:
    path = tmp_path_factory.mktemp("table") / "some.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=separator).writerows(rows)
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


def test_an_uneven_row_is_told(tmp_path: Path) -> None:
    read = read_table(_file(tmp_path, "a,b\n1\n1,2\n"), FaultyFile, expected="columns a,b")
    assert [str(read.uneven(row) or "") for row in read.rows] == [
        "line 2: found 1 cell, expected 2, as the header has",
        "",
    ]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a;b\r\n1,5;-,25e3\r\n2;x,5\r\n", [("1.5", "-.25e3"), ("2", "x,5")]),
        ("a\tb\n1,5\t2\n", [("1.5", "2")]),
        ('a;"b;c, d"\n1,5;2\n', [("1.5", "2")]),
        ("a;b;what, else\n1,5;2,25;3\n", [("1.5", "2.25", "3")]),
        ("a,b;c\n1,2\n1\n", [("1", "2"), ("1",)]),
        ('a;b;what, else\n"x";1,5;2,5\n', [("x", "1.5", "2.5")]),
        ("a;b\n1.5;2\n", [("1.5", "2")]),
        ("a\n648,5\n6,48\n648,655\nx,5\n", [("648.5",), ("6.48",), ("648", "655"), ("x", "5")]),
        ('a,b\n"1,5",2\n', [("1,5", "2")]),
    ],
)
def test_cells_are_parted_as_the_header_is_and_decimal_commas_read(
    tmp_path: Path, text: str, rows: list[tuple[str, ...]]
) -> None:
    read = read_table(_file(tmp_path, text), FaultyFile, expected="rows")
    assert [row.cells for row in read.rows] == rows


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a;b,c\n1,5;2\n", 'line 1: found "a;b,c", expected cells parted by one sign: commas or semicolons'),
        ("\na;b,c\n1;2\n2,3\n", 'line 2: found "a;b,c", expected cells parted by one sign'),
        (
            "a;b\n1,5;2\n3;1.5\n",
            'line 3, b: found "1.5", expected decimals behind a comma, as line 2 has them',
        ),
        ("a;b\n1.5;2,5\n", 'line 2, b: found "2,5", expected decimals behind a point, as line 2 has them'),
    ],
)
def test_a_file_that_may_be_read_in_two_ways_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(FaultyFile, match=f"some.csv: {said}"):
        read_table(_file(tmp_path, text), FaultyFile, expected="rows")


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


def test_every_file_of_shots_may_come_from_a_spreadsheet_with_decimal_commas(tmp_path: Path) -> None:
    """In German or French a spreadsheet parts the cells by semicolons."""
    path = _file(tmp_path, "\ufeffelevation_deg;range_cm\r\n41,6;650,5\r\n41,6;655\r\n41,6;652\r\n")
    assert read_ranges(path).ranges_m == pytest.approx((6.505, 6.55, 6.52))
    read = read_shots(path, unit=None, elevation_rad=None, floor_m=0.0)
    assert read.shots[0].elevation_rad == pytest.approx(math.radians(41.6))
    assert [shot.range_m for shot in read.shots] == pytest.approx([6.505, 6.55, 6.52])
    assert read_group(_file(tmp_path, "\ufeffx_mm;y_mm\r\n1,5;-2,25\r\n")).points.tolist() == [[1.5, -2.25]]
