"""Battles to charts and back (N2), and what the rules say of rows (N3)."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from montecassino_strategies import positions
from pressing_battles import press_on

from game.montecassino import IllegalTurnError, Position, Side, Turn, outcome
from game.montecassino.agreement import Agreement, Cannons
from game.montecassino.battle import Battle
from game.montecassino.chart import Act, Chart, ChartRow, UnreadRow
from game.montecassino.chart_battle import chart_of, first_side, play_chart
from game.montecassino.chart_text import format_chart, format_chart_csv, read_chart
from game.montecassino.chart_turns import entry_of_rows, rows_of_entry, why_never_legal
from game.montecassino.chart_words import Language
from game.montecassino.entries import Abandon, Adjourn, Retreat, Shot

SAMPLE = read_chart(
    """\
23	X		A-72	G-49	-----	-----	-----	12
24		X	-----	-----	-----	-----	A-62	11
25	X		G-09	G-01	-----	2	-----	11
26	X		A-29	A-52	1	-----	-----	10
34	X		G-68	G-69	-----	-----	-----	10
"	X		G-63	G-55	-----	-----	-----	10
"	X		A-44	A-36	-----	-----	-----	10
"""
).chart


def turns_of(chart: Chart) -> list[tuple[ChartRow, ...]]:
    """Give the rows of the booklet's sample, turn by turn."""
    rows = chart.rows
    return [(rows[0],), (rows[1],), (rows[2],), (rows[3],), rows[4:]]  # type: ignore[list-item]


def goes_there_and_back(battle: Battle, language: Language) -> None:
    chart = chart_of(battle)
    for write in (format_chart, format_chart_csv):
        text = write(chart, language)
        reading = read_chart(text)
        assert (reading.chart, reading.faults) == (chart, ())
        assert write(reading.chart, language) == text
    play = play_chart(chart)
    assert (play.whole, play.faults) == (True, ())
    assert play.battle.position == battle.position
    assert (play.battle.outcome, play.battle.points) == (battle.outcome, battle.points)
    assert chart_of(play.battle) == chart


seeds = st.integers(0, 2**32)
languages = st.sampled_from(Language)


@given(seeds, st.sampled_from(Side), st.integers(1, 3), st.sampled_from((1, 1, 2)), languages)
def test_n2_a_battles_chart_goes_through_text_csv_and_play_to_the_same_end(
    seed, first, lines, boards, language
):
    battle = Battle.begin(Agreement(first, lines=lines, boards=boards))
    goes_there_and_back(press_on(Random(seed), battle, 30), language)


@given(positions().filter(lambda position: outcome(position) is None), seeds, languages)
def test_n2_so_does_one_that_begins_in_the_thick_of_it(start, seed, language):
    battle = Battle.begin(Agreement(start.turn, shots=dict.fromkeys(Side, 99)), start)
    goes_there_and_back(press_on(Random(seed), battle, 6), language)


def test_n2_enemies_on_the_field_are_those_of_the_mover_after_the_turn():
    start = Position.parse("A A60,A25 A69,G49-G52 0/0 1/1 -")
    battle = Battle.begin(Agreement(Side.A, shots=dict.fromkeys(Side, 1)), start)
    battle = battle.play(Turn.parse("A-60xA-69;A-25>A-33")).play(Shot())
    assert [row.enemies for row in chart_of(battle).rows if isinstance(row, ChartRow)] == [4, 4, 2]


def test_every_act_is_a_numbered_row():
    battle = Battle.begin(Agreement(Side.A))
    for entry in (Shot(), Adjourn()):
        battle = battle.play(entry)
    battle = battle.resume()
    for entry in (Retreat(), Abandon()):
        battle = battle.play(entry)
    rows = [row for row in chart_of(battle).rows if isinstance(row, ChartRow)]
    assert [(row.number, row.act) for row in rows] == [
        (1, Act.ARTILLERY),
        (2, Act.ADJOURN),
        (3, Act.RETREAT),
        (4, Act.ABANDON),
    ]


