"""`make bench` finds something to measure in every module that it imports, and who is told of a module finds it.

What it says of a promise is true, and its programs refuse what they cannot work with in one line.
"""

import ast
import importlib
import importlib.util
import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import _tables, eye
from benchmarks.__main__ import main as bench
from benchmarks.figure import Figure
from benchmarks.registration import place
from rig.recording import RecordingError

ROOT = Path(__file__).parents[2]
MODULES = {
    path.stem: path
    for path in (ROOT / "benchmarks").glob("*.py")
    if path.stem not in ("__init__", "__main__")
}
TALKED_OF = re.compile(r"\bbenchmarks[./](?!__)(\w+)")


@pytest.mark.parametrize(
    "name", sorted(name for name in MODULES if not name.startswith("_") and name != "figure")
)
def test_every_benchmark_can_be_measured(name: str) -> None:
    """Whatever else lies in the folder has a name with an underscore before it, so that `make bench` passes it by."""
    defined = ast.parse(MODULES[name].read_text(encoding="utf-8")).body
    assert "measure" in {part.name for part in defined if isinstance(part, ast.FunctionDef)}


def test_every_benchmark_that_is_talked_of_exists() -> None:
    """A page or a docstring that names a module of this folder names one that is there."""
    told = [
        (path.relative_to(ROOT), name)
        for folder, ending in (("docs", "*.md"), ("vision", "*.py"), ("rig", "*.py"), ("benchmarks", "*.py"))
        for path in sorted((ROOT / folder).rglob(ending))
        for name in TALKED_OF.findall(path.read_text(encoding="utf-8"))
    ]
    assert told
    assert [(str(path), name) for path, name in told if name not in MODULES] == []


@pytest.mark.parametrize(
    ("value", "at_least", "at_most", "met"),
    [
        (9.0, None, 1.0, True),
        (10.0, None, 1.0, True),
        (10.1, None, 1.0, False),
        (9.9, 1.0, None, False),
        (10.0, 1.0, None, True),
        (9.6, 0.97, 1.03, False),
        (10.2, 0.97, 1.03, True),
        (10.4, 0.97, 1.03, False),
        (99.0, None, None, None),
    ],
)
def test_a_figure_says_whether_its_promise_is_met(value, at_least, at_most, met) -> None:
    figure = Figure("a", value, "ms", "peer", 10.0, at_least=at_least, at_most=at_most)
    assert figure.met is met
    assert (figure.promise == "") is (met is None)
    assert figure.as_json()["met"] is met


@pytest.mark.parametrize(
    ("value", "peer_value"), [(math.nan, 1.0), (math.inf, 1.0), (1.0, 0.0), (1.0, math.nan)]
)
def test_a_figure_of_nothing_is_refused(value: float, peer_value: float) -> None:
    with pytest.raises(ValueError, match="nothing was measured"):
        Figure("a", value, "ms", "peer", peer_value)


def test_the_table_names_the_promises_that_are_broken(monkeypatch, capsys) -> None:
    figures = [
        Figure("slow", 12.0, "ms", "limit", 10.0, at_most=1.0),
        Figure("quick", 2.0, "ms", "limit", 10.0, at_most=1.0),
        Figure("big", 12.0, "MB", "peer", 10.0),
    ]
    monkeypatch.setattr("benchmarks.shot.measure", lambda: figures)
    bench(["shot", "shot"])
    said = capsys.readouterr().out
    assert "2 promises, 1 of them not met" in said
    assert "not met: slow: 1.2, promised at most 1" in said


def test_the_table_cuts_no_word_off_however_long(monkeypatch, capsys) -> None:
    peer = "the_rules_page_spelled_out_plainly_in_tests/unit/game/slow_rules.py"
    monkeypatch.setattr("benchmarks.shot.measure", lambda: [Figure("quick", 2.0, "ms", peer, 10.0)])
    bench(["shot"])
    assert "…" not in capsys.readouterr().out


