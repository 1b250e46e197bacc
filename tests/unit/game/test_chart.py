"""The combat chart as rows, text and CSV (N2), and what is said of lines that cannot be read."""

from __future__ import annotations

import csv
import datetime
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from game.montecassino import Side, Square
from game.montecassino.agreement import MOST_SHOTS, Agreement, Cannons, Commanders
from game.montecassino.casualties import Option
from game.montecassino.chart import Act, Chart, ChartRow, ChartRowError, Column, UnreadRow
from game.montecassino.chart_text import format_chart, format_chart_csv, read_chart
from game.montecassino.chart_words import WORDS, Language
from game.montecassino.position import Position

SEED = Path(__file__).parents[4] / "shared" / "seeds" / "000_2e3d5f374e750694.txt"
BOOKLET = """\
23	X		A-72	G-49	-----	-----	-----	12
24		X	-----	-----	-----	-----	A-62	11
25	X		G-09	G-01	-----	2	-----	11
26	X		A-29	A-52	1	-----	-----	10
34	X		G-68	G-69	-----	-----	-----	10
"	X		G-63	G-55	-----	-----	-----	10
"	X		A-44	A-36	-----	-----	-----	10
"""
HEADS = {
    "en": "Movements\t\t\tFrom\tTo\tPrisoner\t\tLosses/ cannon\tEnemies/ field\nNº\tInf.\tArt.\t\t\tCapture\tFreeing\n",
    "es": "Movimientos\t\t\tDe\tA\tPrisionero\t\tBajas cañón\tEnemigos en el campo\nNº\tInf.\tArt.\t\t\tToma\tLibera\n",
    "it": "Movimenti\t\t\tDa\tA\tPrigioniero\t\tCaduti cannone\tNemici sul campo\nN°\tInf.\tArt.\t\t\tPrende\tLibera\n",
}
SAMPLE = read_chart(BOOKLET).chart


MARCH, SHOT = (dict(zip(Column, line.split("\t"), strict=True)) for line in BOOKLET.splitlines()[:2])


def changed(cells: dict[Column, str], **changes: str) -> list[str]:
    """Give the cells of a row, some of them changed, by the names of the columns."""
    return list((cells | {Column[name]: text for name, text in changes.items()}).values())


def test_n2_the_booklet_itself_is_read_in_its_three_languages():
    if not SEED.exists():
        pytest.skip(f"the booklet is not at {SEED}")
    tables = re.findall(
        r"(?:Movements|Movimientos|Movimenti)\t.*\n.*\n(?:.*\t.*\n){7}", SEED.read_text(encoding="utf-8")
    )
    assert len(tables) == 3
    for table in tables:
        reading = read_chart(table)
        assert (reading.chart, reading.faults) == (SAMPLE, ())


@pytest.mark.parametrize("heads", ["", *HEADS.values()])
def test_n2_the_booklets_seven_rows_are_read_and_written_back_unchanged(heads):
    reading = read_chart(heads + BOOKLET)
    assert reading.faults == ()
    assert "\n".join("\t".join(row.cells) for row in reading.chart.rows) + "\n" == BOOKLET


def test_n2_the_booklets_rows_say_what_the_page_says_of_them():
    march, shot, freeing, capture, first, second, third = SAMPLE.rows
    assert (march.start, march.end, march.enemies) == (Square(Side.A, 72), Square(Side.G, 49), 12)
    assert (shot.act, shot.losses, shot.start, shot.end) == (Act.ARTILLERY, (Square(Side.A, 62),), None, None)
    assert (freeing.end, freeing.freed) == (Square(Side.G, 1), 2)
    assert (capture.captured, capture.freed) == (1, 0)
    assert [each.number for each in (first, second, third)] == [34, None, None]


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("write", [format_chart, format_chart_csv])
def test_n2_the_seven_rows_go_through_text_and_csv(write, language):
    text = write(SAMPLE, language)
    reading = read_chart(text)
    assert (reading.chart, reading.faults) == (SAMPLE, ())
    assert write(reading.chart, language) == text


@pytest.mark.parametrize("language", Language)
def test_csv_is_what_the_csv_module_reads_under_its_heads(language):
    delimiter = "," if language is Language.ENGLISH else ";"
    table = list(csv.DictReader(io.StringIO(format_chart_csv(SAMPLE, language)), delimiter=delimiter))
    heads = WORDS[language].heads
    assert [line[heads[Column.NUMBER]] for line in table] == ["23", "24", "25", "26", "34", '"', '"']
    assert table[1][heads[Column.LOSSES]] == "A-62"


