"""`rig aim`: one square, the table, the reach, the best aims; and refusals in one line."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pypdf
import pytest
from logged_shots import CERTAIN, PLAN, START, read_and_judge, until

from rig.cli import main
from rig.log import Analysis, Stage, open_log

POSITION = "A A01-A08,A50,A58,G65 G01-G08,G49,G57 0/0 20/20 -"


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rig.toml").touch()


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["aim", *words]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["aim", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_a_square_alone_gives_the_axes_and_their_pulses(capsys):
    lines = said(capsys, "G-53").splitlines()
    assert lines[0].startswith("A at G-53, direct path")
    assert [line.split()[0] for line in lines[1:4]] == ["traverse", "azimuth", "elevation"]
    assert "1500.0 us" in lines[2]
    assert said(capsys, "square", "G-53") == said(capsys, "G-53")


def test_a_point_is_aimed_at_as_a_soldier_that_stands_there(capsys):
    centre = said(capsys, "157.5,517.5", "--explain").splitlines()
    assert centre == said(capsys, "G-53", "--explain").splitlines()
    beside = said(capsys, "150,520", "--explain").splitlines()
    assert beside[0].startswith("A at G-53, direct path, at x 150.0, y 520.0")
    assert beside[1].split()[1] == "150.0"


def test_explained_it_names_the_first_in_the_way_and_why_not_lobbed(capsys):
    text = said(capsys, "G-49", "--explain", "--position", POSITION)
    assert "G-65 is the first in the way" in text
    assert "passes G-57: strikes it" in text
    assert "passes A-08" in text
    assert "lobbed, no: the target is outside the elevation limits: it needs 87" in text
    assert "touches G-49 first with a chance of 0 %" in text


def test_who_is_in_the_way_is_said_without_explaining_too(capsys):
    assert "G-65 is the first in the way" in said(capsys, "G-49", "--position", POSITION)


def test_without_a_position_it_is_the_one_after_the_last_shot(capsys):
    """As `rig shoot` begins; here G-33 has left by the shot before, and the Germans are to move."""
    plan = replace(PLAN, target="G-33", position="A A01-A24 G25-G48 0/0 20/20 -", plan=None, plan_index=None)
    with open_log(Path("rig-log.sqlite")) as log:
        shot_id = until(log, log.start_session(START), Stage.RECORDED, plan=plan)
        read_and_judge(log, shot_id, Analysis(software_version="0.1.0", raw={}, falls=(CERTAIN,)))
    assert "whoever would stand on G-33" in said(capsys, "G-33", "--explain", "--side", "A")
    assert "touches G-34 first" in said(capsys, "G-34", "--explain", "--side", "A")
    assert said(capsys, "G-34").startswith("G at G-34")


def test_on_an_empty_square_it_is_whoever_would_stand_there(capsys):
    text = said(capsys, "G-36", "--explain", "--position", POSITION)
    assert "whoever would stand on G-36 first with a chance of" in text
    assert "nobody stands on the way" in text or "clears it by" in text


def test_more_scatter_is_a_wider_ellipse_and_a_smaller_chance(capsys):
    def chance(*words: str) -> int:
        text = said(capsys, "G-36", "--explain", "--position", POSITION, *words)
        return int(text.partition("chance of ")[2].partition(" %")[0])

    assert chance("--angle-scatter", "2") > 95
    assert chance("--angle-scatter", "30") < 40


def test_a_slow_cannon_lobs(capsys):
    Path("rig.toml").unlink()
    main(["init"])
    text = Path("rig.toml").read_text()
    text = text.replace("muzzle_speed_mps = 9.6", "muzzle_speed_mps = 3.0").replace(
        "centre_rad = 0.2618", "centre_rad = 0.9"
    )
    Path("rig.toml").write_text(text)
    capsys.readouterr()
    lines = said(capsys, "G-49", "--lobbed", "--explain").splitlines()
    assert "lobbed path" in lines[0]
    assert "direct, no: " in lines[-1]
    assert "it needs 12" in lines[-1]
    assert "lobbed: 144 of 144" not in said(capsys, "reach"), "the nearest are too steep"


def test_the_table_is_text_csv_and_pdf(capsys):
    lines = said(capsys, "table").splitlines()
    assert len(lines) == 145
    assert "outside the elevation limits" in lines[1]
    assert said(capsys, "table", "--csv", "t.csv", "--pdf", "t.pdf") == ""
    with Path("t.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 144
    by_square = {row["square"]: row for row in rows}
    assert "elevation limits" in by_square["A-01"]["no_aim"]
    assert float(by_square["G-49"]["elevation_us"]) == pytest.approx(1229.1, abs=0.2)
    assert by_square["G-49"]["no_aim"] == ""
    text = "".join(page.extract_text() for page in pypdf.PdfReader("t.pdf").pages)
    assert "Firing table of side A, direct path" in text
    assert "G-49" in text
    assert "1229.1" in text
    first = Path("t.pdf").read_bytes()
    said(capsys, "table", "--pdf", "t.pdf")
    assert Path("t.pdf").read_bytes() == first


def test_the_table_of_the_other_side_is_the_same_turned_round(capsys):
    a, g = (said(capsys, "table", "--side", side).splitlines()[1:] for side in "AG")
    assert [line.replace("A-", "*-").replace("G-", "A-").replace("*-", "G-") for line in a] == g


def test_the_reach_is_counted_and_drawn(capsys):
    text = said(capsys, "reach", "--plot", "reach.png")
    assert "direct: 136 of 144 squares" in text
    assert "outside the elevation limits: A01-A08" in text
    assert Path("reach.png").read_bytes().startswith(b"\x89PNG")


def test_the_best_aims_are_ranked_and_drawn(capsys):
    text = said(capsys, "best", POSITION, "--zone", "G25-G72", "--count", "2", "--plot", "map.svg")
    lines = text.splitlines()
    assert lines[0].startswith("1. worth ")
    assert "G-65" not in lines[0]
    assert "touches first: G-57" in lines[1] or "touches first: G-65" in lines[1]
    assert "<svg" in Path("map.svg").read_text()


def test_the_option_decides_what_an_aim_is_worth(capsys):
    worths = [
        float(
            said(capsys, "best", "A A01 G53,G45 0/0 20/20 -", "--option", option, "--count", "1").split()[2]
        )
        for option in ("i", "iii")
    ]
    assert worths[0] > worths[1] + 0.05


def test_where_nobody_counts_no_aim_is_worth_a_shot(capsys):
    assert "No aim of side A is worth a shot" in said(capsys, "best", "A A01 G01 0/0 20/20 -")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["X9"], "'X9' is not a square"),
        (["tabel"], "No such command 'tabel'. Did you mean 'table'?"),
        (["G-99"], "G-99"),
        (["A-01"], "A-01 cannot be aimed at: the target is outside the elevation limits"),
        (["G-49", "--lobbed"], "it needs 87.5 degrees"),
        (["G-49", "--side", "B"], "found 'B', expected a side that has a cannon"),
        (["G-49", "--position", "nonsense"], "not a valid position"),
        (["G-49", "--position", "camera"], "no camera is opened here"),
        (["G-49", "--speed-scatter", "-1"], "--speed-scatter"),
        (["best", "A A01 G01 0/0 0/20 -"], "side A has no shot left"),
        (["best", "--option", "iv"], "found 'iv', expected i, ii or iii"),
        (["best", "--zone", "Q1"], "--zone: 'Q1' is neither a square nor a run"),
        (["best", "A A30.1 G49.1 0/0 1/1 -"], "found one of two boards joined"),
        (["best", "A A01 - 0/0 20/20 -"], "the battle is over"),
        (["G-49.2"], "G-49.2 names one of two boards"),
        (
            ["400,100"],
            "found 400,100, expected a point of the board, x from 0 to below 360 mm, y from 0 to below 810 mm",
        ),
        (["100,"], "'100,' is not a square"),
        (["best", "--plot", "map.doc"], "a name that ends in .png, .svg or .pdf"),
        (["table", "--csv", "no/such/t.csv"], "no/such/t.csv cannot be written: No such file"),
        (["table", "--pdf", "no/such/t.pdf"], "no/such/t.pdf cannot be written: No such file"),
        (["G-49", "--settings", "none.toml"], "none.toml"),
    ],
)
def test_refusals_are_one_line(capsys, words, sentence):
    assert sentence in refused(capsys, *words)


def test_where_no_settings_are_it_says_whose_table_it_aims_at(capsys, tmp_path):
    (tmp_path / "rig.toml").unlink()
    assert main(["aim", "G-53"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("A at G-53")
    (line,) = err.splitlines()
    assert line.startswith(
        "rig: there is no rig.toml here: default settings hold, which mean a simulated table"
    )
