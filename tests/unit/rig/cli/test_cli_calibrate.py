"""`rig calibrate` as somebody types it: what it learns, what it asks back, what it refuses."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from logged_shots import AIM, ANALYSIS, GATE, PLAN, START

from calibration.fit import Parameter, Status
from calibration.hodograph import cross
from rig.calibrating.calibration_file import read_calibration
from rig.cli import main
from rig.log import Analysis, MuzzleGate, Stage, open_log

ROWS = """elevation_deg,range_cm,gate_mps,dwell_s
41.6,666,9.61,16
20,493.5,9.52,16
41.6,676,9.70,15
5,201,9.60,17
41.6,660,9.55,16
5,197,9.50,16
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(capsys, *words):
    status = main(["calibrate", *words])
    said = capsys.readouterr()
    return status, said.out, said.err


def write(text, name="shots.csv"):
    Path(name).write_text(text, encoding="utf-8")
    return name


def test_a_tape_at_one_elevation_finds_the_speed_and_says_what_it_cannot_find(capsys):
    status, out, err = run(capsys, "range", "--tape", "648,655,651,640,662,655", "--elevation", "41.6")
    assert (status, err) == (0, "")
    assert "Muzzle speed: 9.5" in out
    assert "drag and muzzle speed cannot be told apart from ranges at one elevation" in out
    assert "it shoots 651.8 cm" in out
    content = json.loads(Path("calibration.json").read_text())
    assert content["format"] == "cannon-calibration/1"
    assert content["inputs"] == [{"source": "--tape", "shots": 6}]
    assert content["parameters"]["drag_per_m"]["status"] == "assumed"


