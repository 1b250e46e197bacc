"""Shots for a calibration, fired by the real firmware on the twin: from `rig calibrate fire` to the fitted cannon."""

import io
import math
import re
import sys
from contextlib import contextmanager

import pytest
from small_twin import SMALL_TWIN
from test_match import assert_cannon_is_safe

from calibration.fit import Calibration, MeasuredShot, Mount, fit
from game.montecassino import Option, Position, Square
from rig.calibrating.calibration_file import read_calibration, write_calibration
from rig.cannon import Cannon, CannonError
from rig.cli import main
from rig.cli.arguments.orders import zone_of
from rig.cli.opening.rig import open_rig
from rig.hands import PromptedHands
from rig.link.errors import PortGone
from rig.link.link import Link
from rig.link.messages import Fire
from rig.match import Order
from rig.range_firing import RangeGun
from rig.sequence import Event
from rig.settings import read_settings


def settings_in(folder, more=""):
    (folder / "rig.toml").write_text(SMALL_TWIN.format(seed=5) + more)
    return read_settings(folder / "rig.toml")


def silent(words):
    """Nobody reads what goes on."""


@contextmanager
def range_gun(settings, *, progress=silent, on_change=silent):
    """Open the rig over an empty board, with a gun for a calibration."""
    hands = PromptedHands(print, print)
    empty = Position.parse("A - - 0/0 0/0 -")
    with open_rig(settings, empty, hands, progress=progress, on_change=on_change) as rig:
        side = settings.cannon.sides[0]
        yield (
            rig,
            RangeGun(settings, cannon=rig.cannon, eye=rig.eye, hands=rig.hands, side=side, progress=progress),
        )


def test_the_cannon_fires_at_the_elevation_it_is_told_and_is_safe_after_it(tmp_path):
    settings = settings_in(tmp_path)
    changes = []
    with range_gun(settings, on_change=changes.append) as (rig, gun):
        shots = []
        for degrees in (41.6, 10.0):
            seen = len(changes)
            fired_before = len(rig.twin.shots)
            told = []
            shots.append(gun.fire(math.radians(degrees), lambda told=told: told.append(len(rig.twin.shots))))
            assert told == [fired_before], "it is told once, and before the shot leaves"
            for change in changes[seen:]:
                gun.note(change)
            rig.hands.set_up((), ())
        assert [math.degrees(shot.aim.elevation_rad) for shot in rig.twin.shots] == pytest.approx(
            [41.6, 10.0], abs=0.1
        )
        for measured, true in zip(shots, rig.twin.shots, strict=True):
            assert measured.muzzle_speed_mps == pytest.approx(true.speed_mps, rel=0.003)
        assert not rig.twin.plant.lever.held
        assert rig.log.shots() == (), "they are no shots of a battle"


def test_what_of_the_board_the_camera_does_not_see_is_told_and_the_shot_is_fired(tmp_path):
    """It is taped, so that nothing of it need be seen; but nobody watches there."""
    settings = settings_in(tmp_path, "camera.pose.aim_mm = [180.0, 100.0]\n")
    told = []
    with range_gun(settings, progress=told.append) as (rig, gun):
        gun.fire(0.5, lambda: None)
        assert len(rig.twin.shots) == 1
    (line,) = (words for words in told if words.startswith("outside the picture"))
    assert re.fullmatch(
        "outside the picture, so that no hand is seen there: G01-G[^;]*; look yourself before the shot", line
    )


def test_a_lane_that_is_not_clear_lets_the_lever_down(tmp_path):
    settings = settings_in(tmp_path, "\n[twin.plant.lane_clear]\nwire_cut_at_s = 3.0\n")
    with range_gun(settings) as (rig, gun):
        with pytest.raises(CannonError, match="lane is not clear"):
            gun.fire(0.5, lambda: pytest.fail("a shot that is not fired is not written down"))
        assert rig.twin.shots == []
        assert_cannon_is_safe(rig)


