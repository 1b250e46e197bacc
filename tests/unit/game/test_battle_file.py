"""A battle as text: it holds everything, and reading it back finds every slip at its place."""

import datetime
import json

import pytest

from game.montecassino import (
    Agreement,
    Battle,
    BattleFileError,
    Cannons,
    Commanders,
    Option,
    Position,
    Side,
    all_squares,
    format_battle,
    parse_battle,
    parse_squares,
    read_entry,
)

ENTRIES = ["A-17>A-25>A-33", "*", "A-18>A-26", "R", "A-19>A-27;A-20>A-28", "*A-27,A-33", "||"]


def played(*texts: str, agreement: Agreement | None = None, start: Position | None = None) -> Battle:
    battle = Battle.begin(agreement or Agreement(Side.A), start, began=datetime.date(2026, 11, 21))
    for text in texts:
        battle = battle.play(read_entry(battle.position, text))
    return battle


def faults_of(text: str) -> list[str]:
    with pytest.raises(BattleFileError) as caught:
        parse_battle(text)
    return list(caught.value.faults)


def changed(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


@pytest.mark.parametrize(
    "battle",
    [
        played(),
        played(*ENTRIES),
        played(*ENTRIES).resume(),
        played("A-17>A-25", "#"),
        played("A-17>A-25", "||").resume().play(read_entry(played("A-17>A-25").position, "G-17>G-25")),
        played(agreement=Agreement(Side.G, cannons=Cannons.NONE, lines=1)),
        played("*A-30", start=Position.parse("G A01-A08,A30 G01-G08 16/0 3/20 A")),
        played(
            "A-17.1>A-25.1",
            "*A-25.1",
            agreement=Agreement(
                Side.A,
                Option.I,
                shots={Side.A: 3, Side.G: 10},
                cannons=Cannons.SHARED,
                zones={Side.A: parse_squares("G01.2,G72.1"), Side.G: all_squares(2)},
                boards=2,
                players={Side.A: Commanders("Ana Muñoz", "Bo"), Side.G: Commanders('Käthe "K"')},
            ),
        ),
    ],
)
def test_a_battle_written_and_read_is_the_same_battle(battle):
    again = parse_battle(format_battle(battle))
    assert again == battle
    assert again.began == battle.began
    assert format_battle(again) == format_battle(battle)


def test_v4_an_adjourned_battle_is_adjourned_when_it_is_read():
    assert parse_battle(format_battle(played(*ENTRIES))).adjourned


def test_each_entry_is_a_line_that_a_person_can_read():
    lines = format_battle(played(*ENTRIES)).splitlines()
    assert '    {"entry": "*", "after": "A A01-A16,A18-A24,A33 G01-G24 0/0 20/19 -"},' in lines
    assert '    "zones": {"A": "G25-G72", "G": "A25-A72"},' in lines
    assert '  "start": "A A01-A24 G01-G24 0/0 20/20 -",' in lines


def test_entries_in_short_are_read():
    text = changed(format_battle(played(*ENTRIES)), '"A-17>A-25>A-33"', '"a17>a33"')
    assert parse_battle(text) == played(*ENTRIES)


def test_a_position_written_in_another_way_is_the_same_position():
    text = changed(
        format_battle(played(*ENTRIES)),
        "G A01-A16,A18-A24,A33 G01-G24 0/0 20/20 -",
        "G A33,A18-A24,A1-A16 G01-G24 0/0 20/20 -",
    )
    assert parse_battle(text) == played(*ENTRIES)


def test_a_changed_position_is_named_at_its_place_and_nowhere_else():
    text = changed(
        format_battle(played(*ENTRIES)), "A18-A24,A33 G01-G24 0/0 20/19", "A18-A24,A34 G01-G24 0/0 20/19"
    )
    assert faults_of(text) == [
        "entries[2].after: found A A01-A16,A18-A24,A34 G01-G24 0/0 20/19 -, "
        "expected A A01-A16,A18-A24,A33 G01-G24 0/0 20/19 - after *"
    ]


def test_a_changed_entry_is_named_at_its_place_and_nowhere_else():
    text = changed(format_battle(played(*ENTRIES)), '"A-18>A-26"', '"A-24>A-32"')
    assert [fault.partition(":")[0] for fault in faults_of(text)] == ["entries[3].after"]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("A-18>A-10", "entries[3].entry: an own soldier stands on A-10 (M8)"),
        ("forward", "entries[3].entry: 'FORWARD' is no turn"),
        ("A-26", "entries[3].entry: 'A-26' may be A-18>A-26 or"),
        ("*G-40", "entries[3].entry: nobody stood on G-40 before the shot (C5)"),
        ("*G-24", "entries[3].entry: G-24 is outside the zone G25-G72"),
    ],
)
def test_an_entry_that_is_unreadable_illegal_or_ambiguous_is_named_and_the_rest_is_read(entry, said):
    text = changed(format_battle(played(*ENTRIES)), '"A-18>A-26"', json.dumps(entry))
    text = changed(text, '"R"', '"RR"')
    first, second = faults_of(text)
    assert first.startswith(said)
    assert second.startswith("entries[4].entry: 'RR' is no turn")


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (["#", "*"], "entries[2].entry: the battle is over (V0)"),
        (["||", "||"], None),
        (["*", "*A-01"], "entries[2].entry: A-01 is outside the zone A25-A72"),
    ],
)
def test_v4_what_follows_an_end_is_a_fault_and_what_follows_an_adjournment_resumes_it(entries, said):
    data = json.loads(format_battle(played()))
    befores = ["A A01-A24 G01-G24 0/0 20/20 -", "G A01-A24 G01-G24 0/0 19/20 -"]
    after = befores[1] if entries[0] == "*" else befores[0]
    data["entries"] = [{"entry": entry, "after": after} for entry in entries]
    if said is None:
        assert [str(each.entry) for each in parse_battle(json.dumps(data)).history] == entries
    else:
        (fault,) = faults_of(json.dumps(data))
        assert fault.startswith(said)


