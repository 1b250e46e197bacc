"""`rig game chart` as the secretary of a club has it."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest
from pypdf import PdfReader

from game.montecassino import Agreement, Battle, Column, Commanders, Shot, Side, Square, Turn
from rig.battle.file import read_battle, write_battle
from rig.cli import main

BATTLE = Battle.begin(
    Agreement(Side.A, players={Side.A: Commanders("Ana Ñandú"), Side.G: Commanders("Otto")})
)
for entry in (Turn.parse("A-17>A-25;A-18>A-26"), Turn.parse("G-17>G-25"), Shot((Square(Side.G, 25),))):
    BATTLE = BATTLE.play(entry)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_battle(Path("battle.json"), BATTLE)
    return tmp_path


def rig(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[str], list[str]]:
    """Give the exit status, and the lines on standard output and standard error."""
    status = main(["game", "chart", *words])
    captured = capsys.readouterr()
    return status, captured.out.splitlines(), captured.err.splitlines()


def test_a_battles_chart_is_shown(folder, capsys):
    status, out, err = rig(capsys, "battle.json")
    assert (status, err) == (0, [])
    assert out[0] == "Allies: Ana Ñandú"
    assert [line.split("|")[0].strip() for line in out[-4:]] == ["1", '"', "2", "3"]


def test_a_battle_that_comes_through_a_pipe_has_its_chart(folder, capsys):
    """As from the shell's `<(...)`: what was read of it once is not there again."""
    _, expected, _ = rig(capsys, "battle.json")
    reading, writing = os.pipe()
    os.write(writing, Path("battle.json").read_bytes())
    os.close(writing)
    try:
        assert rig(capsys, f"/dev/fd/{reading}") == (0, expected, [])
    finally:
        os.close(reading)


@pytest.mark.parametrize("name", ["chart.txt", "chart.csv"])
@pytest.mark.parametrize("language", ["en", "es", "it"])
def test_a_chart_written_is_read_back_to_the_battle(folder, capsys, name, language):
    assert rig(capsys, "battle.json", "--out", name, "--language", language) == (0, [f"wrote {name}"], [])
    assert rig(capsys, name, "--out", "again.json") == (0, ["wrote again.json"], [])
    assert read_battle(Path("again.json")) == BATTLE


def test_csv_opens_in_a_spreadsheet(folder, capsys):
    rig(capsys, "battle.json", "--out", "chart.csv", "--language", "es")
    raw = Path("chart.csv").read_bytes()
    assert raw.startswith(b"\xef\xbb\xbf")
    assert raw.count(b"\n") == raw.count(b"\r\n") > 10
    with Path("chart.csv").open(encoding="utf-8-sig", newline="") as file:
        cells = list(csv.reader(file, delimiter=";"))
    assert cells[0] == ["Aliados", "Ana Ñandú"]
    assert cells[-1] == ["3", "", "X", "-----", "-----", "-----", "-----", "G-25", "23"]


def test_a_sheet_is_printed_from_a_battle_or_a_chart_and_is_the_same(folder, capsys):
    rig(capsys, "battle.json", "--out", "chart.csv")
    assert rig(capsys, "battle.json", "--out", "one.pdf", "--language", "it")[0] == 0
    assert rig(capsys, "chart.csv", "--out", "two.pdf", "--language", "it")[0] == 0
    assert Path("one.pdf").read_bytes() == Path("two.pdf").read_bytes()
    assert "Caduti cannone" in PdfReader("one.pdf").pages[0].extract_text()


def test_a_blank_sheet_needs_no_battle(folder, capsys):
    assert rig(capsys, "--blank", "--out", "blank.pdf") == (0, ["wrote blank.pdf"], [])
    assert "Losses by cannon" in PdfReader("blank.pdf").pages[0].extract_text()


def test_bad_lines_are_named_and_go_along_and_give_no_battle(folder, capsys):
    rig(capsys, "battle.json", "--out", "chart.csv")
    text = Path("chart.csv").read_text(encoding="utf-8-sig")
    Path("chart.csv").write_text(text.replace("G-17", "G-71").replace(",A-25,", ",A-95,"))
    faults = [
        "chart.csv: line 14, To: found 'A-95', expected a square from A-01 to A-72 or G-01 to G-72",
        "chart.csv: line 14, nothing is played from here on, for this line cannot be read",
        "chart.csv: line 16, No. 2: legal in no position: G-71 to G-25 is not one step, and nobody jumps (M8)",
    ]
    status, out, err = rig(capsys, "chart.csv")
    assert (status, err) == (1, faults)
    assert any("A-95" in line for line in out)
    status, out, err = rig(capsys, "chart.csv", "--out", "again.json")
    assert (status, out) == (1, [])
    assert err == [*faults, "rig: no battle is written: not every row of the chart can be played"]
    assert not Path("again.json").exists()


