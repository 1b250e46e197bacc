"""`rig game play` and `rig game replay`, with lines out of a pipe and at a terminal."""

from __future__ import annotations

import io
import os
import pty
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from rich.console import Console

from game.montecassino import Agreement, Battle, Side, format_battle
from rig.battle.file import read_battle
from rig.cli import main
from rig.cli.game.playing import Playing
from rig.files.whole_file import write_whole

RIG = [sys.executable, "-c", "import sys; from rig.cli import main; sys.exit(main())", "game"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Rig:
    """Plays at a terminal that is a pipe."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys, self._monkeypatch = capsys, monkeypatch

    def __call__(self, command: str, *typed: str) -> tuple[int, list[str], str]:
        """Give the exit status, the lines on standard output, and standard error."""
        text = "".join(f"{line}\n" for line in typed).encode(errors="surrogateescape")
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        status = main(["game", *shlex.split(command)])
        captured = self._capsys.readouterr()
        return status, captured.out.splitlines(), captured.err


@pytest.fixture
def rig(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Rig:
    return Rig(capsys, monkeypatch)


def entries(path: str = "b.json") -> list[str]:
    return [str(played.entry) for played in read_battle(Path(path)).history]


@pytest.mark.parametrize("typed", ["abandon now", "retreat A-17", "undo 2", "quit spring.json", "fire G-50"])
def test_a_word_with_more_behind_it_does_nothing_and_says_so(rig, typed):
    status, out, _ = rig("play --first A --battle b.json", "A-17>A-25", typed, "G-17>G-25")
    word, more = typed.split()
    told = f"{word}: found '{more}' behind it, expected nothing more; nothing is done"
    (line,) = (line for line in out if line.startswith(told))
    # Who fell is asked for after the word alone; in a line with the shot it has a sign of its own.
    assert line.endswith("as *A-62,G-50") is (word == "fire")
    assert status == 0
    assert entries() == ["A-17>A-25", "G-17>G-25"]


def test_a_mistyped_name_begins_no_battle_unless_it_is_said_that_one_begins(rig):
    rig("play --first A --battle friday.json", "A-17>A-25")
    status, out, err = rig("play --battle frday.json", "G-17>G-25")
    assert (status, out) == (1, [])
    assert err == (
        "rig: there is no frday.json yet, and friday.json holds a battle: name that to go on with it; "
        "to begin a new one, say what is agreed as well, as --first lot\n"
    )
    assert not Path("frday.json").exists()
    assert rig("play --battle frday.json --first lot", "quit")[0] == 0
    assert entries("frday.json") == []


def test_that_a_battle_is_new_is_told_and_only_then(rig):
    _, out, _ = rig("play --battle friday.json", "quit")
    assert out[0] == "A new battle, kept in friday.json"
    _, out, _ = rig("play --battle friday.json", "quit")
    assert not any("new battle" in line for line in out)
    _, out, _ = rig("play", "quit")
    assert out[0] == "A new battle, not kept: that takes --battle FILE"


def test_two_people_play_to_the_end_and_the_file_has_it_all(rig):
    status, out, _ = rig(
        "play --first A --lines 1 --battle b.json --allies Anna,Bo --germans Gerd --shots 5/3 --option iii",
        *("A-01>A-09", "retreat", "*", "g-02>g-10", "#", ""),
    )
    assert status == 0
    assert "The battle is over, won by the Germans: the enemy has abandoned the battle" in out
    assert "Points: Allies ½, Germans 1" in out
    assert "2 Germans (Gerd): retreat" in out
    battle = read_battle(Path("b.json"))
    assert entries() == ["A-01>A-09", "R", "*", "G-02>G-10", "#"]
    assert battle.agreement.shots == {Side.A: 5, Side.G: 3}
    assert battle.agreement.players[Side.A].cannon == "Bo"
    assert battle.began is not None


def test_what_is_refused_says_why_and_changes_nothing(rig):
    _, out, _ = rig(
        "play --first A --battle b.json",
        *("forward", "A-01>A-09", "A-40", "*A-99", "undo", "A-17>A-41", "a-17 > a-33", ""),
    )
    said = "\n".join(out)
    assert "'FORWARD' is no turn" in said
    assert "not legal by M8: an own soldier stands on A-09" in said
    assert "'A-40' may be A-23>A-31>A-39>A-40 or A-24>A-32>A-40: which?" in said
    assert "'*A-99' is no shot" in said
    assert "nothing has been done yet that could be taken back" in said
    assert "read as A-17>A-25>A-33>A-41" in said
    assert "there is no soldier of side G on A-17" in said
    assert entries() == ["A-17>A-25>A-33>A-41"]


def test_every_turn_is_kept_as_it_is_made_and_gone_on_with(rig):
    rig("play --first G --battle b.json", "G-17>G-25")
    assert entries() == ["G-17>G-25"]
    status, out, _ = rig("play --battle b.json", "A-17>A-25", "undo", "A-18>A-26", "quit")
    assert status == 0
    assert entries() == ["G-17>G-25", "A-18>A-26"]
    assert out[-1] == "The battle is kept. To go on: rig game play --battle b.json"


def play_where_the_folder_goes(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, *, goes_after: int, comes_back: bool
) -> tuple[int, list[str], str]:
    """Play two turns in a folder that is moved away after so many writings, and perhaps back for the last one."""
    written = 0

    def write(path: Path, text: str) -> None:
        nonlocal written
        written += 1
        if written > goes_after and not (comes_back and written == 4):
            raise OSError(2, "No such file or directory", str(path))
        write_whole(path, text)

    monkeypatch.setattr("rig.battle.file.write_whole", write)
    return rig("play --first G --battle b.json", "G-17>G-25", "A-17>A-25", "quit")


@pytest.mark.parametrize("goes_after", [1, 2])
def test_a_battle_whose_last_turns_could_not_be_kept_says_so_at_the_end(rig, monkeypatch, goes_after):
    status, out, _ = play_where_the_folder_goes(rig, monkeypatch, goes_after=goes_after, comes_back=False)
    assert status == 1
    assert (
        out[-1]
        == f"The battle is not kept since entry {goes_after}: b.json: the file: found No such file or directory, "
        "expected one that can be written"
    )
    assert len(entries()) == goes_after - 1


def test_what_could_not_be_kept_is_tried_once_more_on_leaving(rig, monkeypatch):
    status, out, _ = play_where_the_folder_goes(rig, monkeypatch, goes_after=1, comes_back=True)
    assert status == 0
    assert out[-1] == "The battle is kept. To go on: rig game play --battle b.json"
    assert entries() == ["G-17>G-25", "A-17>A-25"]


def test_an_end_that_could_not_be_kept_is_told_too(rig, monkeypatch):
    def write(path: Path, text: str) -> None:
        if '"#"' in text:
            raise OSError(28, "No space left on device", str(path))
        write_whole(path, text)

    monkeypatch.setattr("rig.battle.file.write_whole", write)
    status, out, _ = rig("play --first G --battle b.json", "#", "")
    assert status == 1
    assert out[-1].startswith(
        "The battle is not kept since entry 1: b.json: the file: found No space left on device"
    )


@pytest.fixture
def edited(monkeypatch: pytest.MonkeyPatch) -> str:
    """Somebody's editor, which stores the battle as it was at the beginning as soon as one turn is kept; its text."""
    text = format_battle(Battle.begin(Agreement(Side.G))).replace('"lines": 3', '"lines":3')

    def write(path: Path, content: str) -> None:
        write_whole(path, content)
        if "G-17>G-25" in content:
            path.write_text(text)
            monkeypatch.setattr("rig.battle.file.write_whole", write_whole)

    monkeypatch.setattr("rig.battle.file.write_whole", write)
    return text


@pytest.mark.parametrize(
    "typed", [["G-17>G-25", "A-17>A-25", "quit"], ["G-17>G-25", "quit"], ["G-17>G-25", "adjourn"]]
)
def test_a_file_that_somebody_edits_meanwhile_is_left_so_and_what_is_played_is_kept_beside(
    rig, edited, typed
):
    Path("b-2.json").write_text("mine")
    status, out, _ = rig("play --first G --battle b.json", *typed)
    assert status == 0
    (told,) = [line for line in out if line.startswith("b.json: ")]
    assert told.endswith("it is left so, and what is played here is kept in b-3.json from now on")
    assert out[-1].endswith("To go on: rig game play --battle b-3.json")
    assert Path("b.json").read_text() == edited
    assert Path("b-2.json").read_text() == "mine"
    assert entries("b-3.json") == [word if word[1] == "-" else "||" for word in typed if word != "quit"]


def test_a_battle_adjourned_elsewhere_leaves_an_edited_file_as_it_is(rig, edited):
    status, out, _ = rig("play --first G --battle b.json", "G-17>G-25", "adjourn c.json")
    assert status == 0
    assert out[-1] == "Adjourned. To go on: rig game play --battle c.json"
    assert Path("b.json").read_text() == edited
    assert entries("c.json") == ["G-17>G-25", "||"]
    assert not Path("b-2.json").exists()


def test_a_battle_whose_file_is_gone_is_kept_anew(rig, monkeypatch):
    rig("play --first G --battle b.json", "quit")
    monkeypatch.setattr("rig.cli.game.play._ask", lambda *_: Path("b.json").unlink())
    status, out, _ = rig("play --battle b.json")
    assert status == 0
    assert out[-1] == "The battle is kept. To go on: rig game play --battle b.json"
    assert entries() == []


def test_v4_adjourning_with_a_blank_is_adjourning(rig):
    status, out, _ = rig("play --first A --battle b.json", "A-17>A-25", "| |", "G-17>G-25")
    assert status == 0
    assert out[-2:] == ["read as ||", "Adjourned. To go on: rig game play --battle b.json"]
    assert entries() == ["A-17>A-25", "||"]


def test_a_battle_that_nobody_wants_kept_says_so(rig):
    assert rig("play --first G", "G-17>G-25")[1][-1] == "The battle is not kept"
    assert not list(Path().iterdir())


def test_what_was_agreed_is_not_agreed_again(rig):
    rig("play --battle b.json")
    status, _, said = rig("play --battle b.json --zone-a G25")
    assert status == 1
    assert said == (
        "rig: b.json holds a battle that is agreed already; leave out --zone-a, or name another file\n"
    )


def test_the_command_that_goes_on_can_be_typed_as_it_stands(rig):
    _, out, _ = rig("play --first A --battle 'spring, table 1.json'", "adjourn")
    assert out[-1] == "Adjourned. To go on: rig game play --battle 'spring, table 1.json'"
    assert rig(out[-1].partition("rig game ")[2], "quit")[0] == 0


def test_v4_a_battle_is_adjourned_to_a_file_and_resumed_from_it(rig):
    _, out, _ = rig("play --first A", "A-17>A-25", "||", "adjourn b.json")
    assert "adjourn needs the name of a file to keep the battle in" in out
    assert out[-1] == "Adjourned. To go on: rig game play --battle b.json"
    assert read_battle(Path("b.json")).adjourned
    rig("play --battle b.json", "G-17>G-25", "adjourn")
    assert entries() == ["A-17>A-25", "||", "G-17>G-25", "||"]
    _, out, _ = rig("play --first A --battle c.json", "adjourn b.json", "adjourn d.json")
    assert "b.json is there already; name another file" in out
    assert entries("c.json") == entries("d.json") == ["||"]


def test_a_slip_in_the_name_of_a_file_does_not_end_the_sitting(rig):
    names = ("a" * 300, "no\0name")
    status, out, _ = rig(
        "play --first A", "A-17>A-25", *(f"adjourn {name}" for name in names), "adjourn b.json"
    )
    assert status == 0
    assert any(line.endswith("File name too long; name another file") for line in out)
    assert r"found 'no\x00name', expected the name of a file" in out
    assert entries() == ["A-17>A-25", "||"]


def test_firing_asks_who_fell_and_refuses_what_is_outside_the_zone(rig):
    _, out, _ = rig(
        "play --first A --battle b.json --allies Anna,Bo --zone-a G17-G72", "fire", "A-01", "g17, G-18"
    )
    said = "\n".join(out)
    assert "Bo fires when Anna orders it." in said
    assert "not legal by C5: A-01 is outside the zone G17-G72" in said
    assert entries() == ["*G-17,G-18"]


def test_firing_may_be_thought_better_of_or_miss(rig):
    rig("play --first A --battle b.json", "fire", "no", "fire", "")
    assert entries() == ["*"]
    _, out, _ = rig("play --first A --cannons none", "fire")
    assert "not legal by S4: no cannon is agreed" in out


def test_moves_tells_where_soldiers_can_go(rig):
    _, out, _ = rig(
        "play --first A --lines 1 --battle b.json", "moves", "moves a-08", "moves G-01", "moves 7"
    )
    assert "A-01: A-09" in out
    assert "A-08>A-16" in out
    assert "no soldier of side A stands on G-01" in out
    assert any(line.startswith("'7' is not a square") for line in out)


def test_help_is_not_broken_in_the_middle_of_a_word_by_a_terminal_of_eighty_columns(rig):
    _, out, _ = rig("play --first A", "help")
    began = next(index for index, line in enumerate(out) if line.startswith("A turn is entered"))
    assert all(len(line) < 80 for line in out[began : began + 20])


def test_help_names_every_word_that_is_understood(rig):
    _, out, _ = rig("play --first A", "help")
    for word in ("fire", "retreat", "abandon", "adjourn", "undo", "moves", "board", "quit"):
        assert any(line.split()[:1] == [word] for line in out), word


def test_a_slip_that_ended_the_battle_can_be_taken_back(rig):
    rig("play --first A --battle b.json", "#", "undo", "A-17>A-25")
    assert entries() == ["A-17>A-25"]
    rig("play --battle b.json", "#")
    rig("play --battle b.json", "undo", "quit")
    assert entries() == ["A-17>A-25"]


def test_the_computer_answers_and_undo_takes_its_answer_back_too(rig):
    _, out, _ = rig(
        "play --against computer --side G --first A --lines 1 --seed 1 --battle b.json",
        "G-01>G-09",
        "undo",
        "R",
    )
    assert out[-1].endswith("rig game play --battle b.json --against computer --side G")
    played = entries()
    assert len(played) == 3
    assert played[1] == "R"
    battle = read_battle(Path("b.json"))
    assert battle.agreement.players[Side.A].infantry == "computer"
    assert battle.position.turn is Side.G


def test_s2_the_lot_repeats_with_its_seed(rig):
    firsts = {rig(f"play --seed {seed}")[1][-2] for seed in range(8)}
    assert firsts == {"Allies to move", "Germans to move"}
    assert rig("play --seed 3")[1] == rig("play --seed 3")[1]


def test_v4_positions_that_were_noted_down_are_played_on(capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"*G-30\n")))
    status = main(["game", "play", "--battle", "b.json", "--position", "A A30.1 G30.1,G30.2 0/0 30/2 A"])
    assert status == 0
    assert "not legal by C5: nobody stood on G-30" in capsys.readouterr().out
    assert read_battle(Path("b.json")).agreement.boards == 2


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (["--first", "A"], "--first: found A, expected G, whose turn it is in the position"),
        (["--first", "X"], "--first: found 'X'"),
        (["--lines", "1"], "--lines: found 1, expected as many as the 24 soldiers of A in the position need"),
    ],
)
def test_what_the_position_says_otherwise_is_refused(capsys, option, said):
    status = main(
        ["game", "play", "--position", "G A01-A20 G01-G08 0/4 5/5 -", "--battle", "b.json", *option]
    )
    assert status == 2
    assert said in capsys.readouterr().err
    assert not Path("b.json").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--first X", "--first: found 'X', expected A, G or lot"),
        ("--option iv", "--option: found 'iv', expected i, ii or iii"),
        ("--shots 5/-1", "--shots: found '5/-1', expected a number, or two as 20/10"),
        ("--shots 1000000000", "for the Allies and the Germans, of nine digits at most"),
        ("--cannons two", "--cannons: found 'two', expected none, shared or each"),
        ("--cannons none --shots 5", "shots of A are 5, and without a cannon there are none"),
        ("--cannons none --zone-a G25-G48", "found G25-G48, and without a cannon there is none"),
        ("--lines 7", "lines is 7, expected 1 to 3"),
        ("--zone-g A25-A99", "--zone-g: A-99 is not on the board"),
        ("--allies A,B,C", "--allies: found 'A,B,C', expected a name, or two parted by a comma"),
        ("--germans ,B", "--germans: found ',B', expected a name, or two parted by a comma"),
        ("--against me", "--against: found 'me', expected person or computer"),
        ("--side G", "--side: two people share the terminal"),
        ("--against computer --side Q", "--side: found 'Q', expected A or G"),
        ("--position x", "not a valid position"),
        ("--battle .", ".: the file: found a folder"),
        ("--battle nowhere/b.json", "nowhere/b.json: the file: found No such file or directory"),
        (
            "--battle faulty.json",
            "faulty.json: line 1, column 1: no JSON (Expecting value), expected a battle file",
        ),
    ],
)
def test_what_cannot_be_agreed_is_one_line(rig, options, said):
    Path("faulty.json").write_text("battle")
    status, _, told = rig(f"play {options}")
    assert status == 2
    assert said in told
    assert told.count("\n") == 1


