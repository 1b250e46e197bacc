"""`rig tournament` as the person at the terminal has it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from game.montecassino import Cannons, Option, Side
from game.montecassino.tournament import Player, System, Tournament, pair
from rig.cli import main
from rig.cli import tournament as commands
from rig.tournament.file import create_tournament
from rig.tournament.matching import least_cost_matching

DOCS = Path(__file__).parents[4] / "docs"

Rig = Callable[..., tuple[int, list[str], list[str]]]


@pytest.fixture
def rig(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Rig:
    """Run a command in an empty folder; give the exit status, and the lines on standard output and error."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, list[str], list[str]]:
        status = main(["tournament", *words])
        captured = capsys.readouterr()
        return status, captured.out.splitlines(), captured.err.splitlines()

    return run


@pytest.fixture
def paired(rig: Rig) -> Rig:
    """Four players in t.json, the first round paired: Anna - Carla, Dora - Bruno."""
    players = [Player("Anna"), Player("Bruno"), Player("Carla"), Player("Dora")]
    tournament = Tournament("t", System.SWISS, 3).with_players(players)
    create_tournament(Path("t.json"), pair(tournament, least_cost_matching))
    return rig


def test_one_round_and_one_player_are_one(rig):
    assert rig("new", "t.json", "--rounds", "1")[1][0] == "t: Swiss system, 1 round"
    assert rig("add", "t.json", "Anna") == (0, ["1 player is in play"], [])
    assert rig("show", "t.json")[1][0] == "t: Swiss system, 1 player"
    assert "; 1 shot a player; " in rig("new", "u.json", "--rounds", "1", "--shots", "1")[1][1]
    assert rig("add", "t.json", "Bruno", "--shots", "1") == (0, ["2 players are in play"], [])
    assert "handicap: Bruno: 1 shot" in rig("show", "t.json")[1]
    assert rig("pair", "t.json")[1][-1].endswith("G 1 shot")