def test_a_file_with_ranges_and_speeds_finds_the_drag_too_and_show_tells_it_again(capsys):
    status, out, _ = run(capsys, "range", "--csv", write(ROWS), "--out", "mine.json")
    assert status == 0
    assert "assumed" not in out
    status, again, _ = run(capsys, "show", "mine.json", "--elevation", "41.6", "--elevation", "10")
    assert status == 0
    told = [line for line in out.splitlines() if not line.startswith(("wrote", "at "))]
    assert set(told) <= set(again.splitlines())
    assert "from 6 shots: shots.csv (6)" in again
    assert again.count("degrees it shoots") == 2


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        ([], 2, "give what was measured: --tape, --csv or --shots"),
        (["--tape", "648,655,651"], 2, "say at which elevation"),
        (["--tape", "6.48,6.55,6.51", "--elevation", "41.6"], 1, "are they in m? then say --unit m"),
        (["--tape", "6480,6550,6510", "--elevation", "41.6"], 1, "are they in mm? then say --unit mm"),
        (
            ["--tape", "648,6.55,651", "--elevation", "41.6"],
            1,
            "number 2: found a range of 6.55 cm, expected about",
        ),
        (
            ["--tape", "648,655,200000", "--elevation", "41.6"],
            2,
            'number 3: found "200000", expected a range above 0 and below 100000 cm',
        ),
        (["--tape", "648,655", "--elevation", "41.6"], 1, "only 2 shots were measured"),
        (["--tape", "650,650,650", "--elevation", "41.6"], 1, "all 3 ranges are the same number"),
        (["--tape", "648,x,-3", "--elevation", "41.6"], 2, 'number 2: found "x"'),
        (["--tape", "1e300,2,3", "--elevation", "41.6"], 2, 'number 1: found "1e300"'),
        (["--tape", "648,655,651", "--elevation", "400"], 2, "an elevation is 400"),
        (["--tape", "648,655,651", "--elevation", "nan"], 2, "an elevation is nan"),
        (["--tape", "648,655,651", "--elevation", "41.6", "--floor-mm", "1e9"], 2, "the floor is 1e"),
        (
            ["--tape", "648,655,651", "--elevation", "-20", "--floor-mm", "300"],
            1,
            "never comes down to 303 mm",
        ),
        (["--tape", "648,655,651", "--elevation", "41.6", "--gravity", "1.6"], 2, "gravity"),
        (
            ["--tape", "648,655,651", "--elevation", "41.6", "--out", "."],
            2,
            "expected a name that ends in .json",
        ),
        (
            ["--tape", "648,655,651", "--elevation", "41.6", "--out", "rig.toml"],
            2,
            "expected a name that ends in .json",
        ),
        (
            ["--tape", "648,655,651", "--elevation", "41.6", "--out", "no/c.json"],
            2,
            "no/c.json cannot be written",
        ),
        (["--tape", "648,", "655,", "651", "--elevation", "41.6"], 2, "without blanks: --tape 648,655,651"),
        (["--csv", "rig.toml", "more"], 2, r"\(more\)$"),
        (["--csv", "nowhere.csv"], 2, "nowhere.csv: the file: found nothing"),
        (["--csv", "."], 2, "found a folder"),
        (["--shots", "1-3"], 2, "there is no log here"),
        (["--shots", "3-1"], 2, "expected the lower number first"),
        (["--shots", "1-999999999999"], 2, "--shots: found '1-999999999999', expected 100000 shots at most"),
        (["--shots", "a"], 2, "expected numbers as 5-16"),
        (["--shots", "9" * 5000], 2, "expected numbers as 5-16"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_reason(capsys, words, status, sentence):
    got, out, err = run(capsys, "range", *words)
    assert err.startswith("rig: "), err
    assert re.search(re.escape(sentence) if "?" in sentence else sentence, err), err
    assert got == status
    assert out == ""


def test_ranges_in_metres_are_taken_where_that_is_said(capsys):
    status, out, _ = run(
        capsys, "range", "--tape", "6.48,6.55,6.51,6.4", "--unit", "m", "--elevation", "41.6"
    )
    assert status == 0
    assert "it shoots 648.5 cm" in out


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", ["nothing in it"]),
        ("elevation_deg,range_cm\n", ["no rows below the header"]),
        ("range_cm\n650\n", ["no column elevation_deg"]),
        ("elevation_deg;range_cm\n41,6;weit\n", ['line 2, range_cm: found "weit", expected a number']),
        ('elevation_deg,range_cm\n"41,6",650\n', ["write decimals with a point"]),
        ("elevation_deg,lenght\n41,650\n", ['line 1: found "lenght", expected the name of a column']),
        ("elevation_deg,range_cm,range_m\n41,650,6.5\n", ["ranges in one unit"]),
        ("elevation_deg,range_cm,range_cm\n41,650,650\n", ["'range_cm' twice"]),
        ("elevation_deg,fell_right_mm\n41,650\n", ["one of fell_right_mm and fell_ahead_mm"]),
        (
            ROWS + "x,640,9.6,16\n41.6,650\n41.6,,,\n,640,9.6,1\n41.6,640,9.6,-1\n41.6,640,-9.6,1\n",
            [
                'line 8, elevation_deg: found "x", expected a number',
                "line 9: found 2 cells, expected 4",
                "line 10: found nothing measured of shot 9, expected its range or its speed",
                "line 11, elevation_deg: found nothing",
                "line 12: found dwell of -1 s, expected 0 to 1e+06 s",
                "line 13: found the gate speed is -9.6 m/s, expected above 0 and below 100 m/s",
            ],
        ),
        (
            ROWS + "41.6,650,961,16\n",
            ["line 8: found the gate speed is 961 m/s, expected above 0 and below 100"],
        ),
        (ROWS + "41.6,0,,16\n", ["line 8: found the range is 0 m, expected above 0 and below 1000 m ("]),
    ],
)
def test_every_bad_row_of_a_file_is_named(capsys, text, sentences):
    status, out, err = run(capsys, "range", "--csv", write(text))
    assert status == 2
    assert out == ""
    for sentence in sentences:
        assert sentence in err
    assert len(err.splitlines()) == len(sentences)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        # A gate whose barriers stand otherwise than the settings say; mm/s; places of fall in m.
        ("gate_mps,range_cm\n41.6,5,648\n41.6,5.1,655\n41.6,5.2,651\n", "the shots contradict each other"),
        (
            "gate_mps,range_cm\n41.6,34.5,648\n41.6,34.6,655\n41.6,34.7,651\n",
            "found 34.6, expected a muzzle speed",
        ),
        ("gate_mps\n41.6,0.0096\n41.6,0.0097\n41.6,0.0098\n", "found 0.0097, expected a muzzle speed"),
        (
            "fell_right_mm,fell_ahead_mm\n41.6,0.010,6.40\n41.6,0.001,6.50\n41.6,0.002,6.45\n",
            "the shots contradict each other",
        ),
    ],
)
def test_a_calibration_that_could_not_be_read_again_takes_no_others_place(capsys, rows, sentence):
    assert run(capsys, "range", "--csv", write(ROWS))[0] == 0
    before = Path("calibration.json").read_bytes()
    status, out, err = run(capsys, "range", "--csv", write("elevation_deg," + rows))
    assert status in (1, 2)
    assert (out, len(err.splitlines())) == ("", 1)
    assert sentence in err
    assert Path("calibration.json").read_bytes() == before