@pytest.mark.parametrize(
    ("turn", "position", "expected"),
    [
        (0, "A A72,A01 G01-G12 0/0 1/1 -", "A-72>G-65>G-57>G-49"),
        (3, "A A29 A52,G01-G10 0/0 1/1 -", "A-29>A-37>A-45xA-52"),
        (4, "G A01-A10 A44,G63,G68 0/0 1/1 -", "G-68>G-69;G-63>G-55;A-44>A-36"),
    ],
)
def test_n2_sample_turns_are_resolved_where_a_position_bears_them(turn, position, expected):
    assert str(entry_of_rows(turns_of(SAMPLE)[turn], Position.parse(position))) == expected


def test_n3_row_25_is_a_row_and_no_legal_turn():
    row_25 = turns_of(SAMPLE)[2]
    battle = Battle.begin(Agreement(Side.A), Position.parse("A A01,G09 G02-G08,G10-G12 0/5 1/1 -"))
    with pytest.raises(IllegalTurnError) as refused:
        battle.play(entry_of_rows(row_25, battle.position))
    assert refused.value.clause == "V0"
    why = why_never_legal(row_25)
    assert why is not None
    assert "for side A, the last step has won, and nobody is freed (V0)" in why
    assert [why_never_legal(turn) for turn in turns_of(SAMPLE)].count(None) == 4


def test_n3_the_sample_is_no_battle_and_the_reader_says_of_each_row_why():
    play = play_chart(SAMPLE)
    assert not play.whole
    assert [(fault.row, str(fault).partition(":")[0]) for fault in play.faults] == [
        (0, "nothing is played from here on"),
        (2, "No. 25"),
    ]
    assert "found No. 23, expected No. 1" in str(play.faults[0])


@pytest.mark.parametrize(
    ("rows", "position", "clause"),
    [
        ("A-17 A-41", "A A17 G01-G12 0/0 1/1 -", None),
        ("A-17 A-49", "A A17 G01-G12 0/0 1/1 -", "M1"),
        ("A-17 A-41", "A A17,A25 G01-G12 0/0 1/1 -", "M8"),
        ("A-17 A-33", "A A17 G01-G12,A33 0/0 1/1 -", "M3"),
        ("A-17 A-19", "A A17 G01-G12 0/0 1/1 -", "M8"),
        ("A-17 A-34", "A A17 G01-G12,A25 0/0 1/1 -", None),  # sideways first: A-25 is in the way
        ("A-17 A-26", "A A17,A18 G01-G12,A25 0/0 1/1 -", "M3"),
        ("A-01 A-17", "A A01 G01-G12 0/0 1/1 -", "M7"),
        ("A-17 A-09", "A A17 G01-G12 0/0 1/1 -", "M5"),
        ("A-17 A-17", "A A17 G01-G12 0/0 1/1 -", "M8"),
        ("A-18 A-17", "A A17 G01-G12 0/0 1/1 -", "M1"),
        ("A-17 A-25;A-18 A-17", "A A17,A18 G01-G12 0/0 1/1 -", None),
        ("A-18 A-17;A-17 A-25", "A A17,A18 G01-G12 0/0 1/1 -", None),  # noted in another order than moved
        ("A-17 A-25;A-18 A-26;A-19 A-27;A-20 A-28", "A A17-A20 G01-G12 0/0 1/1 -", "M1"),
    ],
)
def test_rows_are_resolved_to_a_legal_turn_or_refused_with_the_clause(rows, position, clause):
    noted = [
        ChartRow.parse(("1" if not at else '"', "X", "", *pair.split(), "", "", "", ""))
        for at, pair in enumerate(rows.split(";"))
    ]
    before = Position.parse(position)
    battle = Battle.begin(Agreement(Side.A), before)
    if clause is None:
        after = battle.play(entry_of_rows(noted, before)).position
        assert {row.end for row in noted} <= set(after.squares_of(Side.A))
    else:
        with pytest.raises(IllegalTurnError) as refused:
            entry_of_rows(noted, before)
        assert refused.value.clause == clause


def test_p3_two_soldiers_cannot_free_and_the_one_who_frees_moves_last():
    before = Position.parse("A A20,G32,G30 G01-G08 0/4 1/1 -")
    both = [
        ChartRow.parse(("1", "X", "", "G-32", "G-24", "", "1", "", "")),
        ChartRow.parse(('"', "X", "", "G-30", "G-22", "", "1", "", "")),
    ]
    with pytest.raises(IllegalTurnError, match="P3"):
        entry_of_rows(both, before)
    other = ChartRow.parse(('"', "X", "", "A-20", "A-28", "", "", "", ""))
    assert str(entry_of_rows([both[0], other], before)) == "A-20>A-28;G-32>G-24+1"