def refused(rig: Rig, *words: str) -> str:
    """Run a command that must fail and change nothing; give its one line."""
    before = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    status, _, errors = rig(*words)
    assert status in {1, 2}
    assert len(errors) == 1, errors
    assert {path: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before
    return errors[0]


def test_the_page_for_the_person_at_the_table_is_true(rig):
    """Every command of docs/tournament.md is run, and prints what the page shows, in its order."""
    text = (DOCS / "tournament.md").read_text(encoding="utf-8")
    (battle,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    Path("anna-carla.json").write_text(battle, encoding="utf-8")
    run = 0
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for shown in re.split(r"^\$ rig tournament ", block, flags=re.MULTILINE)[1:]:
            command, *lines = shown.splitlines()
            _, out, errors = rig(*shlex.split(command))
            printed = [line.rstrip() for line in out + errors if not line.startswith("─")]
            assert printed == lines, f"`{command}` prints something else"
            run += 1
    assert run > 20


def test_the_words_of_options_are_those_of_the_rules():
    for words, meant in (
        (commands.SystemWord, System),
        (commands.CannonsWord, Cannons),
        (commands.OptionWord, Option),
        (commands.SideWord, Side),
    ):
        assert [word.value for word in words] == [each.value for each in meant]


def test_a_round_robin_is_shown_whole_and_a_board_of_several_rounds_needs_its_round(rig):
    rig("new", "t.json", "--system", "round-robin")
    rig("add", "t.json", "Anna", "Bruno", "Carla", "Dora")
    _, out, _ = rig("pair", "t.json")
    assert [line for line in out if line.startswith("Round")] == ["Round 1", "Round 2", "Round 3"]
    assert "in rounds 1, 2, 3; say which: --round" in refused(
        rig, "enter", "t.json", "--board", "1", "--result", "1-0"
    )
    assert rig("enter", "t.json", "--board", "1", "--round", "2", "--result", "1-0")[0] == 0
    assert "all 3 rounds of the round robin are paired already" in refused(rig, "pair", "t.json")


def test_a_rematch_that_cannot_be_avoided_is_said(rig):
    rig("new", "t.json", "--rounds", "2")
    rig("add", "t.json", "Anna", "Bruno")
    rig("pair", "t.json")
    rig("enter", "t.json", "--board", "1", "--result", "1-0")
    _, out, _ = rig("pair", "t.json")
    assert (
        out[-1] == "Bruno and Anna meet again, as in round 1: no pairing of this round does without a rematch"
    )
    rig("page", "t.json")
    assert "again, as in round 1" in Path("t.html").read_text(encoding="utf-8")


def test_one_who_withdraws_with_a_battle_to_come_is_told_so(paired):
    _, out, _ = paired("withdraw", "t.json", "anna")
    assert out[0] == "Anna has withdrawn; 3 players are in play"
    assert out[1].startswith("round 1, board 1 still wants a result")


def test_one_who_left_a_round_robin_by_mistake_is_taken_back_and_fights_after_all(rig):
    rig("new", "t.json", "--system", "round-robin")
    rig("add", "t.json", "Anna", "Bruno")
    rig("pair", "t.json")
    assert rig("withdraw", "t.json", "Anna")[1] == [
        "Anna has withdrawn; 1 battle that was to come is a forfeit"
    ]
    assert rig("add", "t.json", "anna")[1] == ["2 players are in play"]
    status, out, _ = rig("enter", "t.json", "--board", "1", "--result", "1-0", "--correct", "a slip")
    assert (status, out[-1]) == (0, "all results are in")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--board", "2", "--result", "1-0", "--correct", "\udcff"], r"the reason: found '\udcff', expected"),
        (["a\udcff.json"], r"the battle file's name: found 'a\udcff.json', expected"),
    ],
)
def test_a_text_that_cannot_be_printed_is_blamed_itself_and_not_the_tournaments_file(paired, words, said):
    (battle,) = re.findall(
        r"```json\n(.*?)```", (DOCS / "tournament.md").read_text(encoding="utf-8"), re.DOTALL
    )
    Path("a\udcff.json").write_text(battle, encoding="utf-8")
    paired("enter", "t.json", "--board", "2", "--result", "0-1")
    assert said in refused(paired, "enter", "t.json", *words)


def test_of_several_battle_files_none_is_entered_unless_all_can_be(paired):
    text = re.findall(r"```json\n(.*?)```", (DOCS / "tournament.md").read_text(encoding="utf-8"), re.DOTALL)[
        0
    ]
    Path("one.json").write_text(text, encoding="utf-8")
    Path("two.json").write_text(text.replace("Anna", "Dora").replace("Carla", "Bruno"), encoding="utf-8")
    assert "none.json: the file: found nothing" in refused(paired, "enter", "t.json", "one.json", "none.json")
    _, out, _ = paired("enter", "t.json", "one.json", "two.json")
    assert out == [
        "round 1, board 1: Anna (A) - Carla (G)  ½-1",
        "round 1, board 2: Dora (A) - Bruno (G)  ½-1",
        "all results are in",
    ]


def test_a_round_is_shown_alone(paired):
    _, out, _ = paired("show", "t.json", "--round", "1")
    assert out[0] == "Round 1"
    assert "there is no round 2" in refused(paired, "show", "t.json", "--round", "2")


def test_corrections_are_shown_with_what_stood_there(paired):
    paired("enter", "t.json", "--board", "1", "--result", "1-0")
    paired("enter", "t.json", "--board", "1", "--result", "½-1", "--correct", "swapped <b>")
    told = "round 1, board 1, Anna against Carla: 1-0 (by hand) became ½-1 (by hand)"
    _, out, _ = paired("show", "t.json")
    assert re.fullmatch(
        rf"corrected: {re.escape(told)} at \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d: swapped <b>", out[-1]
    )
    paired("page", "t.json")
    page = Path("t.html").read_text(encoding="utf-8")
    assert told in page
    assert "swapped &lt;b&gt;" in page