@pytest.mark.parametrize("name", ["mine.json", 'a "b" \\ c.json'])
def test_the_line_for_the_settings_names_the_calibration_as_they_do(capsys, name):
    """They mean files beside them, in whatever folder the command is run."""
    Path("table").mkdir()
    Path("table/rig.toml").write_text("")
    words = ("range", "--csv", write(ROWS), "--out", name, "--settings", "table/rig.toml")
    _, out, _ = run(capsys, *words)
    line = out.splitlines()[-1].partition("under [cannon]: ")[2]
    Path("table/rig.toml").write_text(f"[cannon]\n{line}\n")
    assert main(["check", "--settings", "table/rig.toml"]) == 0


def test_the_calibration_that_the_settings_name_is_made_though_it_is_not_there(capsys):
    """`rig doctor` says to make it by this command."""
    Path("rig.toml").write_text('[cannon]\ncalibration = "calibration.json"\n')
    told = "rig: rig.toml names calibration.json, which is not there: nothing is taken from it\n"
    assert run(capsys, "plan")[::2] == (0, told)
    assert run(capsys, "range", "--csv", write(ROWS))[::2] == (0, told)
    assert run(capsys, "range", "--csv", write(ROWS))[::2] == (0, "")
    Path("calibration.json").write_text("{")
    status, _, err = run(capsys, "range", "--csv", write(ROWS))
    assert (status, "found no JSON" in err) == (2, True)


def test_what_is_no_calibration_is_told_with_what_makes_one(capsys):
    status, _, err = run(capsys, "show", write(ROWS))
    assert status == 2
    assert err.endswith(", expected a calibration, as `rig calibrate range` writes it\n")


def test_a_plan_says_what_its_shots_do_not_tell(capsys):
    out = run(capsys, "plan", "--learn", "yaw", "--learn", "drag")[1]
    nothing = [line for line in out.splitlines() if line.endswith("; these shots tell next to nothing of it")]
    assert [line.partition(":")[0] for line in nothing] == ["The cannon's yaw"]


@pytest.mark.parametrize("degrees", ["60", "-50"])
def test_an_elevation_to_which_the_servo_does_not_turn_is_told_in_degrees_before_anything_is_opened(
    capsys, monkeypatch, degrees
):
    monkeypatch.setattr("rig.cli.opening.rig.open_rig", lambda *_, **__: pytest.fail("it was opened"))
    status, out, err = run(capsys, "fire", "--elevation", degrees)
    assert (status, out) == (2, "")
    assert err.endswith(
        f"found {degrees} degrees, expected -15 to 45: so far [cannon.elevation] lets the barrel turn\n"
    )
    assert not list(Path().iterdir())


