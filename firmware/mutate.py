"""Break the core in one place at a time and see whether something notices.

    python firmware/mutate.py [--sample N] [--results FILE] [--only PART]

A mutant is the core with one cell of the state table other than it is, or one guard broken: a condition turned round,
always true or always false, or one part of it left out. Where the compiler makes the same code of it, it is no mutant.
Each is compiled for the PC; then what is likeliest to notice looks first: the unit tests about that file, the explorer's
smallest world, the other unit tests, the explorer's next world. What nothing notices must be explained in SAFETY.md,
under "Mutants"; anything else fails the run.

With `--results` what was killed is written to a file and not killed again as long as the core is the same. With
`--sample` so many guards and as many cells are taken, by a fixed seed.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "firmware" / "core"
PAGE = ROOT / "firmware" / "SAFETY.md"
SEED = 1

# Where the guards are, and which unit tests know most about each file. The outbox only carries words.
KNOWN_BEST = {
    "state_table.c": ("state_table",),
    "receiver.h": ("frames", "fire", "once", "safety"),
    "receiver.c": ("frames", "fire", "once", "safety"),
    "guard.h": ("fire", "safety"),
    "guard.c": ("fire", "safety"),
    "interlocks.c": ("fire", "safety"),
    "inputs.c": ("safety", "fire"),
    "commands.c": ("once", "fire", "safety", "stored_settings"),
    "cannon.c": ("safety", "fire", "once"),
    "lever.c": ("lever",),
    "axes.c": ("ramp", "stored_settings"),
    "ramp.c": ("ramp",),
    "settings.c": ("stored_settings",),
    "store.c": ("stored_settings",),
    "timers.c": ("fire", "safety"),
}
# What looks at something else than the core on the PC, or is the explorer once more.
NOT_ASKED = ("on_chip", "explore", "mutate", "safety_page")
WORLDS = ("lever", "loader")
LONGEST_S = 120
MOST_BYTES = 3 << 30
FLAGS = ("-std=c99", "-O2", "-fPIC", "-w", "-Icore", "-Ihost")
HARNESSES = ("board.c", "explore.c")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One file of the core as it must not be."""

    file: str
    what: str
    text: str


# -- making them -------------------------------------------------------------------------------------------------------


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


def code_of(text: str) -> str:
    """Give the text with all that is not code as blanks: comments, strings, the preprocessor, compile-time checks."""
    idle = r'/\*.*?\*/|"(?:\\.|[^"\\])*"|^#(?:\\\n|.)*?$|CHECK_COMPILE_TIME\(.*?\);'
    return re.sub(idle, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.DOTALL | re.MULTILINE)


@dataclass(slots=True)
class Expression:
    """A stretch of code between two of the marks that end an expression, and the logical operators right in it."""

    start: int
    end: int
    before: str
    """The word or mark in front of it."""
    after: str
    operators: list[int]


def expressions(code: str) -> Iterator[Expression]:
    """Every expression, those within brackets too."""
    open_ones: list[Expression] = [Expression(0, 0, "", "", [])]
    for match in re.finditer(r"&&|\|\||==|[!<>]=|<<=?|>>=?|\breturn\b|[(){}\[\];,?:=]", code):
        mark, at = match.group(), match.start()
        if mark in {"&&", "||"}:
            open_ones[-1].operators.append(at)
        elif mark in {"(", "[", "{"}:
            word = re.search(r"(\w*)\s*$", code[:at])
            assert word is not None
            if mark == "{":
                open_ones[-1].start = match.end()
                open_ones[-1].operators.clear()
            open_ones.append(Expression(match.end(), 0, word.group(1) if mark == "(" else mark, "", []))
        elif mark in {"==", "!=", "<=", ">=", "<<", ">>"}:
            continue
        else:
            last = open_ones.pop()
            last.end, last.after = at, mark
            yield last
            if mark in {")", "]", "}"}:
                if mark == "}":
                    open_ones[-1] = Expression(match.end(), 0, mark, "", [])
            else:
                before = mark
                if mark == "=":
                    declared = re.search(r"\bbool \w+(\[\d\])?\s*$", code[:at])
                    before = "bool =" if declared else mark
                open_ones.append(Expression(match.end(), 0, before, "", []))


def parts(code: str, it: Expression) -> Iterator[tuple[int, int, str]]:
    """Each operand of the expression's logical operators, with the value that leaves it out."""
    ors = [at for at in it.operators if code.startswith("||", at)]
    for left, right in pairwise([it.start - 2, *ors, it.end]):
        if ors:
            yield left + 2, right, "false"
        ands = [at for at in it.operators if left < at < right and code.startswith("&&", at)]
        if ands:
            yield from ((a + 2, b, "true") for a, b in pairwise([left, *ands, right]))


