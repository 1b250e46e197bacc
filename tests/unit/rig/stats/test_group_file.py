"""A group in a CSV file: what is read, and what each fault of it is called."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rig.files.length_unit import LengthUnit
from rig.stats.group_file import GroupFileError, read_group, same_unit


def _file(folder: Path, text: str | bytes, name: str = "group.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("header", ["x,y", "X , Y", "shot,x,y", "y,note,x", "\ufeffx,y"])
def test_columns_are_found_by_name(tmp_path: Path, header: str) -> None:
    names = [name.strip("\ufeff ").lower() for name in header.split(",")]
    row = ",".join({"x": "1.5", "y": "-2"}.get(name, "7") for name in names)
    read = read_group(_file(tmp_path, f"{header}\r\n{row}\r\n\r\n{row}\r\n"))
    assert read.points.tolist() == [[1.5, -2.0], [1.5, -2.0]]
    assert read.lines == (2, 4)
    assert read.unit is None


@pytest.mark.parametrize("unit", LengthUnit)
def test_a_unit_is_said_by_the_header_or_by_the_caller(tmp_path: Path, unit: LengthUnit) -> None:
    by_header = read_group(_file(tmp_path, f"x_{unit},y_{unit}\n1,2\n"))
    by_caller = read_group(_file(tmp_path, "x,y\n1,2\n"), unit=unit)
    assert by_header.unit is by_caller.unit is unit


@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(-50, 50)), min_size=1, max_size=4))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, points: list[tuple[float, float]]
) -> None:
    path = tmp_path_factory.mktemp("group") / "group.csv"
    path.write_text("x,y\n" + "".join(f"{x!r},{y!r}\n" for x, y in points))
    assert np.array_equal(read_group(path).points, np.array(points))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file: found nothing in it, expected columns x,y or x_mm,y_mm"),
        ("x,y\n", "the file: found no rows below the header, expected a row for each shot"),
        ("x\n1\n", 'line 1: found "x", expected columns x,y'),
        ("x,z\n1,2\n", 'line 1: found "x,z", expected columns x,y'),
        ("1,2\n3,4\n", "expected a header"),
        ("x;y\n1,5;2\n3,5;zwei\n", 'line 3, y: found "zwei", expected a number'),
        ('x,y\n1,2\n"3,5",2\n', 'line 3, x: found "3,5", expected a number (write decimals with a point'),
        ("x,y,x\n1,2,3\n", "two columns of x"),
        ("x_mm,y_cm\n1,2\n", "expected x and y in the same unit"),
        ("x,y_mm\n1,2\n", "expected x and y in the same unit"),
        ("x_km,y_km\n1,2\n", "expected a unit of length: mm, cm, m, in"),
        ("x,y\n1,2\n3,abc\n", 'line 3, y: found "abc", expected a number'),
        ("x,y\n1,2\n3,\n", "line 3, y: found nothing, expected a number"),
        ("x,y\n1,2\nnan,4\n", 'line 3, x: found "nan", expected a number'),
        ("x,y\n1,2\n-inf,4\n", 'line 3, x: found "-inf", expected a number'),
        ("x,y\n1,2\n1_0,4\n", 'line 3, x: found "1_0", expected a number'),
        ("x,y\n1,2\n3 mm,4\n", "the unit stands in the header"),
        ("x,y\n1,2\n3\n", "line 3: found 1 cell, expected 2, as the header has"),
        ("x,y\n1,2\n1,2,3\n", "line 3: found 3 cells, expected 2"),
        ("x,y\n1,2\n1e300,0\n", "line 3, x: found 1e+300, expected a number of at most 1e+06"),
        ("x_m,y_m\n0,0\n648,1\n", "line 3, x: found 648 m, expected at most 20 m beside the point of aim"),
        (b"x,y\n\xff\xfe,2\n", "byte 5: found text that is not UTF-8"),
        ("x,y\n" + "1" * 200_000 + ",2\n", "line 2"),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path: Path, text: str | bytes, said: str) -> None:
    with pytest.raises(GroupFileError) as raised:
        read_group(_file(tmp_path, text))
    assert len(raised.value.faults) == 1
    assert said in str(raised.value.faults[0])


def test_every_bad_row_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(GroupFileError) as raised:
        read_group(_file(tmp_path, "x,y\n1,2\na,2\n3,4\n5\n"))
    assert [fault.key for fault in raised.value.faults] == ["line 3, x", "line 5"]
    assert "--skip-bad-rows uses the others" in str(raised.value.faults[-1])


def test_bad_rows_are_left_out_only_when_asked(tmp_path: Path) -> None:
    read = read_group(_file(tmp_path, "x,y\n1,2\na,2\n3,4\n5\n"), skip_bad_rows=True)
    assert read.points.tolist() == [[1, 2], [3, 4]]
    assert read.lines == (2, 4)
    assert [fault.key for fault in read.skipped] == ["line 3, x", "line 5"]


def test_no_row_that_can_be_used_is_refused_all_the_same(tmp_path: Path) -> None:
    with pytest.raises(GroupFileError, match="line 2, x"):
        read_group(_file(tmp_path, "x,y\na,2\n"), skip_bad_rows=True)


def test_a_row_in_another_unit_is_asked_back(tmp_path: Path) -> None:
    """Four shots in cm, one in mm: too far out for any shot of this group."""
    path = _file(tmp_path, "x_cm,y_cm\n1.1,0.4\n0.9,-0.3\n1.4,0.2\n0.7,0.8\n0.8,0.1\n11,-90\n")
    with pytest.raises(GroupFileError, match=r"line 7: found \(11, -90\).*another unit\?"):
        read_group(path)
    assert len(read_group(path, skip_bad_rows=True).points) == 5


def test_a_folder_and_a_missing_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(GroupFileError, match="found a folder"):
        read_group(tmp_path)
    with pytest.raises(GroupFileError, match="found nothing, expected a CSV file"):
        read_group(tmp_path / "none.csv")


def test_the_header_and_the_caller_may_not_disagree(tmp_path: Path) -> None:
    with pytest.raises(GroupFileError, match="which says mm, expected cm"):
        read_group(_file(tmp_path, "x_mm,y_mm\n1,2\n"), unit=LengthUnit.CM)


def test_files_to_compare_are_in_one_unit(tmp_path: Path) -> None:
    first = read_group(_file(tmp_path, "x_mm,y_mm\n1,2\n", "first.csv"))
    plain = read_group(_file(tmp_path, "x,y\n1,2\n", "plain.csv"))
    assert same_unit([first, first]) is LengthUnit.MM
    assert same_unit([plain, plain]) is None
    with pytest.raises(
        GroupFileError, match=r"plain.csv: line 1: found no unit, expected mm, as .*first.csv has"
    ):
        same_unit([first, plain])
