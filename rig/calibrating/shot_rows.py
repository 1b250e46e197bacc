"""A file of shots that grows while they are fired: each has its row before it is fired, and gets its range afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rig.calibrating.shots_file import OPEN_RANGE, ShotsFileError, open_range
from rig.files.checked_file import Fault, read_text
from rig.files.csv_table import read_table
from rig.files.whole_file import write_changed, write_whole

__all__ = ["ShotRows"]


class ShotRows:
    """A CSV file of shots that grows while they are fired: `elevation_deg`, `range_cm`, `gate_mps`, `dwell_s`.

    A shot's row is on the disk before it is fired, with its range open. What is learnt of it is put in as soon as it is
    known: whatever ends the program, no shot is fired of which the file says nothing. A file that a spreadsheet kept with
    other signs between cells, or before decimals, keeps them.

    Attributes
    ----------
    count : int
        Shots in it.
    """

    _HEADER = "elevation_deg,range_cm,gate_mps,dwell_s"

    def __init__(self, path: Path, count: int) -> None:
        self._path = path
        self._row: str | None = None
        # What the file has in place of the commas and points of a row as it is written here.
        self._signs: dict[int, str] = {}
        self.count = count

    @classmethod
    def open(cls, path: Path) -> ShotRows:
        """Begin a file, or go on with one that was begun so.

        Raises
        ------
        ShotsFileError
            Another file lies there, or it cannot be written.
        """
        name = str(path)
        if path.exists() and not path.is_file():  # to read a device would have no end
            found = "a folder" if path.is_dir() else "a device or a pipe"
            raise ShotsFileError(name, [Fault("the file", found, "a file that can be written")])
        try:
            if not path.exists():
                write_whole(path, f"{cls._HEADER}\n")
                return cls(path, 0)
            with path.open("a", encoding="utf-8"):
                pass
        except OSError as error:
            raise ShotsFileError(
                name, [Fault("the file", str(error.strerror), "a file that can be written")]
            ) from error
        rows = cls(path, 0)
        lines = [line for line in rows._lines() if line.strip()]
        separators = {cls._HEADER.replace(",", sign): sign for sign in ",;\t"}
        if not lines or lines[0].strip() not in separators:
            found = repr(lines[0].strip()) if lines else "nothing"
            raise ShotsFileError(name, [Fault("line 1", found, f"{cls._HEADER}, to add shots below it")])
        separator = separators[lines[0].strip()]
        if separator != ",":
            decimal = "." if any("." in line for line in lines) else ","
            rows._signs = str.maketrans({",": separator, ".": decimal})
        rows.count = len(lines) - 1
        return rows

    @property
    def is_begun(self) -> bool:
        """Whether a shot was begun of which it is not known yet whether it was fired, or how far it went."""
        return self._row is not None

    def begin(self, elevation_deg: float) -> None:
        """Write down the shot that is about to be fired, its range still open; on return that is on the disk.

        Raises
        ------
        ShotsFileError
            It cannot be written, as for each of the methods below.
        """
        row = f"{elevation_deg:g},{OPEN_RANGE},,"
        self._write([*self._lines(), row.translate(self._signs)], row)
        self._row = row
        self.count += 1

    def left(self, gate_mps: float | None, dwell_s: float) -> None:
        """Write down what the rig measured of the shot that was begun."""
        elevation, *_ = self._begun().split(",")
        gate = "" if gate_mps is None else f"{gate_mps:.4f}"
        row = f"{elevation},{OPEN_RANGE},{gate},{dwell_s:.1f}"
        self._replace(row)
        self._row = row

    def taped(self, range_cm: float | None) -> None:
        """Write down the range of the shot that was begun; None: it was not measured."""
        elevation, _, gate, dwell = self._begun().split(",")
        self._replace(f"{elevation},{'' if range_cm is None else f'{range_cm:g}'},{gate},{dwell}")
        self._row = None

    def strike(self) -> None:
        """Take the row out again, if one was begun: its shot was not fired."""
        if self._row is not None:
            self._replace(None)
            self._row = None
            self.count -= 1

    def open_ranges(self) -> Iterator[Fault]:
        """Say of each shot whose range is still open what to do about it."""
        table = read_table(self._path, ShotsFileError, expected=self._HEADER)
        for number, row in enumerate(table.rows, start=1):
            still_open = open_range(row.line, number, dict(zip(table.header, row.cells, strict=False)))
            if still_open is not None:
                yield still_open

    def _begun(self) -> str:
        assert self._row is not None, "a shot is begun first"
        return self._row

    def _lines(self) -> list[str]:
        return read_text(self._path, ShotsFileError, missing="a CSV file of shots").splitlines()

    def _replace(self, row: str | None) -> None:
        """Put another row in the place of the one that was begun; None: take it out."""
        lines, begun = self._lines(), self._begun().translate(self._signs)
        # From the end: an earlier shot of which nothing is known has the same row. And somebody may have edited the file.
        at = next((k for k in reversed(range(len(lines))) if lines[k] == begun), None)
        if at is None:
            fault = Fault("the file", f"no line {begun}", f"that line, to make it {row or 'none'}")
            raise ShotsFileError(str(self._path), [fault])
        lines[at : at + 1] = [] if row is None else [row.translate(self._signs)]
        self._write(lines, row)

    def _write(self, lines: Sequence[str], row: str | None) -> None:
        try:
            write_changed(self._path, "".join(f"{line}\n" for line in lines))
        except OSError as error:
            fault = Fault("the file", str(error.strerror), f"one that takes this shot's row, {row or 'none'}")
            raise ShotsFileError(str(self._path), [fault]) from error