def test_a_miscounted_column_is_named_and_stops_nothing():
    battle = Battle.begin(Agreement(Side.A)).play(Turn.parse("A-17>A-25;A-18>A-26")).play(Shot())
    text = format_chart(chart_of(battle)).replace("| 24", "| 23", 2)
    play = play_chart(read_chart(text).chart)
    assert play.whole
    assert [(fault.row, str(fault)) for fault in play.faults] == [
        (0, "No. 1: Enemies on the field: found 23, expected 24"),
        (1, "No. 1: Enemies on the field: found 23, expected 24"),
    ]


def test_playing_stops_at_a_row_that_is_not_read_and_goes_as_far_as_that():
    battle = Battle.begin(Agreement(Side.A)).play(Turn.parse("A-17>A-25")).play(Shot()).play(Shot())
    rows = chart_of(battle).rows
    play = play_chart(Chart((rows[0], UnreadRow(("?",)), rows[2]), battle.agreement))
    assert (len(play.battle.history), play.whole) == (1, False)
    assert [fault.row for fault in play.faults] == [1]


def test_a_turn_that_is_legal_nowhere_is_named_once_and_so_is_each_behind_it():
    leaps = tuple(ChartRow.parse((str(n), "X", "", "A-17", "A-20", "", "", "", "")) for n in (1, 2))
    play = play_chart(Chart(leaps, Agreement(Side.A)))
    assert [(fault.row, fault.clause) for fault in play.faults] == [(0, "M8"), (1, None)]
    assert play.faults[1].why.startswith("legal in no position: ")


@pytest.mark.parametrize(
    ("agreement", "losses", "clause"),
    [
        (Agreement(Side.A), "G-01", "C5"),
        (Agreement(Side.A), "G-30", "C5"),
        (Agreement(Side.A, shots={Side.A: 0}), "", "C3"),
        (Agreement(Side.A, cannons=Cannons.NONE), "", None),
    ],
)
def test_a_shot_that_the_agreement_forbids_is_named_with_its_clause(agreement, losses, clause):
    shot = ChartRow.parse(("1", "", "X", "", "", "", "", losses, ""))
    (fault,) = play_chart(Chart((shot,), agreement)).faults
    assert fault.clause is not None
    assert clause is None or fault.clause == clause


def test_rows_of_two_boards_mixed_with_one_are_legal_nowhere():
    mixed = [
        ChartRow.parse(("1", "X", "", "A-17.1", "A-25.1", "", "", "", "")),
        ChartRow.parse(('"', "X", "", "A-18", "A-26", "", "", "", "")),
    ]
    why = why_never_legal(mixed)
    assert why is not None
    assert "A-17.1 names one of two boards, and the position has one" in why


def test_m1_rows_that_touch_a_whole_line_are_more_soldiers_than_move():
    rows = [
        ChartRow.parse(('"', "X", "", f"G-0{file}", f"G-0{file}", "", "", "", "")) for file in range(1, 9)
    ]
    assert why_never_legal(rows) == "8 soldiers move, and 3 is the most (M1)"


def test_s2_the_first_side_is_told_by_the_first_infantry_row():
    march = Turn.parse("G-17>G-25")
    chart = chart_of(Battle.begin(Agreement(Side.A)).play(Shot()).play(march))
    assert first_side(chart.rows) is Side.A
    assert play_chart(Chart(chart.rows)).whole
    adjourned = Battle.begin(Agreement(Side.G)).play(Adjourn()).resume().play(march)
    assert first_side(chart_of(adjourned).rows) is Side.G
    assert first_side(()) is Side.A


def test_rows_of_a_freeing_turn_note_it_with_the_last_soldier():
    before = Position.parse("A A20,G32 G01-G08 0/4 1/1 -")
    turn = Turn.parse("A-20>A-28;G-32>G-24+2")
    after = Battle.begin(Agreement(Side.A), before).play(turn).position
    assert [row.freed for row in rows_of_entry(7, Side.A, turn, after)] == [0, 2]