def test_a_file_with_many_faults_has_a_line_for_each(rig):
    rig("play --first A --battle b.json", "*", "*")
    text = Path("b.json").read_text()
    Path("b.json").write_text(text.replace('"lines": 3', '"lines": 4').replace('"*"', '"?"'))
    status, _, told = rig("replay b.json")
    assert status == 2
    assert [line.split(": ")[2] for line in told.splitlines()] == [
        "agreement",
        "entries[1].entry",
        "entries[2].entry",
    ]


def test_one_shot_and_one_entry_are_one(rig):
    _, out, _ = rig("play --first A --shots 1 --lines 1 --battle b.json", "*")
    assert "  Allies (A): 1 shot at G25-G72" in out
    assert rig("replay b.json --after 2")[2].endswith("found 2, and the battle has 1 entry\n")


def test_replay_tells_every_entry_and_shows_the_board_that_is_asked_for(rig):
    rig("play --first A --battle b.json", "A-17>A-25", "*", "R", "#")
    _, out, _ = rig("replay b.json")
    assert [line.split() for line in out if line.startswith("   ")][:4] == [
        ["1", "A", "A-17>A-25"],
        ["2", "G", "*"],
        ["3", "A", "R"],
        ["4", "G", "#"],
    ]
    assert out[-1] == "Points: Allies 1, Germans ½"
    _, out, _ = rig("replay b.json --after 0")
    assert out[-1] == "Allies to move"
    _, out, _ = rig("replay b.json --step", "", "")
    assert sum(line.endswith("to move") for line in out) == 3
    assert rig("replay b.json --after 5")[2] == ("rig: --after: found 5, and the battle has 4 entries\n")