def test_the_rest_of_a_file_is_used_only_where_somebody_says_so(capsys):
    name = write(ROWS + "41.6,forty,9.6,16\n")
    assert run(capsys, "range", "--csv", name)[0] == 2
    status, out, err = run(capsys, "range", "--csv", name, "--skip-bad-rows")
    assert status == 0
    assert 'left out: line 8, range_cm: found "forty"' in err
    assert "wrote calibration.json" in out


def test_a_calibration_that_takes_the_place_of_an_earlier_one_says_so(capsys):
    name = write(ROWS)
    told = [run(capsys, "range", "--csv", name)[1].splitlines()[-1] for _ in range(2)]
    assert told[0].startswith("wrote calibration.json; to aim by it")
    assert told[1].startswith("wrote calibration.json, in place of the one made before; to aim by it")


RADIANS = "elevation_deg,range_cm\n0.726,666\n0.349,493.5\n0.726,676\n0.726,655\n"


def test_elevations_in_radians_are_told_as_that(capsys):
    name = write(RADIANS)
    said = "found elevations up to 0.726 degrees with ranges near 660.5 cm: are the elevations in radians?"
    assert f"rig: {name}: {said}" in run(capsys, "range", "--csv", name)[2]
    taped = ["range", "--tape", "648,655,651", "--elevation"]
    assert "are the elevations in radians?" in run(capsys, *taped, "0.726")[2]
    assert "are they in mm?" in run(capsys, "range", "--tape", "1480,1455,1451", "--elevation", "0.9")[2]


def test_a_range_in_metres_is_named_by_its_line_though_ranges_are_missing_above_it(capsys):
    name = write(ROWS + "41.6,,9.6,16\n41.6,6.55,9.6,16\n")
    status, out, err = run(capsys, "range", "--csv", name)
    assert (status, out) == (1, "")
    assert err.startswith("rig: shots.csv: line 9: found a range of 6.55 cm, expected about 6")


def test_a_file_may_leave_the_elevation_to_the_command_line(capsys):
    name = write("range\n6.48\n6.55\n6.51\n6.60\n")
    assert run(capsys, "range", "--csv", name, "--elevation", "41.6", "--unit", "m")[0] == 0


def test_a_range_that_is_far_from_the_few_others_is_named_and_no_shot_is_said_to_fall_behind_the_muzzle(
    capsys,
):
    status, out, _ = run(capsys, "range", "--tape", "648,655,130,651", "--elevation", "41.6")
    assert status == 0
    assert (
        "note: no spring shoots so unevenly: number 3 went 1.3 m, where 6.48 m would suit the others\n" in out
    )
    assert re.search(r"; the next shot 0 to \d+ cm\n", out)


def test_what_hardly_follows_each_other_makes_no_calibration_that_cannot_be_read(capsys):
    """The rounding in its covariance lay on one side of the diagonal alone."""
    name = write(
        "elevation_deg,range_cm,gate_mps,dwell_s\n41.6,650.1,9.6,15\n41.6,650,9.60001,15\n41.6,650.2,9.6,15\n"
    )
    status, _, err = run(capsys, "range", "--csv", name, "--learn", "drag", "--learn", "elevation-gain")
    assert (status, err) == (0, "")
    covariance = read_calibration(Path("calibration.json")).calibration.covariance
    assert (covariance == covariance.T).all()


# From the log


def log_of(
    count,
    *,
    calibration="",
    analysis=None,
    elevation_rad=0.7,
    azimuth_rad=-0.02,
    port="twin",
    side="A",
    transit_us=2080.0,
    cannon=START.settings["cannon"],
):
    with open_log(Path("rig-log.sqlite")) as log:
        session = log.start_session(replace(START, port=port, settings={**START.settings, "cannon": cannon}))
        for index in range(count):
            shot_id = log.begin_shot(session, replace(PLAN, side=side, plan=None, plan_index=None))
            log.aimed(
                shot_id,
                replace(AIM, calibration=calibration, elevation_rad=elevation_rad, azimuth_rad=azimuth_rad),
            )
            for stage in (Stage.COCKED, Stage.LOADED, Stage.ARMED, Stage.ASKED, Stage.FIRED):
                log.reached(shot_id, stage)
            log.seen(
                shot_id,
                MuzzleGate(
                    release_to_first_us=GATE.release_to_first_us,
                    first_to_second_us=transit_us + 7 * (index % 4),
                    spacing_mm=20.0,
                ),
            )
            if analysis is not None:
                log.recorded(shot_id, "recordings/x")
                log.analysed(shot_id, analysis)
        log.end_session(session, "finished")


