"""`rig stats` as the person at the table, or a program, has it: what is printed and written, and how it ends."""

from __future__ import annotations

import csv
import json
import math
import shutil
from dataclasses import replace as changed
from pathlib import Path

import cv2
import pypdf
import pytest
from cli_answer import Answer, Rig
from logged_shots import CERTAIN, PLAN, START, read_and_judge, until

from rig.cli import main
from rig.log import Analysis, Stage, open_log

_R = Path(__file__).parents[2] / "calibration" / "dispersion" / "data" / "groups-simulated.json"
_METHODS = {"rayleigh", "correlated_normal", "grubbs_patnaik", "grubbs_pearson", "grubbs_liu"}


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Rig:
    """Run `rig` in a folder of its own, with a group in `group.csv`."""
    monkeypatch.chdir(tmp_path)
    points = json.loads(_R.read_text(encoding="utf-8"))["sets"]["g05"]["points"]
    rows = "".join(f"{x},{y}\n" for x, y in points)
    Path("group.csv").write_text(f"x_mm,y_mm\n{rows}")
    Path("plain.csv").write_text(f"x,y\n{rows}")

    def run(*words: str) -> Answer:
        status = main(words)
        captured = capsys.readouterr()
        return Answer(status, captured.out, captured.err)

    return run


def _log_two_shots() -> None:
    plan = changed(PLAN, target="G-49", position="A A01-A24 G41-G64 0/0 20/20 -", plan=None, plan_index=None)
    with open_log(Path("rig-log.sqlite")) as log:
        session_id = log.start_session(START)
        for falls in ((changed(CERTAIN, square="G-49"),), ()):
            shot_id = until(log, session_id, Stage.RECORDED, plan=plan)
            read_and_judge(log, shot_id, Analysis(software_version="0.1.0", raw={}, falls=falls))
        log.end_session(session_id, "done")


@pytest.mark.parametrize("file", ["group.csv", "plain.csv"])
def test_a_groups_json_has_every_promised_key(rig: Rig, file: str) -> None:
    """Issue "know where the shot goes", point 6: the keys, and some of the R package's figures for this group."""
    answer = rig("stats", "group", file, "--json")
    assert (answer.status, answer.err) == (0, "")
    said = json.loads(answer.out)
    expected = json.loads(_R.read_text(encoding="utf-8"))["sets"]["g05"]
    assert said["n"] == 20
    assert said["unit"] == ("mm" if file == "group.csv" else None)
    assert said["sigma"] == pytest.approx(expected["rayleigh"]["sigma"]["sigma"], rel=1e-6)
    assert said["sigma_ci"][0] < said["sigma"] < said["sigma_ci"][1]
    for key in ("cep", "cep_offset"):
        assert set(said[key]) == _METHODS
        for by_level in said[key].values():
            assert list(by_level) == ["0.5", "0.9", "0.95"]
    assert said["cep"]["rayleigh"]["0.5"] == pytest.approx(
        expected["cep_precision"]["CEP0.5"]["Rayleigh"], rel=1e-6
    )
    semi = expected["confEll"]["0.95"]["semi"]
    assert said["confidence_ellipse_95"] == pytest.approx([semi["semi-major"], semi["semi-minor"]], rel=1e-6)
    for key in ("mean_radius", "extreme_spread", "figure_of_merit", "min_circle_radius", "min_box_area"):
        assert said[key] > 0
    assert 0 < said["hotelling_p"] < 1
    assert "hit_probability" not in said
    assert "bootstrap" not in said


def test_more_is_said_when_asked(rig: Rig) -> None:
    said = json.loads(
        rig(
            "stats",
            "group",
            "group.csv",
            "--json",
            "--radius",
            "60",
            "--radius",
            "90",
            "--bootstrap",
            "--seed",
            "3",
        ).out
    )
    first, second = said["hit_probability"]
    assert first["radius"] == 60
    assert all(first["about_aim"][method] < second["about_aim"][method] for method in _METHODS)
    assert set(said["bootstrap"]) == {"sigma", "cep", "mean_radius", "offset"}