def test_input_that_is_no_text_is_an_entry_that_cannot_be_read(rig):
    status, _, _ = rig("play --first A --battle b.json", "\udcff\udcfe", "\x00", "*")
    assert status == 0
    assert entries() == ["*"]


def test_a_reader_that_goes_away_is_no_trouble():
    playing = subprocess.Popen(
        [*RIG, "play", "--first", "A", "--battle", "b.json"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert playing.stdin is not None
    assert playing.stdout is not None
    playing.stdout.readline()
    playing.stdout.close()
    errors = playing.communicate("*\n" * 200)[1]
    assert "Traceback" not in errors
    assert set(entries()) <= {"*"}


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        (b"\x04", 0),  # end of input
        (signal.SIGINT, 130),
        (signal.SIGTERM, 130),
        (signal.SIGKILL, -signal.SIGKILL),
    ],
)
def test_however_it_ends_at_a_terminal_every_turn_is_kept(ending, status):
    terminal, inner = pty.openpty()
    playing = subprocess.Popen(
        [*RIG, "play", "--first", "A", "--battle", "b.json"], stdin=inner, stdout=inner, stderr=inner
    )
    os.close(inner)
    shown = b""

    def until(words: bytes) -> None:
        nonlocal shown
        while words not in shown:
            shown += os.read(terminal, 65536)
        shown = shown.partition(words)[2]

    until(b"1 Allies: ")
    os.write(terminal, b"A-17>A-33\n")
    until(b"2 Germans: ")
    while True:
        if isinstance(ending, bytes):
            os.write(terminal, ending)
        else:
            playing.send_signal(ending)
        try:
            assert playing.wait(timeout=5) == status
            break
        except subprocess.TimeoutExpired:
            continue  # a signal between the question and the waiting for its answer is seen with the next one
    os.close(terminal)
    assert entries() == ["A-17>A-25>A-33"]


def test_a_turn_that_cannot_be_kept_says_so_and_the_next_one_tries_again(tmp_path):
    kept = tmp_path / "kept"
    shown = io.StringIO()
    typed = iter(["*", "*", None])

    def ask(_: str) -> str | None:
        if kept.exists():
            kept.rename(tmp_path / "gone")
        else:
            (tmp_path / "gone").rename(kept)
        return next(typed)

    kept.mkdir()
    playing = Playing(
        Battle.begin(Agreement(Side.A)),
        file=kept / "b.json",
        computer=None,
        rng=Random(0),
        console=Console(file=shown, width=200),
        ask=ask,
    )
    playing.run()
    assert shown.getvalue().count("this turn is not kept: ") == 1
    assert len(read_battle(tmp_path / "gone" / "b.json").history) == 2