def guards() -> Iterator[Mutant]:
    """Every condition of the files that guard: of `if`, `while` and `?`, and what a function or a flag says of truth."""
    seen: Counter[str] = Counter()
    for file in KNOWN_BEST:
        text = (CORE / file).read_text(encoding="utf-8")
        code = code_of(text)
        functions = [
            (m.start(), m.group(1))
            for m in re.finditer(r"^\w[^;{}\n]*?(\w+)\([^;{}]*\)\s*\{", code, re.MULTILINE)
        ]
        for it in expressions(code):
            words = code[it.start : it.end].strip()
            places: list[tuple[int, int, str]] = []
            said = it.before in {"return", "bool ="} and re.search(r"==|!|[<>]|&&|\|\|", words)
            if it.before in {"if", "while"} or it.after == "?" or said:
                places += [(it.start, it.end, "true"), (it.start, it.end, "false")]
            if it.before == "if":
                places.append((it.start, it.end, f"!({text[it.start : it.end].strip()})"))
            for start, end, value in [*places, *parts(code, it)]:
                here = " ".join(text[start:end].split())
                function = next((name for at, name in reversed(functions) if at < start), "")
                what = f"{file} {function}: {'not ' if value[0] == '!' else ''}{here}"
                if value[0] != "!":
                    what += f" = {value}"
                seen[what] += 1
                if seen[what] > 1:
                    what += f" ({seen[what]})"
                blank = text[start : start + len(text[start:end]) - len(text[start:end].lstrip())]
                yield Mutant(file, what, f"{text[:start]}{blank or ''}{value}{text[end:]}")