def test_n1_the_italian_letter_and_hasty_forms_are_read_and_written_as_the_page_has_them():
    hasty = changed(MARCH, INFANTRY="x", START="a-9", END="T-49", CAPTURE="-", FREEING="", LOSSES="\u2014")
    assert ChartRow.parse(hasty).cells == ("23", "X", "", "A-09", "G-49", "-----", "-----", "-----", "12")
    assert ChartRow.parse(changed(SHOT, LOSSES="T-5, a62;A-9")).cells[7] == "G-05 A-62 A-09"
    assert ChartRow.parse(changed(MARCH, NUMBER="\u201d")).number is None
    assert ChartRow.parse(changed(MARCH, ENEMIES="")).enemies is None


def test_s3_squares_of_two_boards_stand_in_rows():
    assert ChartRow.parse(changed(MARCH, START="A-72.1", END="G-49.1")).cells[3:5] == ("A-72.1", "G-49.1")
    assert ChartRow.parse(changed(SHOT, LOSSES="A-62.1 G-40.2")).cells[7] == "A-62.1 G-40.2"


@pytest.mark.parametrize(("sign", "act"), [("R", Act.RETREAT), ("#", Act.ABANDON), ("||", Act.ADJOURN)])
def test_retreat_abandoning_and_adjourning_stand_with_their_sign_under_from(sign, act):
    noted = ChartRow(number=9, act=act, enemies=20)
    assert noted.cells == ("9", "", "", sign, "-----", "-----", "-----", "-----", "20")
    assert ChartRow.parse(noted.cells) == noted
    chart = Chart((noted,))
    assert read_chart(format_chart(chart)).chart == read_chart(format_chart_csv(chart)).chart == chart


FAULTY = [
    (changed(MARCH, START="A-73"), "From: found 'A-73', expected a square from A-01 to A-72 or G-01 to G-72"),
    (changed(MARCH, START=""), "From: expected a square"),
    (changed(MARCH, NUMBER="0"), "No.: found '0', expected a number from 1"),
    (changed(MARCH, ARTILLERY="X"), "Art.: found 'X', expected no mark, for Inf. has one"),
    (changed(MARCH, INFANTRY=""), "Inf.: expected X here or under Art."),
    (changed(MARCH, INFANTRY="yes"), "Inf.: found 'yes', expected X, or nothing"),
    (changed(MARCH, START="R"), "Inf.: found 'X', expected no mark beside R"),
    (changed(SHOT, START="A-72"), "From: found 'A-72', expected ----- in a row of Art."),
    (changed(SHOT, FREEING="1"), "Freeing: found '1', expected ----- in a row of Art."),
    (changed(SHOT, LOSSES="A-62 A-62"), "Losses by cannon: found 'A-62 A-62', expected squares, each once"),
    (changed(SHOT, LOSSES="two"), "Losses by cannon: found 'two', expected squares, each once"),
    (changed(SHOT, NUMBER='"'), "No.: found '\"', expected the number of the turn"),
    (changed(MARCH, CAPTURE="2"), "Capture: found '2', expected 1, or -----"),
    (changed(MARCH, FREEING="all"), "Freeing: found 'all', expected a number, or -----"),
    (changed(MARCH, LOSSES="A-62"), "Losses by cannon: found 'A-62', expected ----- in a row of Inf."),
    (changed(MARCH, ENEMIES="twelve"), "Enemies on the field: found 'twelve', expected a number of soldiers"),
    (["23", "X", "", "A-72", "G-49"], "the row: found '5 cells', expected 9: No., Inf., Art., From, To"),
]


@pytest.mark.parametrize(("cells", "said"), FAULTY)
def test_a_row_that_cannot_be_read_says_where_what_was_found_and_what_was_expected(cells, said):
    with pytest.raises(ChartRowError) as refused:
        ChartRow.parse(cells)
    assert said in str(refused.value)


def test_a_row_names_all_its_faults():
    with pytest.raises(ChartRowError) as refused:
        ChartRow.parse(changed(MARCH, START="A-73", END="H-1", ENEMIES="-1"))
    assert [fault.column for fault in refused.value.faults] == [Column.START, Column.END, Column.ENEMIES]