def test_speeds_of_the_log_alone(capsys):
    log_of(6)
    status, out, _ = run(capsys, "range", "--shots", "all")
    assert status == 0
    assert "Muzzle speed: 9.5" in out
    assert "muzzle speeds say nothing about drag" in out


def test_a_tape_for_logged_shots_brings_ranges_and_speeds_together(capsys):
    log_of(6)
    status, out, _ = run(capsys, "range", "--shots", "2-6", "--tape", "668,664,655,672,661")
    assert status == 0
    assert "assumed" not in out
    status, _, err = run(capsys, "range", "--shots", "2-6", "--tape", "668,664,655")
    assert status == 2
    assert "found 3 of them, expected one for each of the 5 shots named" in err


@pytest.mark.parametrize(
    ("count", "named", "told"),
    [
        (6, "5-99", "shots 7-99: found nothing, expected shots of the log, which has 1-6"),
        (1, "1,3", "shot 3: found nothing, expected a shot of the log, which has 1"),
        (0, "1,3-4", "shots 1,3-4: found nothing, expected shots of the log, which has none"),
    ],
)
def test_shots_that_the_log_does_not_have_are_told_in_one_line(capsys, count, named, told):
    log_of(count)
    assert run(capsys, "range", "--shots", named) == (2, "", f"rig: the log: {told}\n")


@pytest.mark.parametrize(
    ("words", "fired"),
    [
        (["--csv", "shots.csv"], 6),
        (["--tape", "648,655,651", "--elevation", "41.6"], 3),
        (["--shots", "2-6"], 9),
        (["--shots", "2-4", "--tape", "668,664,655"], 9),
        (["--shots", "2-6", "--csv", "shots.csv"], None),
    ],
)
def test_the_calibration_keeps_how_many_shots_the_spring_had_fired(capsys, words, fired):
    """Counted as its shots are: from the first of the file, or of the log. From two sources nobody knows."""
    log_of(9)
    write(ROWS)
    status, _, _ = run(capsys, "range", *words)
    assert status == 0
    assert json.loads(Path("calibration.json").read_text())["shots_fired"] == fired


@pytest.mark.parametrize("others", [{"side": "G"}, {"port": "twin"}], ids=["the other side's", "the twin's"])
def test_shots_of_another_cannon_in_the_log_are_neither_taken_nor_counted(capsys, others):
    port = "/dev/ttyACM0"
    write(f'[cannon]\nsides = ["A"]\n[port]\nurl = "{port}"\n[camera]\nsource = "0"\n', "rig.toml")
    log_of(5, **{"port": port, "transit_us": 4000.0, **others})
    status, _, err = run(capsys, "range", "--shots", "all")
    assert (status, err) == (1, "rig: the log has no shot of this cannon that the muzzle gate timed\n")
    log_of(6, port=port)
    status, out, _ = run(capsys, "range", "--shots", "all")
    assert status == 0
    assert "Muzzle speed: 9.5" in out
    calibration = json.loads(Path("calibration.json").read_text())
    assert (calibration["shots"], calibration["shots_fired"], calibration["usual_shots_before"]) == (6, 6, 2)
    status, _, err = run(capsys, "range", "--shots", "5-11")
    assert status == 2
    assert err in (
        "rig: the log: shot 5: found fired by G, expected a shot by A, as [cannon] sides says\n",
        f"rig: the log: shot 5: found fired at twin, expected a shot at {port}, as [port] url says\n",
    )