@pytest.fixture
def run(monkeypatch, capsys) -> Callable[..., tuple[int, str, str]]:
    """Run the program of a module; give its exit status and what it says, to be read and to be warned by."""

    def run(module: str, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", [module, *arguments])
        with pytest.raises(SystemExit) as ended:
            importlib.import_module(module).main()
        said = capsys.readouterr()
        code = ended.value.code
        return (
            (1, said.out, f"{said.err}{code}") if isinstance(code, str) else (code or 0, said.out, said.err)
        )

    return run


@pytest.mark.parametrize(
    "module", ["benchmarks.__main__", "benchmarks.eye", "benchmarks._fall_table", "benchmarks._train_sides"]
)
def test_help_is_given(run, module: str) -> None:
    status, said, _ = run(module, "--help")
    assert status == 0
    assert f"usage: python -m {module.removesuffix('.__main__')}" in said


@pytest.mark.parametrize(
    ("module", "arguments", "says"),
    [
        ("benchmarks.__main__", ["nothing"], "there is no nothing"),
        ("benchmarks.eye", ["nowhere"], "nowhere: no folder in it with a recording"),
        ("benchmarks._fall_table", ["many"], "invalid int value: 'many'"),
        ("benchmarks._fall_table", ["0"], "expected 1 or more"),
        ("benchmarks._fall_table", ["1", "--out", "nowhere/table.json"], "nowhere: there is no such folder"),
        ("benchmarks._film_stills", ["README.md"], "README.md: is no folder"),
        ("benchmarks._train_sides", ["nowhere"], "nowhere: no recordings with their truth"),
        ("benchmarks._fall_cases", ["nowhere"], "nowhere: no recordings with their truth"),
        ("benchmarks._train_followers", ["nowhere"], "nowhere"),
        ("benchmarks._train_followers", ["README.md"], "README.md: not as benchmarks._fall_cases writes it"),
    ],
)
def test_what_cannot_be_worked_with_is_refused_in_a_line(run, monkeypatch, module, arguments, says) -> None:
    monkeypatch.chdir(ROOT)
    status, _, warned = run(module, *arguments)
    assert status in {1, 2}
    assert says in warned.splitlines()[-1]


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="PyTorch is here")
@pytest.mark.parametrize("module", ["_train_feet", "_train_fates", "_train_stands_there", "_mean_network"])
def test_who_has_no_pytorch_is_told_what_to_install(module: str) -> None:
    refused = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{module}", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1
    assert len(refused.stderr.splitlines()) == 1
    assert "pip install -e '.[train]'" in refused.stderr


def test_a_recording_that_is_not_read_counts_as_not_right(tmp_path: Path, monkeypatch, capsys) -> None:
    """It is said which one it is, and the others are read all the same."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "truth.json").write_text("{}", encoding="utf-8")

    def score(place: Path) -> eye.Score:
        if place.name == "one":
            raise RecordingError(place, "the clip is too short")
        return eye.Score(place.name, True, True, (), False, None, (0, 0, 0), None)

    monkeypatch.setattr(eye, "score", score)
    eye.tell(tmp_path)
    said = capsys.readouterr()
    assert "the clip is too short" in said.err
    assert "2 recordings, 1 of them not read" in said.out
    assert "exactly the right falls      50.0%" in said.out


def test_where_no_recording_is_read_nothing_is_scored(run, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "truth.json").write_text("{}", encoding="utf-8")
    status, said, warned = run("benchmarks.eye", str(tmp_path))
    assert status == 1
    assert said == ""
    assert "no folder in it with a recording" in warned


def test_a_table_is_placed_alike_whatever_was_looked_at_before() -> None:
    case = "corners clicked, lens known"
    first = place(case, 0)
    again = place(case, 0)
    assert first is not None
    assert again is not None
    assert (first.off_mm == again.off_mm).all()


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    """Names of recordings, which is all that is looked at before the first is read."""
    for number in range(60):
        (tmp_path / "shots" / f"clip-{number:05d}").mkdir(parents=True)
        (tmp_path / "shots" / f"clip-{number:05d}" / "truth.json").write_text("{}", encoding="utf-8")
    return tmp_path / "shots"


@pytest.mark.parametrize(
    ("further", "says"),
    [
        (["--disorders", "-1"], "--disorders -1: expected 0 or more"),
        (["--out", "nowhere"], "nowhere: there is no such folder"),
        (["--go-on", "--out", "."], "feet.onnx: there is no network to go on from"),
        (["nowhere"], "nowhere: no recordings with their truth"),
    ],
)
def test_what_cannot_be_learnt_is_refused_before_anything_is_filmed(
    monkeypatch, capsys, tmp_path, recordings, further, says
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["_train_feet.py", str(recordings), *further])
    with pytest.raises(SystemExit):
        _tables.asked("", "vision/soldiers/feet.onnx")
    assert says in capsys.readouterr().err.splitlines()[-1]


def test_where_nothing_would_be_held_back_nothing_is_learnt(monkeypatch, capsys, recordings) -> None:
    """A fifth is measured on: of few recordings that may be none, and its figures would be of nothing."""
    for folder in sorted(recordings.iterdir())[4:]:
        (folder / "truth.json").unlink()
    monkeypatch.setattr(sys, "argv", ["_train_fates.py", str(recordings), "--disorders", "0"])
    with pytest.raises(SystemExit):
        _tables.asked("", "vision/falls/upright.onnx")
    assert "4 recordings are too few" in capsys.readouterr().err


def test_a_recording_is_learnt_from_or_held_back(monkeypatch, recordings) -> None:
    monkeypatch.setattr(sys, "argv", ["_train_feet.py", str(recordings), "--disorders", "0"])
    given = _tables.asked("", "vision/soldiers/feet.onnx")
    cases = [SimpleNamespace(recording=truth.parent.name) for truth in given.truths for _ in range(3)]
    learnt, held_back = ({case.recording for case in part} for part in _tables.parted(cases))
    assert len(learnt | held_back) == 60
    assert not learnt & held_back
    assert 6 <= len(held_back) <= 18
    assert given.out == ROOT / "vision" / "soldiers"