@pytest.mark.parametrize(
    "cells",
    [
        {"act": Act.INFANTRY, "start": Square(Side.A, 1)},
        {"act": Act.ARTILLERY, "start": Square(Side.A, 1), "end": Square(Side.A, 9)},
        {"act": Act.RETREAT, "freed": 1},
        {"act": Act.ABANDON, "losses": (Square(Side.A, 1),)},
        {"act": Act.ARTILLERY, "number": None},
        {"act": Act.ARTILLERY, "number": 0},
        {"act": Act.ARTILLERY, "enemies": -1},
        {"act": Act.ARTILLERY, "losses": (Square(Side.A, 1), Square(Side.A, 1))},
        {"act": Act.INFANTRY, "start": Square(Side.A, 1), "end": Square(Side.A, 9), "captured": 2},
    ],
)
def test_a_row_that_could_not_be_written_cannot_be_made(cells):
    with pytest.raises(ValueError, match="row"):
        ChartRow(**{"number": 1, **cells})


def with_line(text: str, number: int, line: str) -> str:
    lines = text.split("\n")
    lines[number - 1] = line
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("write", "line"),
    [
        (format_chart, ' 26 | X |  | A-29 | A-99 | 1 | ----- | ----- | 10 | and "more"'),
        (format_chart, "they argued here for an hour"),
        (format_chart_csv, '26,X,,A-29,A-99,1,-----,-----,10,"and ""more"""'),
        (format_chart_csv, "they argued here for an hour"),
        (format_chart_csv, '26,X,,A-29,A-99,1,-----,-----,"10'),
    ],
)
def test_a_chart_with_a_bad_line_loads_with_its_errors_and_the_line_as_it_was(write, line):
    sound = write(SAMPLE)
    (number,) = (at for at, text in enumerate(sound.splitlines(), 1) if "A-29" in text)
    reading = read_chart(with_line(sound, number, line))
    assert {fault.line for fault in reading.faults} == {number}
    assert reading.lines[3] == number
    assert reading.chart.rows[:3] + reading.chart.rows[4:] == SAMPLE.rows[:3] + SAMPLE.rows[4:]
    kept = reading.chart.rows[3]
    assert isinstance(kept, UnreadRow)
    assert all(word in " ".join(kept.cells) for word in ("argued", "hour") if word in line)
    again = read_chart(write(reading.chart))
    assert again.chart == reading.chart
    assert [fault.column for fault in again.faults] == [fault.column for fault in reading.faults]


def test_a_fault_names_line_column_found_and_expected():
    (fault,) = read_chart(BOOKLET.replace("A-52", "A-99")).faults
    assert str(fault) == "line 4, To: found 'A-99', expected a square from A-01 to A-72 or G-01 to G-72"


def test_columns_stand_where_the_heads_say():
    turned = [list(reversed(next(csv.reader([line])))) for line in format_chart_csv(SAMPLE).splitlines()]
    text = "\n".join(";".join(cells).replace(';"', ';""""') for cells in turned)
    assert read_chart(text).chart == SAMPLE


def test_heads_that_are_missing_or_strange_are_named():
    lines = format_chart_csv(SAMPLE).splitlines()
    reading = read_chart("\n".join([lines[0].replace("Freeing", "Weather"), *lines[1:]]))
    assert [str(fault) for fault in reading.faults] == [
        "line 1, heads: found 'Weather', expected heads of the chart: No., Inf., Art., From, To, Capture, "
        "Freeing, Losses by cannon, Enemies on the field",
        "line 1, heads: found nothing, expected also Freeing",
    ]
    assert reading.chart == SAMPLE  # read in the usual order


def test_a_spreadsheets_marks_and_padding_do_no_harm():
    padded = "\ufeff" + "".join(line + ",,\r\n" for line in format_chart_csv(TITLED).splitlines())
    reading = read_chart(padded)
    assert (reading.chart, reading.faults) == (TITLED, ())


def test_a_line_of_other_words_over_the_columns_is_no_turn_and_is_named_once():
    reading = read_chart(
        "Turn,Infantry,Artillery,From,To,Captured,Freed,Losses,Enemies\n1,X,,A-17,A-41,,,,24\n"
    )
    assert [row.number for row in reading.chart.rows] == [1]
    said = [str(fault) for fault in reading.faults]
    assert said[0].startswith(
        "line 1, heads: found 'Turn, Infantry, Artillery, Captured, Freed, Losses, Enemies', "
        "expected heads of the chart: No., Inf., Art., From, To,"
    )
    assert len(said) == 2


def test_rows_written_close_or_filled_up_are_read_without_heads():
    march = SAMPLE.rows[:1]
    assert read_chart("23|X||A-72|G-49||||12").chart.rows == march
    assert read_chart("23,X,,A-72,G-49,,,,12,,,,").chart.rows == march