def test_shots_of_the_log_that_were_fired_with_another_mount_are_told_as_left_out(capsys):
    log_of(2, cannon={"muzzle_height_mm": 80.0})
    log_of(5)
    told = "rig: {}: left out: shots 1-2: found fired with muzzle_height_mm 80, expected muzzle_height_mm 50"
    status, _, err = run(capsys, "range", "--shots", "all")
    assert status == 0
    assert json.loads(Path("calibration.json").read_text())["shots"] == 5
    assert err.startswith(told.format("shots all of the log"))
    status, _, err = run(capsys, "range", "--shots", "all", "--tape", "668,664,655,672,661")
    assert status == 0
    assert err.startswith(told.format("--tape"))


def test_the_twins_spring_is_counted_anew_with_every_session(capsys):
    log_of(4)
    log_of(3)
    status, _, _ = run(capsys, "range", "--shots", "5-7")
    assert status == 0
    calibration = json.loads(Path("calibration.json").read_text())
    assert (calibration["shots_fired"], calibration["usual_shots_before"]) == (3, 1)


def test_a_fade_that_was_learnt_is_told_with_every_aim_and_counts_the_shots_since(capsys):
    rows = [
        f"{degrees},,{9.6 * (1 - 2e-3 * number) * (1 + scatter):.4f},15"
        for number, (degrees, scatter) in enumerate(
            zip([41.6, 20, 5] * 10, [0.004, -0.006, 0.001, 0.003, -0.002] * 6, strict=True)
        )
    ]
    write("\n".join(["elevation_deg,range_cm,gate_mps,dwell_s", *rows]))
    status, out, _ = run(capsys, "range", "--csv", "shots.csv", "--learn", "fade-per-shot")
    assert status == 0
    assert "The spring's fading from shot to shot: 0.20" in out
    write(
        '[cannon]\ncalibration = "calibration.json"\n[port]\nurl = "/dev/ttyACM0"\n[camera]\nsource = "0"\n',
        "rig.toml",
    )

    def told():
        assert main(["aim", "G-53", "--explain", "--position", PLAN.position]) == 0
        return capsys.readouterr().out

    first = told()
    assert "\n  the spring has fired 30 shots, 0 since the calibration: aimed for 9.0" in first
    found = read_calibration(Path("calibration.json"))
    log_of(20, calibration=found.identity, port="/dev/ttyACM0")
    later = told()
    assert "\n  the spring has fired 50 shots, 20 since the calibration: aimed for 8.6" in later

    def scatter_percent(text):
        return float(re.search(r"in height \(speed (\S+) %", text)[1])

    assert scatter_percent(later) > scatter_percent(first), "what is not known of the fading grows with it"


def test_what_is_trusted_as_an_earlier_calibration_has_it_is_as_uncertain_as_there(capsys):
    run(capsys, "range", "--tape", "648,655,651,640,662,655", "--elevation", "41.6", "--out", "first.json")
    write('[cannon]\ncalibration = "first.json"\n', "rig.toml")
    rows = "elevation_deg,range_cm\n" + "".join(f"5,{range_cm}\n" for range_cm in (199, 202, 197, 203, 200))
    status, _, _ = run(
        capsys, "range", "--csv", write(rows), "--learn", "elevation-offset", "--out", "second.json"
    )
    assert status == 0
    first, second = (read_calibration(Path(name)).calibration for name in ("first.json", "second.json"))
    assert second.status_of(Parameter.DRAG) is Status.TRUSTED
    assert second.sd(Parameter.DRAG) == first.sd(Parameter.DRAG) > 0


def test_shots_aimed_by_another_calibration_are_refused(capsys):
    log_of(4, calibration="2020-01-01T00:00:00Z 9.000 m/s")
    status, _, err = run(capsys, "range", "--shots", "1-4")
    assert status == 2
    assert "aimed by the calibration 2020" in err