def explained() -> dict[str, str]:
    """Give the survivors that SAFETY.md explains, each with the reason."""
    return dict(re.findall(r"^- `([^`]+)`: (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))


# -- a workbench: compile one, and let everything look at it -----------------------------------------------------------


class Workbench:
    """A folder with the core, what is compiled of it, and the tests, so that they find the mutant there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._firmware = folder / "firmware"
        self._built = folder / "build" / "firmware"
        shutil.copytree(ROOT / "firmware", self._firmware)
        shutil.copytree(ROOT / "tests" / "unit" / "firmware", folder / "tests" / "unit" / "firmware")
        shutil.copy(ROOT / "tests" / "conftest.py", folder / "tests")
        shutil.copy(ROOT / "pyproject.toml", folder)
        self._built.mkdir(parents=True)
        self._sources = [f"core/{path.name}" for path in sorted((self._firmware / "core").glob("*.c"))]
        self._sources += [f"host/{name}" for name in HARNESSES]
        self._good = {source: self._compile(source) for source in self._sources}

    def killer(self, mutant: Mutant) -> str | None:
        """Say what notices: the compiler, "same code", a test file, the explorer's promise; None: nothing does."""
        path = self._firmware / "core" / mutant.file
        good = path.read_text(encoding="utf-8")
        path.write_text(mutant.text, encoding="utf-8")
        try:
            return self._noticed_by(mutant.file)
        finally:
            path.write_text(good, encoding="utf-8")

    def _noticed_by(self, file: str) -> str | None:
        sources = self._sources if file.endswith(".h") else [f"core/{file}"]
        try:
            objects = self._good | {source: self._compile(source) for source in sources}
        except subprocess.CalledProcessError:
            return "compiler"
        if objects == self._good:
            return "same code"
        self._link(objects)
        first = [f"tests/unit/firmware/test_{name}.py" for name in KNOWN_BEST[file]]
        others = sorted((self._folder / "tests" / "unit" / "firmware").glob("test_*.py"))
        rest = [str(path.relative_to(self._folder)) for path in others]
        rest = [
            path
            for path in rest
            if path not in first and not path.endswith(tuple(f"test_{n}.py" for n in NOT_ASKED))
        ]
        return self._tests(first) or self._explore(WORLDS[0]) or self._tests(rest) or self._explore(WORLDS[1])

    def _compile(self, source: str) -> bytes:
        """Give the object code: two that are the same are told by that."""
        out = self._folder / "it.o"
        subprocess.run(
            ["cc", *FLAGS, "-c", "-o", str(out), source], cwd=self._firmware, capture_output=True, check=True
        )
        return out.read_bytes()

    def _link(self, objects: dict[str, bytes]) -> None:
        paths = {source: self._folder / f"{Path(source).stem}-{Path(source).parent}.o" for source in objects}
        for source, data in objects.items():
            paths[source].write_bytes(data)
        core = [str(path) for source, path in paths.items() if source.startswith("core/")]
        for harness, target, flags in (
            ("board.c", self._built / "libcannon.so", ["-shared"]),
            ("explore.c", self._built / "explore", []),
        ):
            # Never over a library that a process may still have open.
            target.unlink(missing_ok=True)
            subprocess.run(
                ["cc", *flags, "-o", str(target), *core, str(paths[f"host/{harness}"])], check=True
            )

    def _explore(self, world: str) -> str | None:
        try:
            run = subprocess.run(
                ["prlimit", f"--as={MOST_BYTES}", str(self._built / "explore"), world, "1"],
                capture_output=True,
                text=True,
                timeout=LONGEST_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "explorer: never ends"
        return None if run.returncode == 0 else "explorer: " + (run.stdout.split(":")[0] or "does not fit")

    def _tests(self, paths: list[str]) -> str | None:
        """Run tests in a child that has everything imported already."""
        words = self._folder / "tests.txt"
        child = os.fork()
        if child == 0:
            status = 70
            try:
                signal.alarm(LONGEST_S)
                descriptor = os.open(words, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(descriptor, 1)
                os.dup2(descriptor, 2)
                os.chdir(self._folder)
                quick = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist"]
                imported_already = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
                status = int(pytest.main([*quick, *imported_already, *paths]))
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(status)
        status = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(status):
            return "tests: never end" if os.WTERMSIG(status) == signal.SIGALRM else "tests: crash"
        said = words.read_text(encoding="utf-8", errors="replace")
        failed = re.search(r"(?:FAILED|ERROR) \S*/(test_\w+\.py(?:::\w+)?)", said)
        match os.WEXITSTATUS(status):
            case 0:
                return None
            case 1 | 2 if failed:
                return f"tests: {failed.group(1)}"
        raise RuntimeError(f"the tests cannot be run: {said}")


# -- the run -----------------------------------------------------------------------------------------------------------


class Results:
    """Who killed what, on disk as it is found; of a core that has changed since, nothing is believed."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        whole = b"".join(path.read_bytes() for path in sorted(CORE.iterdir()))
        self._core = hashlib.sha256(whole).hexdigest()[:16]
        self._killers: dict[str, str] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                core, key, killer = json.loads(line)
                if core == self._core and killer is not None:
                    self._killers[key] = killer

    def killer(self, mutant: Mutant) -> str | None:
        """Say what killed a mutant of this core before; None: nothing did, or it was not made."""
        return self._killers.get(f"{mutant.file} {mutant.what}")

    def note(self, mutant: Mutant, killer: str | None) -> None:
        """Keep what killed a mutant."""
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                print(json.dumps([self._core, f"{mutant.file} {mutant.what}", killer]), file=file)


def chosen(arguments: argparse.Namespace) -> list[Mutant]:
    """Give the mutants that are asked for."""
    kinds = {"cells": list(cells()), "guards": list(guards())}
    kinds = {kind: mutants for kind, mutants in kinds.items() if arguments.only in {kind, None}}
    if arguments.sample is not None:
        draw = random.Random(SEED)
        kinds = {kind: draw.sample(mutants, arguments.sample) for kind, mutants in kinds.items()}
    return [mutant for mutants in kinds.values() for mutant in mutants]


def main() -> int:
    """Make the mutants that are asked for, and count who notices."""
    parser = argparse.ArgumentParser(description="Break the core in one place at a time; see who notices.")
    parser.add_argument(
        "--sample", type=int, metavar="N", help="only N cells and N guards, always the same ones"
    )
    parser.add_argument("--only", choices=("cells", "guards"), help="mutants of one kind")
    parser.add_argument("--results", type=Path, metavar="FILE", help="go on from what was killed before")
    arguments = parser.parse_args()
    mutants, results, reasons = chosen(arguments), Results(arguments.results), explained()
    # Whoever looks at a mutant is forked with these imported.
    for module in ("cffi", "hypothesis.stateful", "rig.link.wire"):
        importlib.import_module(module)
    killers: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        bench = Workbench(Path(folder))
        for mutant in mutants:
            by = results.killer(mutant)
            if by is None:
                by = bench.killer(mutant)
                results.note(mutant, by)
            if by is None:
                by = "explained" if mutant.what in reasons else "SURVIVES"
            killers[by.split(":")[0]] += 1
            print(f"{by:40} {mutant.what}", flush=True)
    alive = killers["explained"] + killers["SURVIVES"] + killers["same code"]
    print(
        f"{len(mutants)} made, {len(mutants) - alive} killed; "
        + ", ".join(f"{n} {k}" for k, n in killers.items())
    )
    return killers["SURVIVES"] != 0


if __name__ == "__main__":
    sys.exit(main())