def test_a_ditto_mark_typed_without_csvs_quotes_is_read():
    assert read_chart(format_chart_csv(SAMPLE).replace('""""', '"')).chart == SAMPLE


TITLED = Chart(
    SAMPLE.rows,
    Agreement(
        Side.G,
        option=Option.III,
        shots={Side.A: 12, Side.G: 15},
        cannons=Cannons.SHARED,
        zones={Side.A: (Square(Side.G, 30), Square(Side.G, 32))},
        lines=2,
        players={
            Side.A: Commanders('Władysław Ñandú; jr. | "Max"', "Zoë, the gunner"),
            Side.G: Commanders("=1+1: Groß"),
        },
    ),
    datetime.date(1944, 5, 18),
    Position.parse("G A01-A16 G01-G15,G40 0/1 12/15 -"),
)


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("write", [format_chart, format_chart_csv])
def test_s4_the_title_goes_with_the_chart_and_is_read_in_any_language(write, language):
    reading = read_chart(write(TITLED, language))
    assert (reading.chart, reading.faults) == (TITLED, ())


@pytest.mark.parametrize("write", [format_chart, format_chart_csv])
def test_s4_the_most_shots_that_can_be_agreed_go_with_the_chart(write):
    chart = Chart((), Agreement(Side.A, shots=dict.fromkeys(Side, MOST_SHOTS)))
    reading = read_chart(write(chart))
    assert (reading.chart, reading.faults) == (chart, ())


names = st.text(st.characters(codec="utf-8"), max_size=30).map(str.strip).filter(str.isprintable)
signs = st.text(st.sampled_from("|:;,\"= A'"), max_size=8).map(str.strip)


@given(names | signs, names | signs, names | signs, st.sampled_from(Language))
def test_s5_any_name_goes_through_text_and_csv(infantry, cannon, other, language):
    players = {Side.A: Commanders(infantry, cannon), Side.G: Commanders(other)}
    chart = Chart(SAMPLE.rows, Agreement(Side.A, players=players))
    for write in (format_chart, format_chart_csv):
        reading = read_chart(write(chart, language))
        assert (reading.chart, reading.faults) == (chart, ())


def test_s4_what_the_title_leaves_out_is_the_usual():
    chart = read_chart("Germans: Otto\n" + BOOKLET).chart
    assert chart.agreement == Agreement(Side.A, players={Side.G: Commanders("Otto")})
    assert read_chart(BOOKLET).chart.agreement is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Date: yesterday", "line 1, Date: found 'yesterday', expected a date as 2026-05-18"),
        ("Primer turno: B", "line 1, Primer turno: found 'B', expected A or G"),
        ("Casualty option: iv", "line 1, Casualty option: found 'iv', expected one of i, ii, iii"),
        ("Zona degli Alleati: all", "found 'all', expected squares as G25-G72 ('all' is neither a square"),
        ("Shots of the Allies: many", "line 1, Shots of the Allies: found 'many', expected a number"),
        ("Cannons: 3", "line 1, Cannons: found '3', expected 0, 1 (one that both share) or 2 (one each)"),
        ("Lines of soldiers: 4", "line 1, what was agreed: found 'lines is 4, expected 1 to 3'"),
        ("Start: here", "line 1, Start: found 'here', expected a position in one line (1 field"),
    ],
)
def test_a_title_that_cannot_be_read_is_named_and_kept(line, said):
    reading = read_chart(f"{line}\n{BOOKLET}")
    (fault,) = reading.faults
    assert said in str(fault)
    assert reading.chart.rows == (UnreadRow(tuple(line.split(": "))), *SAMPLE.rows)
    assert read_chart(format_chart(reading.chart)).chart == reading.chart


def test_a_title_line_given_twice_is_a_fault():
    reading = read_chart("Boards: 1\nBoards: 2\n" + BOOKLET)
    assert [str(fault) for fault in reading.faults] == [
        "line 2, Boards: found '2', expected it once, and line 1 has it"
    ]


@given(st.text(st.characters(codec="utf-8") | st.sampled_from('|\t;,"\nXAG-0123456789'), max_size=200))
def test_any_text_is_a_chart_of_sorts_and_nothing_of_it_is_lost(text):
    reading = read_chart(text)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    faulty = {fault.line for fault in reading.faults}
    for number, row in zip(reading.lines, reading.chart.rows, strict=True):
        if isinstance(row, UnreadRow):
            assert number in faulty
            kept, found = (
                "".join(filter(str.isalnum, each)) for each in ("".join(row.cells), lines[number - 1])
            )
            assert kept == found
