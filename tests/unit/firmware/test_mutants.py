"""A few of the mutants that `make -C firmware mutate` makes, always the same ones: each is noticed by something."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MUTATE = [sys.executable, str(ROOT / "firmware" / "mutate.py")]


def test_no_mutant_of_the_sample_survives() -> None:
    run = subprocess.run([*MUTATE, "--sample", "4"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    *lines, last = run.stdout.splitlines()
    assert len(lines) == 8
    assert last.startswith("8 made, 8 killed; ")


def mutate_with(test: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Make one mutant in a copy of the project with one module of tests and an explorer that is always content."""
    tests = tmp_path / "tests" / "unit" / "firmware"
    tests.mkdir(parents=True)
    shutil.copytree(ROOT / "firmware", tmp_path / "firmware", ignore=shutil.ignore_patterns("fuzz", "proof"))
    built = Path("build") / "firmware"
    (tmp_path / built).mkdir(parents=True)
    shutil.copy(ROOT / built / "libcannon.so", tmp_path / built)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copy(ROOT / "tests" / "unit" / "firmware" / "cannon_host.py", tests)
    (tests / "test_nothing.py").write_text(test)
    (tmp_path / "firmware" / "host" / "explore.c").write_text(
        '#include "board.c"\nint main(void) { return 0; }\n'
    )
    mutate = [sys.executable, str(tmp_path / "firmware" / "mutate.py"), "--only", "cells", "--sample", "1"]
    return subprocess.run(mutate, capture_output=True, text=True, check=False)


def test_mutant_that_nothing_notices_fails_the_run(tmp_path: Path) -> None:
    run = mutate_with("import cannon_host\n\n\ndef test_nothing():\n    pass\n", tmp_path)
    assert run.returncode == 1, run.stderr
    first, last = run.stdout.splitlines()
    assert first.startswith("SURVIVES")
    assert last == "1 made, 0 killed; 1 SURVIVES"


def test_tests_that_cannot_be_imported_are_an_error_and_no_mutant_survives_for_want_of_them(
    tmp_path: Path,
) -> None:
    run = mutate_with("import cannon_host\nimport nowhere_to_be_found\n", tmp_path)
    assert run.returncode == 1
    assert run.stdout == ""
    assert "test_nothing.py cannot be collected" in run.stderr
    assert "No module named 'nowhere_to_be_found'" in run.stderr