def test_fired_taped_and_fitted_as_the_page_says(tmp_path, monkeypatch, capsys):
    settings_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO("666\nmuch\n671\n\n668\n"))
    assert main(["calibrate", "fire", "--elevation", "41.6", "--shots", "4"]) == 0
    assert "shots.csv: 4 shots" in capsys.readouterr().out
    rows = (tmp_path / "shots.csv").read_text().splitlines()
    assert rows[0] == "elevation_deg,range_cm,gate_mps,dwell_s"
    assert [row.split(",")[1] for row in rows[1:]] == ["666", "671", "", "668"]
    assert main(["calibrate", "range", "--csv", "shots.csv"]) == 0
    assert "Muzzle speed: 9." in capsys.readouterr().out


def test_a_range_that_is_far_off_is_taken_when_it_is_typed_again(tmp_path, monkeypatch, capsys):
    settings_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        sys, "stdin", io.StringIO("6.66\n6660\n666\n120\n120\n20000\n6_6_6\n1,234.5\n1,234\n0,6\n666,5\n")
    )
    assert main(["calibrate", "fire", "--elevation", "41.6", "--shots", "3"]) == 0
    out = capsys.readouterr().out
    for found in ("6.66", "6660", "120"):
        assert out.count(f"found {found} cm, expected about 6") == 1
    for found in ("20000", "6_6_6"):
        assert f"found '{found}', expected a number of cm above 0 and below 10000\n" in out
    for found in ("1,234.5", "1,234"):
        hint = "behind a comma stand one or two decimals, no thousands"
        assert f"found '{found}', expected a number of cm above 0 and below 10000; {hint}\n" in out
    assert "found 0.6 cm, expected about" in out
    rows = (tmp_path / "shots.csv").read_text().splitlines()
    assert [row.split(",")[1] for row in rows[1:]] == ["666", "120", "666.5"]


def test_a_shot_is_in_the_file_though_nobody_says_its_range(tmp_path, monkeypatch, capsys):
    settings_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO("666\n"))
    assert main(["calibrate", "fire", "--elevation", "41.6", "--shots", "3"]) == 130
    header, first, second = (tmp_path / "shots.csv").read_text().splitlines()
    assert first.startswith("41.6,666,9.")
    assert second.startswith("41.6,?,9.")
    expected = "expected its range, nothing where it was not measured, or no such line where it was not fired"
    still_open = f"line 3, range_cm: found ? for shot 2, at 41.6 degrees, {expected}"
    assert capsys.readouterr().err == f"rig: shots.csv: {still_open}\nrig: stopped\n"
    (tmp_path / "more.csv").write_text("\n".join((header, first, second, *3 * ["20,502,9.6,15"])))
    assert main(["calibrate", "range", "--csv", "more.csv"]) == 0
    told = capsys.readouterr()
    assert told.err == f"rig: more.csv: left out: {still_open}\n"
    assert main(["calibrate", "show", "calibration.json"]) == 0
    assert "from 4 shots: more.csv (4)" in capsys.readouterr().out


def test_a_shot_that_may_have_left_stays_in_the_file(tmp_path, monkeypatch, capsys):
    """The trigger was pulled, and the muzzle gate saw nothing."""
    settings_in(tmp_path, "\n[twin.plant.lever]\nsolenoid_works = false\n")
    monkeypatch.chdir(tmp_path)
    assert main(["calibrate", "fire", "--elevation", "41.6"]) == 1
    assert (tmp_path / "shots.csv").read_text().splitlines()[1:] == ["41.6,?,,"]
    doubt, told, seated, why = capsys.readouterr().err.splitlines()
    assert doubt == (
        "rig: shot 1 of 1 may have been fired, and nothing was seen to leave: treat the cannon as loaded until you have looked"
    )
    assert told.startswith("rig: shots.csv: line 2, range_cm: found ? for shot 1, at 41.6 degrees")
    assert seated.startswith("rig: a shot is still seated in the muzzle: take it out")
    assert "no shot passed the muzzle gate" in why