def test_names_are_printed_as_they_are_and_whole_in_a_narrow_terminal(rig, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    names = ["[red]Anna[/red]", "A" * 60, "Ñandú & <Söhne>"]
    rig("new", "t.json", "--rounds", "1")
    rig("add", "t.json", *names)
    _, out, _ = rig("standings", "t.json")
    assert all(any(name in line for line in out) for name in names)


class Cells(HTMLParser):
    """The text of each table's cells."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.in_cell = False
        self.outside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"td", "th"}:
            self.in_cell = True
            self.tables[-1][-1].append("")
        for name, value in attrs:
            if name in {"src", "href"}:
                self.outside.append(str(value))

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self.in_cell = False

    def handle_data(self, data: str) -> None:
        if self.in_cell:
            self.tables[-1][-1][-1] += data


def test_the_page_has_the_standings_of_the_terminal_the_cross_table_and_the_rounds(paired):
    paired("enter", "t.json", "--board", "1", "--result", "1½-½")
    paired("enter", "t.json", "--board", "2", "--absent", "A")
    _, out, _ = paired("standings", "t.json")
    assert paired("page", "t.json", "--out", "p.html")[1] == ["wrote p.html"]
    read = Cells()
    read.feed(Path("p.html").read_text(encoding="utf-8"))
    standings, cross, first = read.tables
    assert standings == [line.split() for line in out if not line.startswith("─")]
    assert cross[1] == ["1", "Anna", "A3 1½", "1½"]
    assert [row[2] for row in cross[1:]] == ["A3 1½", "G4 1f", "G1 ½", "A2 0f"]
    assert first[1:] == [["1", "Anna", "Carla", "1½-½"], ["2", "Dora", "Bruno", "0-1 forfeit"]]
    assert not read.outside, "one file with everything in it"


def test_a_page_takes_no_other_file_s_place_unless_it_was_named(paired):
    mine = Path("t.html")
    mine.write_text("<html>my own page of the evening</html>")
    said = refused(paired, "page", "t.json")
    assert said == "rig: t.html is there already, and no page of a tournament; name another one with --out"
    assert paired("page", "t.json", "--out", "t.html")[0] == 0
    assert paired("page", "t.json") == (0, ["wrote t.html"], [])


def test_the_page_of_a_double_round_robin_has_both_battles_of_two(rig):
    rig("new", "t.json", "--system", "double-round-robin")
    rig("add", "t.json", "Anna", "Bruno")
    rig("pair", "t.json")
    rig("enter", "t.json", "--board", "1", "--round", "1", "--result", "1-½")
    rig("page", "t.json")
    read = Cells()
    read.feed(Path("t.html").read_text(encoding="utf-8"))
    assert [row[2:4] for row in read.tables[1][1:]] == [["×", "1 ·"], ["½ ·", "×"]]
    assert "again, as in round" not in Path("t.html").read_text(encoding="utf-8"), (
        "everybody meets twice there"
    )


def test_the_cross_table_of_a_swiss_has_a_column_for_each_round_in_their_order(paired):
    paired("enter", "t.json", "--board", "1", "--result", "1½-½")
    paired("enter", "t.json", "--board", "2", "--result", "1-0")
    paired("pair", "t.json")
    paired("page", "t.json")
    read = Cells()
    read.feed(Path("t.html").read_text(encoding="utf-8"))
    _, cross, first, second = read.tables
    places = {row[1]: row[0] for row in cross[1:]}
    for row in cross[1:]:
        for cell, pairings in zip(row[2:4], (first, second), strict=True):
            (met,) = (pairing for pairing in pairings[1:] if row[1] in pairing)
            side = "A" if met[1] == row[1] else "G"
            assert cell.startswith(f"{side}{places[met[2 if side == 'A' else 1]]} ")


# Bad input


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["new", "t.json", "--rounds", "3"], "never overwritten"),
        (["new", "u.json"], "--rounds: a Swiss tournament needs the number of its rounds"),
        (["new", "u.json", "--system", "round-robin", "--rounds", "3"], "--rounds: a round robin has as many"),
        (["new", "u.json", "--rounds", "0"], "--rounds"),
        (["new", "u.json", "--system", "knockout"], "--system"),
        (["new", "u.json", "--rounds", "3", "--zone", "Z9"], "--zone: 'Z9' is neither a square nor a run"),
        (["new", "u.json", "--rounds", "3", "--cannons", "none", "--shots", "5"], "without a cannon there are none"),
        (["new", "nowhere/u.json", "--rounds", "3"], "nowhere/u.json"),
        (["new", "u.json", "--rounds", "3", "--name", "x" * 300], "name: found"),
        (["add", "t.json", "Anna"], "'Anna' takes part already"),
        (["add", "t.json", "Emil", "emil"], "'Emil' takes part already"),
        (["add", "t.json", ""], "expected a player's name"),
        (["add", "t.json", "Emil", "--zone", "G25.1"], "expected squares of one board"),
        (["add", "t.json", "Emil", "--zone", ""], "--zone: '' is neither a square nor a run"),
        (["add", "t.json", "Emil", "--shots", "-1"], "--shots"),
        (["withdraw", "t.json", "Ana"], "nobody is called 'Ana'; did you mean 'Anna'?"),
        (["pair", "t.json"], "round 1, board 1, Anna against Carla; round 1, board 2, Dora against Bruno"),
        (["enter", "t.json"], "expected a battle file, or --board"),
        (["enter", "t.json", "--board", "1"], "--result, --absent"),
        (["enter", "t.json", "--board", "1", "--result", "1-0", "--absent", "A"], "--result, --absent"),
        (["enter", "t.json", "--board", "1", "--result", "2-0"], "(V6)"),
        (["enter", "t.json", "--board", "3", "--result", "1-0"], "round 1 has no board 3"),
        (["enter", "t.json", "--board", "1", "--round", "9", "--result", "1-0"], "there is no round 9"),
        (["enter", "t.json", "--board", "1", "--result", "1-0", "--correct", "why"], "no result yet"),
        (["enter", "t.json", "b.json", "--board", "1"], "say the board and the result themselves"),
        (["enter", "t.json", "b.json"], "b.json: the file: found nothing"),
        (["enter", "t.json", "t.json"], 't.json: format: found "montecassino-tournament/1"'),
        (["standings", "."], "found a folder"),
        (["standings", "none.json"], "rig tournament new begins one"),
        (["page", "."], "found a folder"),
        (["page", "/"], "found a folder"),
        (["page", "t.json", "--out", "t.json"], "found 't.json', expected a name that ends in .html"),
        (["page", "t.json", "--out", "nowhere/p.html"], "nowhere/p.html"),
        (["page", "t.json", "--out", "."], "found '.', expected a name that ends in .html"),
        (["page", "t.json", "--out", "/dev/full"], "expected a name that ends in .html"),
        (["new", "u.json", "--rounds", "3", "--name", "a\x1b[31m"], "expected a title that one line can hold"),
        (["new", "u.json", "--rounds", "3", "--name", "\u3164"], "expected a title that one line can hold"),
        (["enter", "t.json", "--board", "1", "--result", "9" * 5000], "found '99999999999999999999...', expected a score"),
        (["show", "t.json", "--round", "4"], "there is no round 4"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_bad_input_is_one_line_and_changes_nothing(paired, words, line):
    assert line in refused(paired, *words)


def test_every_fault_of_a_file_is_a_line(paired):
    data = json.loads(Path("t.json").read_text(encoding="utf-8"))
    data["system"], data["rounds_planned"], data["players"][2]["name"] = "cup", "3", ""
    Path("t.json").write_text(json.dumps(data), encoding="utf-8")
    status, _, errors = paired("standings", "t.json")
    assert status == 2
    assert len(errors) == 3
    assert all(error.startswith("rig: t.json: ") for error in errors)
