"""`rig shoot --battle`: the battle says who stands where and what counts, and has the shot afterwards."""

import os
from pathlib import Path

import pytest
from small_twin import SMALL_TWIN

from game.montecassino import Agreement, Battle, Cannons, Commanders, Option, Position, Side
from game.montecassino.entries import Abandon
from rig.battle.file import read_battle, write_battle
from rig.cli import main
from rig.log import open_log
from rig.match import Match
from rig.settings import Log

START = Position.parse("A A01-A08,A17 G01-G08,G53,G61 0/0 20/20 -")
# Square brackets mean nothing in a name.
FILE = Path("friday [old].json")
RECORDINGS = "rec [old]"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = SMALL_TWIN.format(seed=1) + f'\n[log]\nrecordings = "{RECORDINGS}"\n'
    Path("rig.toml").write_text(settings, encoding="utf-8")


def test_a_shot_is_fired_and_entered_and_goes_in_once(capsys):
    write_battle(FILE, Battle.begin(Agreement(Side.A, Option.I), START))
    assert main(["shoot", "G-53", "--battle", str(FILE)]) == 0
    battle = read_battle(FILE)
    with open_log(Path(Log().path), create=False) as log:
        (shot,) = log.shots()
    assert shot.planned.position == str(START)
    assert (shot.planned.zone, shot.planned.option) == ("G25-G72", "i"), (
        "as agreed, whatever the settings say"
    )
    assert shot.verdict is not None
    assert str(battle.position) == shot.verdict.after
    out = capsys.readouterr().out
    assert f"entered in {FILE}: {battle.history[0].entry}" in out
    assert f"recorded in {shot.recording_path}\n" in out
    assert Path(shot.recording_path).parent == Path(RECORDINGS)
    assert main(["game", "enter", str(FILE), "1"]) == 1
    assert (
        f"shot 1 is in the battle already, as its entry 1: {battle.history[0].entry}"
        in capsys.readouterr().err
    )
    # As if the power had gone before the battle was written: the next shot waits, and the log has the one before.
    write_battle(FILE, Battle.begin(Agreement(Side.A, Option.I), START))
    assert main(["shoot", "G-53", "--battle", str(FILE)]) == 1
    assert f"enter it first, with rig game enter '{FILE}' 1" in capsys.readouterr().err
    assert main(["game", "enter", str(FILE)]) == 0
    assert read_battle(FILE) == battle


@pytest.mark.parametrize(
    ("answer", "status"), [("y\n", 0), ("n\n", 1), ("\n", 1), ("", 1)], ids=["yes", "no", "Enter", "the end"]
)
def test_a_shot_of_another_battle_does_not_hold_up_one_that_stands_alike(capsys, monkeypatch, answer, status):
    """Two battles of an evening begin alike; a shot to try the cannon was fired from there too."""
    battle = Battle.begin(Agreement(Side.A, Option.I), START)
    write_battle(FILE, battle)
    assert main(["shoot", "G-53", "--battle", str(FILE)]) == 0
    second = Path("second.json")
    write_battle(second, battle)
    terminal, inner = os.openpty()
    with os.fdopen(inner, encoding="utf-8") as keyboard, os.fdopen(terminal, "wb", buffering=0) as keys:
        monkeypatch.setattr("sys.stdin", keyboard)
        keys.write(answer.encode() or b"\x04")
        capsys.readouterr()
        assert main(["shoot", "G-53", "--battle", str(second)]) == status
    out, err = capsys.readouterr()
    assert "shot 1 at G-53 was fired, or may have been, from where the battle stands" in out + err
    assert "another battle, or in none?" in out + err
    assert bool(read_battle(second).history) == (status == 0)
    if status:
        assert err.endswith("enter it first, with rig game enter second.json 1\n")


@pytest.mark.parametrize(
    ("battle", "said"),
    [
        (Battle.begin(Agreement(Side.A, cannons=Cannons.NONE)), f"no cannon is agreed in {FILE}"),
        (Battle.begin(Agreement(Side.A), START).play(Abandon()), "the battle is over (G)"),
        (Battle.begin(Agreement(Side.A, shots={Side.A: 0})), "side A has no shot left"),
        (Battle.begin(Agreement(Side.A, boards=2)), "the table has one board"),
    ],
)
def test_nothing_is_fired_that_the_battle_forbids(capsys, battle, said):
    write_battle(FILE, battle)
    assert main(["shoot", "G-53", "--battle", str(FILE)]) != 0
    assert said in capsys.readouterr().err
    assert read_battle(FILE) == battle
    assert not Path(Log().path).exists()


def test_a_battle_that_is_edited_while_a_shot_is_fired_is_left_so_and_takes_the_shot_afterwards(
    capsys, monkeypatch
):
    edited = Battle.begin(Agreement(Side.A, Option.I, players={Side.A: Commanders("Anna")}), START)

    fire = Match.shoot

    def fire_while_it_is_edited(*given):
        write_battle(FILE, edited)
        return fire(*given)

    write_battle(FILE, Battle.begin(Agreement(Side.A, Option.I), START))
    monkeypatch.setattr(Match, "shoot", fire_while_it_is_edited)
    assert main(["shoot", "G-53", "--battle", str(FILE)]) == 1
    said = capsys.readouterr().err
    assert "found what somebody else wrote into it since" in said
    assert f"enters with: rig game enter '{FILE}' 1" in said
    assert read_battle(FILE) == edited
    assert main(["game", "enter", str(FILE), "1"]) == 0
    assert read_battle(FILE).history
    assert read_battle(FILE).agreement == edited.agreement


@pytest.mark.parametrize("beside", [("--side", "G"), ("--option", "iii"), ("--position", "camera")])
def test_what_the_battle_has_is_not_said_twice(capsys, beside):
    write_battle(FILE, Battle.begin(Agreement(Side.A), START))
    assert main(["shoot", "G-53", "--battle", str(FILE), *beside]) == 2
    assert f"{beside[0]}: the battle has it" in capsys.readouterr().err