def test_of_a_shot_whose_line_is_lost_as_it_leaves_it_is_told_that_it_may_have_left(
    tmp_path, monkeypatch, capsys
):
    """README, Safety: whoever believes that it left does not look into the muzzle."""

    def lost(link, request):
        answer = ask(link, request)
        if isinstance(request, Fire):
            monkeypatch.setattr(Link, "ask", gone)
            monkeypatch.setattr(Link, "wait", gone)
            gone(link, request)
        return answer

    def gone(link, request):
        raise PortGone("twin", "it is gone")

    ask = Link.ask
    monkeypatch.setattr(Link, "ask", lost)
    settings_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["calibrate", "fire", "--elevation", "41.6"]) == 2
    doubt, told, _, why = capsys.readouterr().err.splitlines()
    assert doubt.startswith("rig: shot 1 of 1 may have been fired, and nothing was seen to leave: treat")
    assert told.startswith("rig: shots.csv: line 2, range_cm: found ? for shot 1")
    assert why.startswith("rig: port twin: it is gone")


def test_of_a_shot_that_was_seen_to_leave_the_speed_is_kept_though_ctrl_c_came(tmp_path, monkeypatch, capsys):
    def interrupted(cannon, event, cause=""):
        failure = recover(cannon, event, cause)
        if event is Event.SHOT_SEEN:
            raise KeyboardInterrupt
        return failure

    recover = Cannon._recover
    monkeypatch.setattr(Cannon, "_recover", interrupted)
    settings_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["calibrate", "fire", "--elevation", "41.6"]) == 130
    (row,) = (tmp_path / "shots.csv").read_text().splitlines()[1:]
    assert row.startswith("41.6,?,9.")
    told, _, why = capsys.readouterr().err.splitlines()
    assert told.startswith("rig: shot 1 of 1 left at 9.")
    assert why == "rig: stopped"


def test_a_shot_that_was_refused_is_not_in_the_file(tmp_path, monkeypatch, capsys):
    def refused(link, request):
        if isinstance(request, Fire):
            (row,) = (tmp_path / "shots.csv").read_text().splitlines()[1:]
            assert row == "41.6,?,,", "it is on record when fire is asked for"
            request = Fire((request.token + 1) % 0x10000)
        return ask(link, request)

    ask = Link.ask
    monkeypatch.setattr(Link, "ask", refused)
    settings_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["calibrate", "fire", "--elevation", "41.6"]) != 0
    assert (tmp_path / "shots.csv").read_text().splitlines()[1:] == []
    assert "range_cm" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--elevation", "80"], "found 80 degrees, expected -15 to 45"),
        (["--elevation", "120"], "an elevation is 120"),
        (["--elevation", "41.6", "--csv", "."], "found a folder, expected a file that can be written"),
        (
            ["--elevation", "41.6", "--csv", "/dev/null"],
            "found a device or a pipe, expected a file that can be",
        ),
        (["--elevation", "41.6", "--csv", "rig.toml"], "to add shots below it"),
        (["--elevation", "41.6", "--shots", "0"], "--shots"),
    ],
)
def test_what_cannot_be_fired_is_refused(tmp_path, monkeypatch, capsys, words, sentence):
    settings_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["calibrate", "fire", *words]) == 2
    assert sentence in capsys.readouterr().err


def test_a_shot_aimed_by_a_calibration_says_so_in_the_log(tmp_path):
    shots = [
        MeasuredShot(name=f"{k}", elevation_rad=0.7, gate_speed_mps=speed, range_m=range_m)
        for k, (speed, range_m) in enumerate([(9.6, 6.62), (9.7, 6.73), (9.5, 6.51), (9.65, 6.68)])
    ]
    found = fit(shots, Mount(elevation_centre_rad=0.2618))
    assert isinstance(found, Calibration)
    write_calibration(tmp_path / "found.json", found, [])
    settings = settings_in(tmp_path, '\n[cannon]\ncalibration = "found.json"\n')
    position = Position.parse(settings.game.position)
    with open_rig(settings, position, PromptedHands(print, print), progress=lambda words: None) as rig:
        order = Order(Square.parse("G-61"), position, zone_of(settings, position.turn), Option.I)
        done = rig.match.shoot(order)
        aim = rig.log.shot(done.shot_id).aim
    assert aim.calibration == read_calibration(tmp_path / "found.json").identity
    assert aim.expected_muzzle_speed_mps == pytest.approx(found.muzzle_speed_mps())