def test_the_report_in_words_fits_a_terminal(rig: Rig) -> None:
    answer = rig("stats", "group", "group.csv", "--radius", "20", "--bootstrap")
    assert answer.status == 0
    for word in (
        "20 shots, lengths in mm",
        "by bootstrap",
        "box of least area, square mm",
        "Grubbs-Liu",
        "next shot",
        "Hotelling",
        "Mauchly",
    ):
        assert word in answer.out
    assert max(map(len, answer.out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("rows", "count", "said"),
    [("3,4\n", 1, "takes 2 shots or more; the group has 1"), ("3,4\n" * 5, 5, "all 5 lie at one place")],
)
def test_of_next_to_nothing_what_can_be_said_is_said(rig: Rig, rows: str, count: int, said: str) -> None:
    Path("few.csv").write_text(f"x_mm,y_mm\n{rows}")
    answer = rig("stats", "group", "few.csv", "--json", "--plot", "few.png")
    assert answer.status == 1
    assert said in answer.err.splitlines()[-1]
    found = json.loads(answer.out)
    assert (found["n"], found["centre"], found["sigma"], found["cep"]) == (count, [3, 4], None, None)
    assert said in found["not_said"][0]


def test_a_group_of_too_few_shots_for_a_bootstrap_is_named(rig: Rig) -> None:
    Path("few.csv").write_text("x_mm,y_mm\n1,2\n3,4\n")
    answer = rig("stats", "group", "few.csv", "--bootstrap")
    told = "rig: few.csv: a bootstrap takes 5 shots or more; the group has 2\n"
    assert (answer.status, answer.out, answer.err) == (1, "", told)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_picture_is_written(rig: Rig, ending: str) -> None:
    answer = rig("stats", "group", "group.csv", "--plot", f"group.{ending}")
    assert answer.err == f"wrote group.{ending}\n"
    head = Path(f"group.{ending}").read_bytes()[:8]
    assert head.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending])


def test_the_picture_cuts_no_label_off(rig: Rig) -> None:
    example = Path(__file__).parents[4] / "docs" / "examples" / "group.csv"
    rig("stats", "group", str(example), "--plot", "group.png")
    picture = cv2.imread("group.png")
    assert picture is not None
    assert (picture[:, :2] == 255).all(), "its left edge is empty"


def test_a_picture_s_title_is_the_file_s_name_whatever_signs_are_in_it(rig: Rig) -> None:
    Path(r"a$\foo$.csv").write_text(Path("group.csv").read_text())
    answer = rig("stats", "group", r"a$\foo$.csv", "--plot", "group.pdf")
    assert (answer.status, answer.err) == (0, "wrote group.pdf\n")
    assert r"a$\foo$.csv: 20 shots" in pypdf.PdfReader("group.pdf").pages[0].extract_text()


def test_signs_of_the_file_s_name_that_the_title_s_font_has_not_are_marked(rig: Rig) -> None:
    Path("本 2.csv").write_text(Path("group.csv").read_text())
    answer = rig("stats", "group", "本 2.csv", "--plot", "group.pdf")
    assert (answer.status, answer.err) == (0, "wrote group.pdf\n")
    assert "\ufffd 2.csv: 20 shots" in pypdf.PdfReader("group.pdf").pages[0].extract_text()


