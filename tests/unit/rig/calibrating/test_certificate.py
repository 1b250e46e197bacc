"""Measured ranges, read; the certificate of range, in words, as PDF and HTML (issue: the spec)."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pypdf
import pytest

from calibration.range_spec import RangeSpec
from rig.calibrating.certificate import Certificate, certify
from rig.calibrating.range_file import RangeFileError, read_ranges, read_tape
from rig.cli import main
from rig.files.length_unit import LengthUnit
from rig.report.certificate import certificate_page, write_certificate_html, write_certificate_pdf

GOOD = "648,655,651,660,642,659,650,647"


def certified(tape: str = GOOD, **changes: object) -> Certificate:
    given = {"certainty": 0.9, "cannon": "Cannon 3", "set_up": (("elevation", "42°"),), **changes}
    return certify(read_tape(tape), RangeSpec(), issued=date(2026, 11, 21), **given)


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "ranges.csv"
    path.write_text(text, encoding="utf-8")
    return path


# Reading


def test_a_tape_is_in_cm():
    read = read_tape("648, 655.5,651")
    assert read.ranges_m == pytest.approx((6.48, 6.555, 6.51))
    assert read.shot_numbers == (1, 2, 3)
    assert read.dwell_s is None


@pytest.mark.parametrize(
    ("header", "values", "unit"),
    [
        ("range_cm", (648, 655), "cm"),
        ("range_m", (6.48, 6.55), "m"),
        ("Range_mm", (6480, 6550), "mm"),
        ("range", (648, 655), "cm"),
    ],
)
def test_a_file_says_its_unit_in_the_header(tmp_path, header, values, unit):
    path = written(tmp_path, f"note,{header}\n" + "\n".join(f"x,{value}" for value in values))
    read = read_ranges(path)
    assert read.ranges_m == pytest.approx((6.48, 6.55))
    assert read.unit == unit


def test_shot_numbers_and_dwell_are_read(tmp_path):
    read = read_ranges(written(tmp_path, "shot,range_cm,dwell_s\n41,648,5\n\n42,655,12.5\n"))
    assert read.shot_numbers == (41, 42)
    assert read.dwell_s == (5, 12.5)


def test_a_file_of_the_calibration_is_read_as_it_is(tmp_path):
    text = "elevation_deg,range_cm,gate_mps,dwell_s,shots_before\n42,648,9.6,5,0\n42,655,9.7,12,1\n"
    read = read_ranges(written(tmp_path, text))
    assert read.shot_numbers == (1, 2)
    assert read.dwell_s == (5, 12)
    assert read.elevation_deg == 42


def test_a_dwell_that_was_not_always_noted_is_none(tmp_path):
    assert read_ranges(written(tmp_path, "range_cm,dwell_s\n648,5\n655,\n")).dwell_s is None


def test_ranges_of_two_elevations_are_no_one_set_up(tmp_path):
    with pytest.raises(
        RangeFileError, match=r"found 20, 42, expected one elevation: .* \(give .* a file of their own\)"
    ):
        read_ranges(written(tmp_path, "elevation_deg,range_cm\n42,648\n20,500\n42,650\n"))


@pytest.mark.parametrize(
    ("tape", "sentence"),
    [
        (
            "6.48,6.55,6.51",
            r"about 6\.51, read as cm, expected ranges of 200 to 2000 cm.*are they in m\? then say --unit m",
        ),
        ("6480,6550,6510", r"are they in mm\? then say --unit mm"),
        ("648,6.55,651,650", r"number 2, range: found 6\.55 cm, .*is it in m\?"),
        ("648,655,651,6500", r"number 4, range: .*is it in mm\?"),
        ("648,2000,651,650", "if it was a wild shot, leave it out"),
        ("648 655 651", r'found "648 655 651", expected a range, as 648.5 \(ranges are parted by commas\)'),
        ("648,,651", "number 2: found nothing, expected a range"),
        ("648,nan,651", 'number 2: found "nan"'),
        ("1e300,2e300,3e300", "if they are right, say --unit"),
        ("0,0,0", "if they are right, say --unit"),
    ],
)
def test_ranges_in_another_unit_and_slips_of_the_pen_are_asked_back(tape, sentence):
    with pytest.raises(RangeFileError, match=sentence):
        read_tape(tape)


def test_who_says_the_unit_is_believed():
    assert read_tape("1.2,1.3,1.25", unit=LengthUnit.M).ranges_m == (1.2, 1.3, 1.25)


@pytest.mark.parametrize(
    ("text", "unit", "sentence"),
    [
        (
            "range_cm\n6.48\n6.55\n",
            "cm",
            "are they in m? then call the column range_m; if they are right, say --unit cm",
        ),
        ("range_m\n648\n655\n", "m", "are they in cm? then call the column range_cm"),
        ("range_mm\n648\n655\n", "mm", "are they in cm? then call the column range_cm"),
    ],
)
def test_a_column_whose_name_says_another_unit_than_its_ranges_is_asked_back(tmp_path, text, unit, sentence):
    """The name of a column is copied; `--unit` is said on purpose."""
    path = written(tmp_path, text)
    with pytest.raises(RangeFileError, match=re.escape(sentence)):
        read_ranges(path)
    if unit != "m":
        assert len(read_ranges(path, unit=LengthUnit(unit)).ranges_m) == 2


def test_a_cannon_that_shoots_short_is_believed_where_the_column_says_the_unit(tmp_path):
    """Level, it shoots about a metre."""
    assert read_ranges(written(tmp_path, "range_cm\n98\n95\n")).ranges_m == pytest.approx((0.98, 0.95))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "nothing in it"),
        ("range_cm\n", "no rows below the header"),
        ("648\n655\n", "expected a column range_cm"),
        ("range_cm,range_m\n1,2\n", "two columns of range"),
        ("range_furlong\n1\n", "expected a unit of length: mm, cm, m, in"),
        (
            "range_cm\n648,655\n651\n",
            r"line 2: found 2 cells, expected 1, as the header has \(write decimals",
        ),
        ('range_cm,dwell_s\n"648,5",3\n', "write decimals with a point"),
        (
            "range_cm,elevation_deg\n648,300\n655,300\n651,300\n",
            "line 2, elevation_deg: found 300, expected degrees",
        ),
        ("range_cm\n648\nabc\n650", 'line 3, range: found "abc", expected a number'),
        ("range_cm,dwell_s\n648,3\n650", "line 3: found 1 cell, expected 2"),
        ("range_cm,dwell_s\n648,3\n650,-5", "line 3, dwell_s: found -5"),
        ("range_cm,shot\n648,3\n650,-5", "line 3, shot: found -5"),
    ],
)
def test_a_bad_file_says_what_is_wrong_and_where(tmp_path, text, sentence):
    with pytest.raises(RangeFileError, match=sentence):
        read_ranges(written(tmp_path, text))


def test_a_shot_that_was_not_measured_tells_how_to_use_the_others(tmp_path):
    """`rig calibrate fire` leaves the range empty where nobody measured it."""
    path = written(
        tmp_path, "elevation_deg,range_cm,gate_mps,dwell_s\n42,648,9.6,3\n42,,9.7,3\n42,650,9.6,3\n"
    )
    with pytest.raises(
        RangeFileError, match=r"line 3, range: found nothing, .* \(--skip-bad-rows uses the others\)"
    ):
        read_ranges(path)
    assert len(read_ranges(path, skip_bad_rows=True).ranges_m) == 2


def test_a_shot_whose_range_is_still_open_is_told_as_calibrate_tells_it(tmp_path):
    path = written(tmp_path, "elevation_deg,range_cm,gate_mps,dwell_s\n42,648,9.6,3\n42,?,,\n42,650,9.6,3\n")
    with pytest.raises(RangeFileError, match=r"line 3, range_cm: found \? for shot 2, .* expected its range"):
        read_ranges(path)
    assert len(read_ranges(path, skip_bad_rows=True).ranges_m) == 2


def test_a_bad_row_is_left_out_only_if_told_so(tmp_path):
    path = written(tmp_path, "range_cm\n648\nabc\n650\n6.5\n")
    with pytest.raises(RangeFileError) as refused:
        read_ranges(path)
    assert str(refused.value.faults[-1]).endswith("(is it in m?; --skip-bad-rows uses the others)")
    read = read_ranges(path, skip_bad_rows=True)
    assert read.ranges_m == pytest.approx((6.48, 6.5))
    assert [fault.key for fault in read.skipped] == ["line 3, range", "line 5, range"]
    assert read.shot_numbers == (1, 3), "what is left out was a shot of the spring all the same"


def test_no_file_a_folder_and_binary(tmp_path):
    with pytest.raises(RangeFileError, match="the file: found nothing"):
        read_ranges(tmp_path / "none.csv")
    with pytest.raises(RangeFileError, match="a file that can be read"):
        read_ranges(tmp_path)
    (tmp_path / "b.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RangeFileError, match="not UTF-8"):
        read_ranges(tmp_path / "b.csv")


def test_a_header_and_an_option_that_disagree_are_refused(tmp_path):
    with pytest.raises(RangeFileError, match="which says m, expected cm, as asked for"):
        read_ranges(written(tmp_path, "range_m\n6.5\n"), unit=LengthUnit.CM)


# In words


@pytest.mark.parametrize(
    ("tape", "headline", "where"),
    [
        (GOOD, "This cannon meets 650 cm within 5 %.", "lies wholly inside"),
        ("548,555,551,560,542", "This cannon does not meet 650 cm within 5 %.", "lies wholly outside"),
        (
            "600,720,650",
            "Not enough shots to say whether this cannon meets 650 cm within 5 %.",
            "crosses an edge of",
        ),
    ],
)
def test_the_verdict_in_words(tape, headline, where):
    certificate = certified(tape)
    assert certificate.headline == headline
    assert where in certificate.sentences[0]


def test_how_many_shots_it_takes_or_that_none_do():
    assert "in 90 % of all trials with" in certified("600,720,650").sentences[1]
    assert "no number of shots" in certified("548,555,551,560,542").sentences[1]
    just_inside = "670,690,682,684,682.5,678,690,682.4"
    assert "so near an edge" in certified(just_inside).sentences[1]
    assert "more than 10,000 shots" in certified(just_inside).sentences[1]


def test_drift_and_dwell_in_words(tmp_path):
    rows = "".join(f"{n},{660 - 1.2 * n + (n % 3)},{(7 * n) % 31}\n" for n in range(1, 25))
    read = read_ranges(written(tmp_path, "shot,range_cm,dwell_s\n" + rows))
    certificate = certify(read, RangeSpec(), certainty=0.9, cannon="c", set_up=(), issued=date(2026, 11, 21))
    assert certificate.sentences[2].startswith("The range falls from shot to shot: -1.2 cm for a shot")
    assert certificate.sentences[3].startswith("No change with the time it stands cocked is shown")
    assert "the time cocked was not noted" in certified().sentences[3]


def test_a_wild_shot_in_words():
    assert any(
        "Shot 4 went 320.0 cm, wild" in said
        for said in certified("648,655,651,320,642,659,650,647,652").sentences
    )


def test_of_shots_that_are_alike_without_the_extremes_no_interval_is_told_in_words_or_drawn():
    certificate = certified("648,651,651,651,660")
    assert (
        "without the extreme fifths",
        "651.0 cm; no interval, as these are all the same",
    ) in certificate.figures
    axes, *_ = certificate_page(certificate).axes
    assert [len(line.get_xdata()) for line in axes.lines if set(line.get_ydata()) == {-1}] == [1], (
        "the mean alone"
    )


# On paper


def test_the_pdf_is_one_page_with_the_verdict_the_inputs_and_the_versions(tmp_path):
    path = tmp_path / "certificate.pdf"
    write_certificate_pdf(certified(), path)
    pdf = pypdf.PdfReader(path)
    assert len(pdf.pages) == 1
    text = pdf.pages[0].extract_text()
    for said in ("Cannon 3", "meets 650 cm", "42°", "660.0", "numpy"):
        assert said in text
    again = tmp_path / "again.pdf"
    write_certificate_pdf(certified(), again)
    assert again.read_bytes() == path.read_bytes()


def test_the_html_says_the_same_and_needs_no_other_file(tmp_path):
    path = tmp_path / "certificate.html"
    write_certificate_html(certified(cannon="<b>Cannon</b>"), path)
    text = path.read_text(encoding="utf-8")
    assert "This cannon meets 650 cm within 5 %." in text
    assert "<b>Cannon</b>" not in text
    assert "<svg" in text
    assert "src=" not in text
    for sentence in certified().sentences:
        assert sentence.split(":")[0] in text


def test_many_shots_fit_on_the_page(tmp_path):
    write_certificate_pdf(
        certified(",".join(str(640 + n * 7 % 23) for n in range(400))), tmp_path / "certificate.pdf"
    )
    assert len(pypdf.PdfReader(tmp_path / "certificate.pdf").pages) == 1


# So near an edge that it takes a thousand shots; and more shots fired than it takes.
@pytest.mark.parametrize(
    "tape", ["676,680,683,690,675,687.4", ",".join(f"{640 + n * 7 % 23}" for n in range(500))]
)
def test_the_chance_of_meets_is_drawn_beyond_the_shots_that_were_fired_and_those_that_it_takes(tape):
    certificate = certified(tape)
    needed = certificate.finding.shots_for(0.9)
    page = certificate_page(certificate)
    (chance,) = [axes for axes in page.axes if axes.get_title().startswith("chance")]
    assert chance.get_xlim()[1] > max(certificate.finding.shots, needed)
    words = [text.get_text() for text in chance.get_legend().get_texts()]
    assert f"{certificate.finding.shots} fired" in words
    assert not chance.texts, "nothing that the legend could cover"


@pytest.mark.parametrize("shots", [10, 40, 80, 400])
def test_however_many_inputs_there_are_no_words_run_into_others_or_off_the_page(tmp_path, shots):
    rows = [f"{640 + n * 7 % 23},{10 + n % 7}.5" for n in range(shots)]
    rows[4] = "330,14.5"  # so wild that a sentence is said of it
    read = read_ranges(written(tmp_path, "range_cm,dwell_s\nnone,3\n" + "\n".join(rows)), skip_bad_rows=True)
    certificate = certify(
        read,
        RangeSpec(),
        certainty=0.9,
        cannon="Cannon 3",
        set_up=(("elevation", "42°"), ("height of a level muzzle", "5 cm")),
        issued=date(2026, 11, 21),
    )
    page = certificate_page(certificate)
    page.draw_without_rendering()
    boxes = [(text.get_text(), text.get_window_extent()) for text in page.texts]
    assert any(said.startswith("Cocked before each, in s: 10.5, 11.5") for said, _ in boxes)
    for index, (said, box) in enumerate(boxes):
        assert page.bbox.y0 < box.y0 < box.y1 < page.bbox.y1, f"{said[:40]!r} runs off the page"
        for other, beside in boxes[index + 1 :]:
            assert not box.overlaps(beside), f"{said[:40]!r} runs into {other[:40]!r}"


def test_a_cannon_s_name_is_printed_as_it_is_whatever_signs_are_in_it(tmp_path):
    path = tmp_path / "certificate.pdf"
    write_certificate_pdf(certified(cannon=r"$\foo$ and a_b^c"), path)
    assert r"$\foo$ and a_b^c" in pypdf.PdfReader(path).pages[0].extract_text()


# At the terminal


def test_the_command_says_the_verdict_and_writes_the_files(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (
        main(["certificate", "--tape", GOOD, "--elevation", "42", "--pdf", "c.pdf", "--html", "c.html"]) == 0
    )
    out, err = capsys.readouterr()
    assert out.startswith("This cannon meets 650 cm within 5 %.\n")
    assert err == "wrote c.pdf\nwrote c.html\n"
    assert "42°" in Path("c.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--tape", "648"], "1 range cannot show how the shots scatter"),
        (["--tape", "648,648,648"], "all 3 ranges are the same"),
        (["--tape", "6.48,6.5,6.6"], "say --unit m"),
        ([], "either as a CSV file or by --tape"),
        (["none.csv"], "none.csv: the file: found nothing"),
        (["--tape", GOOD, "--margin", "0"], "margin"),
        (
            ["--tape", GOOD, "--cannon", "\udcff", "--html", "c.html"],
            r"found '\udcff', expected a name that can be printed",
        ),
        (["--tape", GOOD, "--cannon", "\u200b"], r"found '\u200b', expected a name that can be printed"),
        (
            ["--tape", GOOD, "--pdf", "no/such/folder.pdf"],
            "no/such/folder.pdf cannot be written: No such file",
        ),
    ],
)
def test_the_command_refuses_with_one_line(words, sentence, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["certificate", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert sentence in line


def test_an_elevation_that_file_and_option_tell_otherwise_is_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "range_cm,elevation_deg\n648,42\n655,42\n651,42\n")
    assert main(["certificate", "ranges.csv", "--elevation", "30"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "rig: ranges.csv: elevation_deg: found 42, expected 30, as --elevation says"
    assert main(["certificate", "ranges.csv", "--elevation", "42"]) == 0


def test_an_elevation_in_radians_is_asked_back_and_a_low_one_is_not(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "range_cm,elevation_deg\n648,0.726\n655,0.726\n651,0.726\n")
    said = "found an elevation of 0.726 degrees with ranges near 651 cm: is it in radians? it is given in degrees"
    for words, name in (
        (["ranges.csv"], "ranges.csv"),
        (["--tape", "648,655,651", "--elevation", "0.726"], "--tape"),
    ):
        assert main(["certificate", *words]) == 1
        assert capsys.readouterr().err == f"rig: {name}: {said}\n"
    for tape, elevation in (("128,131,125", "0.726"), ("128,131,125", "0"), ("648,655,651", "50")):
        assert main(["certificate", "--tape", tape, "--elevation", elevation, "--unit", "cm"]) == 0
    Path("rig.toml").write_text("cannon.muzzle_speed_mps = 20.0\n")
    assert main(["certificate", "ranges.csv"]) == 0, "such a cannon shoots so far nearly level"


def test_a_cannon_s_name_leaves_room_for_the_day_on_the_page(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["certificate", "--tape", GOOD, "--cannon", "W" * 60, "--pdf", "c.pdf"]) == 0
    assert f"{'W' * 60}, {date.today():%d %B %Y}" in pypdf.PdfReader("c.pdf").pages[0].extract_text()
    capsys.readouterr()
    for name, found in (("W" * 61, "a name of 61 letters, 'WWWWWWWWWWWWWWWWWWWW'..."), ("", "''")):
        assert main(["certificate", "--tape", GOOD, "--cannon", name, "--pdf", "c.pdf"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"rig: --cannon: found {found}, expected ")


def test_signs_that_the_page_s_font_has_not_are_marked_and_told_in_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["certificate", "--tape", GOOD, "--cannon", "日本語 3 日", "--pdf", "c.pdf"]) == 0
    err = capsys.readouterr().err
    assert (
        err
        == "wrote c.pdf\nrig: c.pdf: its font has not 日本語 of the cannon's name; --html shows all signs\n"
    )
    assert "\ufffd\ufffd\ufffd 3 \ufffd" in pypdf.PdfReader("c.pdf").pages[0].extract_text()