def test_where_shots_fell_on_the_board_turns_the_cannon(capsys):
    """Shots aimed straight ahead that came down to the right: the cannon stands turned to the right."""
    far_mm = 1000 * (0.06 + float(cross(9.57, 0.0, 0.0678, offset_m=-0.047).x_m))
    yaw = math.radians(2)
    # Seen from the pivot's place at traverse 0, 45 mm behind the first line; the strip is turned with the cannon.
    right_mm = 150 * math.cos(yaw) + far_mm * math.sin(yaw)
    ahead_mm = -150 * math.sin(yaw) + far_mm * math.cos(yaw)
    log_of(
        6,
        azimuth_rad=0.0,
        elevation_rad=0.0,
        analysis=Analysis(software_version="0", raw={"first_contact_mm": [right_mm, ahead_mm - 45.0]}),
    )
    status, out, _ = run(capsys, "range", "--shots", "all", "--learn", "yaw")
    assert status == 0
    assert float(re.search(r"The cannon's yaw: (\S+) degrees", out)[1]) == pytest.approx(2.0, abs=0.3)


def test_a_shot_that_met_a_soldier_says_nothing_of_where_it_would_have_fallen(capsys):
    log_of(6, analysis=replace(ANALYSIS, raw={"first_contact_mm": [175.0, 700.0]}))
    status, out, _ = run(capsys, "range", "--shots", "all", "--learn", "yaw")
    assert status == 0
    assert "muzzle speeds say nothing about the cannon's yaw" in out


# Planning


def test_a_plan_without_a_gate_asks_for_flat_and_lobbed_shots(capsys):
    status, out, _ = run(capsys, "plan", "--no-gate")
    assert status == 0
    lines = [line for line in out.splitlines() if line.startswith("fire")]
    assert len(lines) >= 2
    assert "Drag: now to 0.010000 1/m, then to 0.00" in out
    assert "mean range at 41.6 degrees" in out


def test_a_plan_starts_from_what_is_known(capsys):
    run(capsys, "range", "--csv", write(ROWS))
    fresh = run(capsys, "plan", "--shots", "4", "--for-range")[1]
    known = run(capsys, "plan", "--shots", "4", "--for-range", "--calibration", "calibration.json")[1]
    assert "now to 276.9 cm" in fresh
    assert "now to 276.9 cm" not in known


def test_a_shot_that_never_comes_down_is_said_to(capsys):
    run(capsys, "range", "--csv", write(ROWS))
    status, _, err = run(capsys, "show", "calibration.json", "--elevation", "-80")
    assert status == 2
    assert err == "rig: set to -80.0 degrees, the shot never comes down to 0.003 m over the board\n"


def test_a_plan_asks_for_no_shot_past_the_vertical_however_far_the_servo_turns(capsys):
    write("[cannon.elevation]\ncentre_rad = 1.5\n", "rig.toml")
    assert main(["check"]) == 0
    assert capsys.readouterr().err == ""
    status, out, err = run(capsys, "plan", "--elevation", "60")
    assert (status, err) == (0, "")
    degrees = [float(each) for each in re.findall(r"at (\S+) degrees, and tape", out)]
    assert degrees
    assert all(56 < each < 90 for each in degrees)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--shots", "0"], "--shots"),
        (["--elevation", "120"], "an elevation is 120"),
        (["--elevation", "-60"], "-60 degrees: the shot never comes down to 0.003 m"),
        (["--floor-mm", "nan"], "the floor is nan mm over the board"),
        (["--floor-mm", "5000"], "none of the elevations lets a shot come down where it is to be measured"),
        (["--learn", "colour"], "colour"),
        (["--calibration", "none.json"], "none.json: the file: found nothing"),
    ],
)
def test_a_plan_that_cannot_be_made_is_refused(capsys, words, sentence):
    status, out, err = run(capsys, "plan", *words)
    assert status == 2
    assert sentence in err
    assert out == ""
