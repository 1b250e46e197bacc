"""How tables stand in what is printed around them."""

from __future__ import annotations

import pytest
from rich.table import Table
from rich.text import Text

from rig.cli.terminal.tables import plain_table, print_folded, print_uncut


def _filled() -> Table:
    table = plain_table()
    table.add_column("shot")
    table.add_row("1")
    return table


def _printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_a_table_is_flush_with_what_is_printed_around_it(capsys: pytest.CaptureFixture[str]) -> None:
    print_folded(_filled())
    heads, _, row = _printed(capsys)
    assert (heads, row) == ("shot", "1")


def test_tables_and_what_stands_between_them_are_a_line_apart(capsys: pytest.CaptureFixture[str]) -> None:
    print_uncut([Text("first"), Text("second"), _filled(), _filled(), Text("last")])
    table = ["shot", "────", "1"]
    assert _printed(capsys) == ["first", "second", "", *table, "", *table, "", "last"]