def test_every_fault_is_told_with_its_place():
    text = format_battle(played(*ENTRIES))
    for old, new in (
        ('"began": "2026-11-21"', '"began": "yesterday", "weather": "rain"'),
        ('"option": "ii"', '"option": "iv"'),
        ('"lines": 3', '"lines": true'),
        ('"zones": {"A": "G25-G72"', '"zones": {"A": "G25-G75"'),
        ('"G": {"infantry": "", "cannon": ""}', '"G": {"infantry": 3}'),
        ('"cannons": "each"', '"cannon": "each"'),
        ('"shots": {"A": 20, "G": 20}', '"shots": {"A": 20, "T": 20}'),
        ('"start": "A', '"start": "B'),
    ):
        text = changed(text, old, new)
    assert faults_of(text) == [
        "weather: a key that nothing reads, expected format, agreement, start, entries, began",
        'began: found "yesterday", expected a day such as 2026-11-21',
        "agreement.cannon: a key that nothing reads, expected first, option, shots, cannons, zones, lines, boards, players",
        "agreement.cannons: found nothing, and this key must be given",
        'agreement.option: found "iv", expected "i" or "ii" or "iii"',
        "agreement.shots.T: a key that nothing reads, expected A, G",
        "agreement.shots.G: found nothing, and this key must be given",
        "agreement.zones.A: G-75 is not on the board: numbers go from 1 to 72",
        "agreement.lines: found true, expected a whole number",
        "agreement.players.G.cannon: found nothing, and this key must be given",
        "agreement.players.G.infantry: found 3, expected a text",
        "start: turn is 'B', expected A or G",
    ]


@pytest.mark.parametrize(
    ("old", "new", "faults"),
    [
        ('"lines": 3', '"lines": 7', ["agreement: lines is 7, expected 1 to 3"]),
        (
            '"cannons": "each"',
            '"cannons": "none"',
            [
                "agreement: shots of A are 20, and without a cannon there are none",
                "agreement: shots of G are 20, and without a cannon there are none",
            ],
        ),
        ('"A": 20,', '"A": 4,', ["start: the start has shots left of A: 20, agreed are 4"]),
        ('{"entry": "R", ', "{", ["entries[4].entry: found nothing, and this key must be given"]),
        ('{"entry": "R", ', '{"entry": 3, ', ["entries[4].entry: found 3, expected a text"]),
    ],
)
def test_single_faults(old, new, faults):
    assert faults_of(changed(format_battle(played(*ENTRIES)), old, new)) == faults


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file: found an empty file, expected a battle file"),
        ("[1, 2", "line 1, column 6: no JSON"),
        ("[]", "the file: found a list, expected an object"),
        ("{}", 'format: found nothing, expected "montecassino-battle/1"'),
        ('{"format": "montecassino-battle/2"}', 'format: found "montecassino-battle/2", expected'),
        ('{"format": ["montecassino-battle/1"]}', "format: found a list, expected"),
        ("[" * 100_000, "the file: JSON of a size that no battle has"),
        ("1" * 5000, "the file: JSON of a size that no battle has"),
    ],
)
def test_a_text_that_is_no_battle_of_this_version_is_one_fault(text, said):
    (fault,) = faults_of(text)
    assert fault.startswith(said)


def test_a_key_that_stands_twice_and_items_of_another_kind_are_named():
    text = format_battle(played("*"))
    assert faults_of(changed(text, '"lines": 3', '"lines": 3, "lines": 3')) == [
        'the file: the key "lines" stands 2 times in one object'
    ]
    data = json.loads(text)
    assert faults_of(json.dumps({**data, "entries": ["*"]})) == [
        'entries[1]: found "*", expected an object with entry and after'
    ]
    assert faults_of(json.dumps({**data, "entries": "*"})) == ['entries: found "*", expected a list']
    assert faults_of(json.dumps({**data, "agreement": None})) == ["agreement: found null, expected an object"]