def test_a_row_that_is_no_legal_turn_is_named_with_its_line_number_and_clause(folder, capsys):
    rig(capsys, "battle.json", "--out", "chart.txt")
    text = Path("chart.txt").read_text()
    Path("chart.txt").write_text(text.replace("G-17 ", "G-71 "))
    _, _, err = rig(capsys, "chart.txt")
    assert err == ["chart.txt: line 17, No. 2: not legal: there is no soldier of side G on G-71 (M1)"]


def test_a_miscount_is_named_and_the_battle_is_written(folder, capsys):
    rig(capsys, "battle.json", "--out", "chart.txt")
    text = Path("chart.txt").read_text()
    Path("chart.txt").write_text(text.replace("| 23", "| 22"))
    status, _, err = rig(capsys, "chart.txt", "--out", "again.json")
    assert (status, err) == (
        1,
        ["chart.txt: line 18, No. 3: Enemies on the field: found 22, expected 23"],
    )
    assert read_battle(Path("again.json")) == BATTLE


def test_a_chart_full_of_faults_names_the_first_and_counts_the_rest(folder, capsys):
    for lines, rest in ((500, "481 more faults"), (20, "1 more fault")):
        Path("long.txt").write_text("Allies: Ana\n" + "nonsense\n" * lines)
        _, _, err = rig(capsys, "long.txt")
        assert len(err) == 21
        assert err[-1] == f"long.txt: and {rest}"


@pytest.mark.parametrize(
    ("text", "line", "found", "more"),
    [
        ('# Settings\n\n[port]\nurl = "twin"\n', 1, "# Settings", "; 2 more lines like it"),
        ("\nelevation_deg,range_cm\n41.6,640\n", 2, "elevation_deg,range_cm", "; 1 more line like it"),
        ("shot from the hip\n", 1, "shot from the hip", ""),
        ("a\vb\nc\n", 1, "a\\u000bb", "; 1 more line like it"),
    ],
)
def test_a_file_of_another_kind_is_one_sentence_and_nothing_is_written(
    folder, capsys, text, line, found, more
):
    Path("other.txt").write_text(text)
    status, out, err = rig(capsys, "other.txt", "--out", "chart.csv")
    assert (status, out) == (2, [])
    expected = f"a battle file, or a chart with its 9 columns: {', '.join(Column)}"
    assert err == [f'rig: other.txt: line {line}: found "{found}", expected {expected}{more}']
    assert not Path("chart.csv").exists()


def test_a_lone_row_with_a_slip_is_taken_for_one_of_a_chart(folder, capsys):
    Path("row.txt").write_text("1 | X | | A-17 | A-92 | | | | 24\n")
    status, _, err = rig(capsys, "row.txt")
    assert status == 1
    assert err[0] == "row.txt: line 1, To: found 'A-92', expected a square from A-01 to A-72 or G-01 to G-72"


def test_a_start_that_cannot_be_is_named(folder, capsys):
    Path("won.txt").write_text("Start: G A01-A10 - 0/0 1/1 -\n")
    status, _, err = rig(capsys, "won.txt")
    assert status == 1
    assert err[0].startswith("won.txt: the battle cannot begin so: it is over at the start")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "rig: name a battle or a chart, or ask for a --blank sheet"),
        (["battle.json", "--blank"], "rig: name a battle or a chart, or ask for a --blank sheet"),
        (["--blank", "--format", "battle"], "rig: a blank sheet has no battle"),
        (["battle.json", "--format", "pdf"], "rig: a PDF goes into a file: add --out chart.pdf"),
        (["battle.json", "--out", "a.doc"], "rig: a.doc: a name in .txt, .csv, .pdf, .json says"),
        (["battle.json", "--out", "no/a.csv"], "rig: no/a.csv cannot be written: No such file or directory"),
        (["battle.json", "--out", "./battle.json", "--format", "csv"], "rig: --out: found battle.json"),
        (["battle.json", "--language", "fr"], "rig: --language: found 'fr', expected en, es or it"),
        (["nobody.csv"], "rig: nobody.csv: the file: found nothing, expected a battle file or a chart"),
        (["."], "rig: .: the file: found a folder, expected a battle file or a chart"),
        (["empty.csv"], "rig: empty.csv: the file: found no row, expected a battle file or a chart"),
        (["binary.csv"], "rig: binary.csv: byte 1: found what is not UTF-8, expected text in UTF-8"),
        (["broken.json"], "rig: broken.json: line 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_said_in_one_line(folder, capsys, words, said):
    Path("empty.csv").write_text("")
    Path("binary.csv").write_bytes(b"\xff\x00\xfe")
    Path("broken.json").write_text('{"format": ')
    status, out, err = rig(capsys, *words)
    assert (status, out) == (2, [])
    (line,) = err
    assert line.startswith(said)
