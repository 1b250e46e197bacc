"""Break the core in one place at a time and see whether something notices.

    python firmware/mutate.py [--every N] [--jobs N]

A mutant is the core with one cell of the state table other than it is, or one condition of a guard turned round. Each is
compiled for the PC in a folder of its own; then the explorer and the unit tests that need no chip are run on it until
one fails. What nothing notices is printed, and must be explained in SAFETY.md. With `--every N` only each Nth mutant is
made, always the same ones.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "firmware" / "core"

# Where the guards are, as opposed to arithmetic and the line's bytes.
GUARDED = (
    "interlocks.c",
    "guard.c",
    "guard.h",
    "inputs.c",
    "commands.c",
    "cannon.c",
    "lever.c",
    "receiver.h",
)
WORLDS = ("lever", "loader")
LONGEST_S = 300


@dataclass(frozen=True, slots=True)
class Mutant:
    """One file of the core as it must not be."""

    file: str
    what: str
    text: str


def cells() -> Iterator[Mutant]:
    """Every cell of the state table: a filled one refused, an empty one leading to safe (from safe: to ready)."""
    text = (CORE / "state_table.c").read_text(encoding="utf-8")
    header = (CORE / "state.h").read_text(encoding="utf-8")
    *events, _count = re.findall(r"^    (STATE_EVENT_\w+),", header, re.MULTILINE)
    shared = re.findall(r"\[(STATE_EVENT_\w+)\]", text[: text.index("static const")])
    for block in re.finditer(r"    \[WIRE_STATE_(\w+)\] = \{\n(.*?)    \},\n", text, re.DOTALL):
        state, body = block.groups()
        filled = re.findall(r"\[(STATE_EVENT_\w+)\]", body) + (shared if "SAFE_BY_ANY_STOP" in body else [])
        for event in events:
            other = "0" if event in filled else "TO(READY)" if state == "SAFE" else "TO(SAFE)"
            end = block.end(2)
            yield Mutant(
                "state_table.c",
                f"{state} x {event.removeprefix('STATE_EVENT_')} = {other}",
                f"{text[:end]}        [{event}] = {other},\n{text[end:]}",
            )


def closing(text: str, opening: int) -> int:
    """Where the parenthesis that opens there is closed."""
    depth = 0
    for at in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    raise ValueError("a parenthesis is never closed")


def conditions() -> Iterator[Mutant]:
    """Every condition of an `if` in the files that guard, turned round."""
    for file in GUARDED:
        text = (CORE / file).read_text(encoding="utf-8")
        for match in re.finditer(r"\bif (?=\()", text):
            end = closing(text, match.end())
            condition = text[match.end() : end + 1]
            line = text.count("\n", 0, match.start()) + 1
            what = f"{file}:{line}: not {' '.join(condition.split())}"
            yield Mutant(file, what, f"{text[: match.end()]}(!{condition}){text[end + 1 :]}")


def environment() -> dict[str, str]:
    """Give what the tests run under."""
    return os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}


def prepare(folder: Path) -> None:
    """Copy what the tests need, so that they find the mutant where they look for the core."""
    shutil.copytree(ROOT / "firmware", folder / "firmware")
    shutil.copytree(ROOT / "tests" / "unit" / "firmware", folder / "tests" / "unit" / "firmware")
    shutil.copy(ROOT / "tests" / "conftest.py", folder / "tests")
    shutil.copy(ROOT / "pyproject.toml", folder)


def killer(mutant: Mutant) -> str | None:
    """Say what notices: the compiler, the explorer, the unit tests (then the first that fails), or nothing."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as name:
        folder = Path(name)
        prepare(folder)
        (folder / "firmware" / "core" / mutant.file).write_text(mutant.text, encoding="utf-8")
        make = ["make", "-s", "-C", str(folder / "firmware"), "host", "WARNINGS=-w"]
        if subprocess.run(make, capture_output=True, check=False).returncode != 0:
            return "compiler"
        for world in WORLDS:
            explore = [str(folder / "build" / "firmware" / "explore"), world, "1"]
            try:
                run = subprocess.run(explore, capture_output=True, text=True, timeout=LONGEST_S, check=False)
            except subprocess.TimeoutExpired:
                return "explorer: never ends"
            if run.returncode != 0:
                return "explorer: " + (run.stdout.split(":")[0] or "crash")
        tests = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider"]
        only = [
            "--ignore=tests/unit/firmware/test_on_chip.py",
            "--ignore=tests/unit/firmware/test_explore.py",
        ]
        only += ["--ignore=tests/unit/firmware/test_safety_page.py", "tests/unit/firmware"]
        try:
            run = subprocess.run(
                tests + only,
                cwd=folder,
                env=environment(),
                capture_output=True,
                text=True,
                timeout=LONGEST_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "tests: never end"
        failed = re.search(r"FAILED \S+/(test_\w+\.py)", run.stdout)
        return None if run.returncode == 0 else f"tests: {failed.group(1) if failed else 'crash'}"


def main() -> int:
    """Make the mutants that are asked for, and count who notices."""
    parser = argparse.ArgumentParser(description="Break the core in one place at a time; see who notices.")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="make only each Nth mutant")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="so many at once")
    parser.add_argument("--only", choices=("cells", "conditions"), help="mutants of one kind")
    arguments = parser.parse_args()
    mutants = [*(cells() if arguments.only != "conditions" else ())]
    mutants += conditions() if arguments.only != "cells" else ()
    mutants = mutants[:: arguments.every]
    killers: Counter[str] = Counter()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for mutant, by in zip(mutants, pool.map(killer, mutants), strict=True):
            killers[by.split(":")[0] if by else "nothing"] += 1
            print(f"{by or 'SURVIVES':32} {mutant.what}", flush=True)
    killed = len(mutants) - killers["nothing"]
    print(
        f"{len(mutants)} mutants made, {killed} killed: "
        + ", ".join(f"{n} by {k}" for k, n in killers.items())
    )
    return killers["nothing"] != 0


if __name__ == "__main__":
    sys.exit(main())