def test_bad_rows_are_named_and_left_out_when_asked(rig: Rig) -> None:
    Path("slips.csv").write_text("x,y\n1,2\n3,abc\n4,1\n")
    refused = rig("stats", "group", "slips.csv", "--json")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.startswith('rig: slips.csv: line 3, y: found "abc", expected a number')
    taken = rig("stats", "group", "slips.csv", "--json", "--skip-bad-rows")
    assert taken.status == 0
    assert taken.err == 'rig: slips.csv: left out: line 3, y: found "abc", expected a number\n'
    assert json.loads(taken.out)["n"] == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("group", "group.csv", "--plot", "group.gif"), "expected a name that ends in .png, .svg or .pdf"),
        (
            ("group", "group.csv", "--plot", "nowhere/group.png"),
            "nowhere/group.png cannot be written: No such file or directory",
        ),
        (
            ("group", "group.csv", "--radius", "-1"),
            "found -1 mm, expected a number above 0, at most 20000 mm",
        ),
        (
            ("group", "group.csv", "--radius", "inf"),
            "found inf mm, expected a number above 0, at most 20000 mm",
        ),
        (
            ("group", "group.csv", "--radius", "1e300"),
            "found 1e+300 mm, expected a number above 0, at most 20000",
        ),
        (("group", "plain.csv", "--radius", "nan"), "found nan, expected a number above 0, at most 1e+06"),
        (("group", "group.csv", "--unit", "cm"), "which says mm, expected cm"),
        (("group", "group.csv", "--unit", "furlong"), "--unit: found 'furlong', expected mm, cm, m or in"),
        (("group", "."), "found a folder, expected a file that can be read"),
        (("compare", "group.csv"), "takes 2 groups or more; there is 1"),
        (("compare", "group.csv", "plain.csv"), "plain.csv: line 1: found no unit, expected mm"),
        (("--by", "weather"), "--by: found 'weather', expected target, distance, "),
        ((), "there is no log here"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(rig: Rig, words: tuple[str, ...], said: str) -> None:
    answer = rig("stats", *words)
    assert answer.status == 2
    assert said in answer.err.splitlines()[-1]
    assert answer.err.splitlines()[-1].startswith("rig: ")


@pytest.mark.parametrize(
    "words",
    [
        ("group", "group.csv", "--radius", "10"),
        (
            "compare",
            "group.csv",
            "a group of the spring tournament, second evening, without the wild shots.csv",
        ),
        ("--by", "target"),
    ],
)
def test_a_narrow_terminal_cuts_no_figure_off(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    _log_two_shots()
    shutil.copy("group.csv", "a group of the spring tournament, second evening, without the wild shots.csv")

    def tables(columns: int) -> list[str]:
        """Give the words of every line, as the remarks below the tables are broken at other places."""
        monkeypatch.setenv("COLUMNS", str(columns))
        return rig("stats", *words).out.split()

    wide, narrow = tables(200), tables(40)
    assert "…" not in "".join(narrow)
    assert [word for word in narrow if word.strip("─")] == [word for word in wide if word.strip("─")]


def test_groups_are_compared(rig: Rig) -> None:
    Path("tight.csv").write_text("x_mm,y_mm\n0,0\n1,0\n0,1\n1,1\n0.5,2\n")
    said = json.loads(rig("stats", "compare", "group.csv", "tight.csv", "--json").out)
    assert [group["n"] for group in said["groups"]] == [20, 5]
    assert said["same_sigma_p"] < 0.001
    assert said["sigma_ratio_ci"][1] < 1
    words = rig("stats", "compare", "group.csv", "tight.csv").out
    assert "sigmas: they differ (F ratio" in words


def test_distances_that_are_all_alike_are_not_said(rig: Rig) -> None:
    Path("first.csv").write_text("x_mm,y_mm\n0,0\n2,0\n")
    Path("second.csv").write_text("x_mm,y_mm\n5,5\n5,7\n")
    answer = rig("stats", "compare", "first.csv", "second.csv", "--json")
    assert answer.status == 0
    assert json.loads(answer.out)["same_radii_p"] is None
    words = rig("stats", "compare", "first.csv", "second.csv")
    assert words.out.splitlines()[-1] == "distances from the centres: not said, they are all alike"
    assert words.err == ""


def test_a_file_name_with_square_brackets_is_shown_as_it_is(rig: Rig) -> None:
    name = shutil.copy("group.csv", "group [old].csv")
    assert name in rig("stats", "compare", name, "group.csv").out


def test_hits_over_the_log_in_words_json_csv_and_a_picture(rig: Rig) -> None:
    _log_two_shots()
    words = rig("stats", "--by", "target", "--csv", "hits.csv", "--plot", "hits.svg")
    assert words.status == 0
    assert "50 % (9-91)" in words.out
    assert words.err == "wrote hits.csv\nwrote hits.svg\n"
    assert Path("hits.svg").stat().st_size > 1000
    said = json.loads(rig("stats", "--by", "target", "--json").out)
    assert (said["all"]["shots"], said["all"]["hit"], said["by"]["target"][0]["name"]) == (2, 1, "G-49")
    with Path("hits.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert math.isclose(float(rows[0]["hit_rate"]), 0.5)


def test_a_log_without_a_shot_fired_has_nothing_to_count(rig: Rig) -> None:
    with open_log(Path("rig-log.sqlite")) as log:
        log.end_session(log.start_session(START), "done")
    answer = rig("stats")
    assert answer.status == 1
    assert answer.err == "rig: no shot of the log has left the cannon; there is nothing to count\n"
