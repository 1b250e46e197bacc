"""Break the core in one place at a time and see whether something notices.

    python firmware/mutate.py [--sample N] [--results FILE] [--only KIND] [--part K/N]

A mutant is the core with one cell of the state table other than it is, or one guard broken: a condition turned round,
always true or always false, or one part of it left out. Where the compiler makes the same code of it, it is no mutant.
Each is compiled for the PC; then what is likeliest to notice looks first: the unit tests about that file, the explorer's
smallest world, the other unit tests, the explorer's next world. What nothing notices must be explained in SAFETY.md,
under "Mutants"; anything else fails the run.

With `--results` what was killed is written to a file and not killed again as long as its own file is the same. With
`--sample` so many guards and as many cells are taken, by a fixed seed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import string
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "firmware" / "core"
TESTS = ROOT / "tests" / "unit" / "firmware"
PAGE = ROOT / "firmware" / "SAFETY.md"
SEED = 1

# Where the guards are, and which unit tests know most about each file. The outbox only carries words.
KNOWN_BEST = {
    "state_table.c": ("state_table",),
    "receiver.h": ("frames", "fire", "once", "safety", "sessions"),
    "receiver.c": ("frames", "fire", "once", "safety", "sessions"),
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
    "history.c": ("history",),
}
# What looks at something else than the core on the PC; so does a test that builds something of its own.
ELSEWHERE = ("on_chip", "explore", "mutants")
BUILDERS = {"built", "tmp_path"}
WORLDS = ("lever", "loader")
# Of the processor's time, so that a busy machine kills no mutant.
LONGEST_S = 60
MOST_BYTES = 3 << 30
FLAGS = ("-std=c99", "-O2", "-fPIC", "-w", "-Icore", "-Ihost")
HARNESSES = ("board.c", "explore.c")
WORD = f"{string.ascii_letters}{string.digits}_"


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
            ahead = code[:at].rstrip()
            word = ahead[len(ahead.rstrip(WORD)) :]
            if mark == "{":
                open_ones[-1].start = match.end()
                open_ones[-1].operators.clear()
            open_ones.append(Expression(match.end(), 0, word if mark == "(" else mark, "", []))
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
                    declared = re.search(r"\bbool \w+(\[\d\])?$", code[:at].rstrip()[-80:])
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
            said = it.before in {"return", "bool ="} and re.search(r"==|!|<|(?<!-)>|&&|\|\|", words)
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
                # Not every file knows the names of truth.
                put = {"true": "1", "false": "0"}.get(value, value)
                yield Mutant(file, what, f"{text[:start]} {put}{text[end:]}")


def explained() -> dict[str, str]:
    """Give the survivors that SAFETY.md explains, each with the reason."""
    return dict(re.findall(r"^- `([^`]+)`: (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))


# -- a workbench: compile one, and let everything look at it -----------------------------------------------------------


class Workbench:
    """A folder with the core and what is compiled of it."""

    def __init__(self, folder: Path, tests: Tests) -> None:
        self._folder = folder
        self._tests = tests
        self._library = folder / "libcannon.so"
        self._good_library = folder / "libgood.so"
        self._passed_by_good: set[str] = set()
        self._explore = folder / "explore"
        for part in ("core", "host"):
            shutil.copytree(ROOT / "firmware" / part, folder / part)
        self._sources = [f"core/{path.name}" for path in sorted((folder / "core").glob("*.c"))]
        self._sources += [f"host/{name}" for name in HARNESSES]
        self._good = {source: self._compile(source) for source in self._sources}
        self._link(self._good, "host/board.c", self._good_library, "-shared")

    def killer(self, mutant: Mutant) -> str | None:
        """Say what notices: "same code", a test, the explorer's promise; None: nothing does."""
        path = self._folder / "core" / mutant.file
        good = path.read_text(encoding="utf-8")
        path.write_text(mutant.text, encoding="utf-8")
        try:
            return self._noticed_by(mutant.file)
        except subprocess.CalledProcessError as error:
            raise RuntimeError(f"{mutant.what} does not compile: {error.stderr}") from error
        finally:
            path.write_text(good, encoding="utf-8")

    def _noticed_by(self, file: str) -> str | None:
        *core, library, explorer = self._sources if file.endswith(".h") else [f"core/{file}", "", ""]
        objects = self._good | {source: self._compile(source) for source in [*core, library] if source}
        if objects == self._good:
            return "same code"
        self._link(objects, "host/board.c", self._library, "-shared")
        first = {f"test_{name}" for name in KNOWN_BEST[file]}
        failure = self._failure(first)
        if failure is not None:
            return failure
        # It takes as long to compile as all the others.
        objects |= {explorer: self._compile(explorer)} if explorer else {}
        self._link(objects, "host/explore.c", self._explore)
        return (
            self._broken(WORLDS[0]) or self._failure(self._tests.modules - first) or self._broken(WORLDS[1])
        )

    def _failure(self, modules: set[str]) -> str | None:
        """Say which test of these modules fails first; the core as it is has to pass them all."""
        failed = self._tests.failure(self._good_library, modules - self._passed_by_good)
        if failed is not None:
            raise RuntimeError(f"the core as it is fails {failed}")
        self._passed_by_good |= modules
        return self._tests.failure(self._library, modules)

    def _compile(self, source: str) -> bytes:
        """Give the object code: two that are the same are told by that."""
        out = self._folder / "it.o"
        compiler = ["cc", *FLAGS, "-c", "-o", str(out), source]
        subprocess.run(compiler, cwd=self._folder, capture_output=True, check=True)
        return out.read_bytes()

    def _link(self, objects: dict[str, bytes], harness: str, target: Path, *flags: str) -> None:
        wanted = [source for source in objects if source.startswith("core/")] + [harness]
        paths = [self._folder / f"{source.replace('/', '-')}.o" for source in wanted]
        for source, path in zip(wanted, paths, strict=True):
            path.write_bytes(objects[source])
        subprocess.run(["cc", *flags, "-o", str(target), *map(str, paths)], check=True)

    def _broken(self, world: str) -> str | None:
        """Explore a world; say which promise is broken."""
        limits = [f"--as={MOST_BYTES}", f"--cpu={LONGEST_S}"]
        explore = ["prlimit", *limits, str(self._explore), world, "1"]
        run = subprocess.run(explore, capture_output=True, text=True, check=False)
        if run.returncode == -signal.SIGXCPU:
            return "explorer: never ends"
        return None if run.returncode == 0 else "explorer: " + (run.stdout.split(":")[0] or "does not fit")


class Tests:
    """The unit tests that need no chip: collected once, then run on each mutant in a child that ends at a failure."""

    def __init__(self) -> None:
        self._items: list[pytest.Item] = []
        self._failed_to: int | None = None
        self._broke_off: Exception | None = None

    def run(self, loop: Callable[[], None]) -> None:
        """Collect the tests, then do `loop`, which may ask for failures."""
        self._loop = loop
        paths = [
            str(path)
            for path in sorted(TESTS.glob("test_*.py"))
            if "cannon_host" in path.read_text(encoding="utf-8")
            and not any(e in path.stem for e in ELSEWHERE)
        ]
        quiet = [f"-pno:{plugin}" for plugin in ("terminal", "cacheprovider", "xdist", "faulthandler")] + [
            "-s"
        ]
        imported_already = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        # What somebody asked of the tests that run this is not meant for these.
        os.environ.pop("PYTEST_ADDOPTS", None)
        status = pytest.main([*quiet, *imported_already, f"--rootdir={ROOT}", *paths], plugins=[self])
        if self._broke_off is not None:
            raise self._broke_off
        if status != pytest.ExitCode.OK:
            raise RuntimeError(f"the tests cannot be collected: {pytest.ExitCode(status).name}")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take a file that cannot be imported for no smaller set of tests; pytest would say so in its own loop."""
        if report.failed and self._broke_off is None:
            self._broke_off = RuntimeError(f"{report.nodeid} cannot be collected:\n{report.longreprtext}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Do the loop in place of the tests."""
        if self._broke_off is not None:
            return True
        self._items = [
            item for item in session.items if not BUILDERS & set(getattr(item, "fixturenames", ()))
        ]
        try:
            self._loop()
        except Exception as error:
            self._broke_off = error
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """In the child: the first failure is enough."""
        if report.failed and self._failed_to is not None:
            os.write(self._failed_to, Path(report.nodeid.partition("[")[0]).name.encode())
            os._exit(1)

    @property
    def modules(self) -> set[str]:
        """Name all that tests were found in."""
        return {item.path.stem for item in self._items}

    def failure(self, library: Path, modules: set[str]) -> str | None:
        """Run the tests of these modules with that library; say which fails first."""
        items = [item for item in self._items if item.path.stem in modules]
        read_from, write_to = os.pipe()
        child = os.fork()
        if child == 0:
            self._look(library, items, write_to)
        os.close(write_to)
        with os.fdopen(read_from, "rb") as pipe:
            failed = pipe.read().decode()
        status = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(status):
            return "tests: never end" if os.WTERMSIG(status) == signal.SIGXCPU else "tests: crash"
        if failed:
            return f"tests: {failed}"
        if os.WEXITSTATUS(status) != 0:
            raise RuntimeError("the tests cannot be run")
        return None

    def _look(self, library: Path, items: list[pytest.Item], failed_to: int) -> NoReturn:
        status = 70
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (LONGEST_S, LONGEST_S + 1))
            self._failed_to = failed_to
            silent = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silent, 1)
            os.dup2(silent, 2)
            cannon_host = sys.modules["cannon_host"]
            good, mutant = cannon_host.lib, cannon_host.ffi.dlopen(str(library))
            for module in list(sys.modules.values()):
                if getattr(module, "lib", None) is good:
                    module.lib = mutant  # type: ignore[attr-defined]
            for item, next_item in zip_longest(items, items[1:]):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=next_item)
            status = 0
        finally:
            os._exit(status)


# -- the run -----------------------------------------------------------------------------------------------------------


class Results:
    """Who killed what, on disk as it is found; of a file that has changed since, nothing is believed."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._killers: dict[str, str] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                key, killer = json.loads(line)
                if killer is not None:
                    self._killers[key] = killer

    def killer(self, mutant: Mutant) -> str | None:
        """Say what killed a mutant before; None: nothing did, or it was not made."""
        return self._killers.get(self._key(mutant))

    def note(self, mutant: Mutant, killer: str | None) -> None:
        """Keep what killed a mutant."""
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                print(json.dumps([self._key(mutant), killer]), file=file)

    @staticmethod
    def _key(mutant: Mutant) -> str:
        return f"{hashlib.sha256(mutant.text.encode()).hexdigest()[:16]} {mutant.what}"


def chosen(arguments: argparse.Namespace) -> list[Mutant]:
    """Give the mutants that are asked for."""
    kinds = {"cells": list(cells()), "guards": list(guards())}
    kinds = {kind: mutants for kind, mutants in kinds.items() if arguments.only in {kind, None}}
    if arguments.sample is not None:
        draw = random.Random(SEED)
        kinds = {kind: draw.sample(mutants, arguments.sample) for kind, mutants in kinds.items()}
    which, of = map(int, arguments.part.split("/"))
    return [mutant for mutants in kinds.values() for mutant in mutants][which - 1 :: of]


def main() -> int:
    """Make the mutants that are asked for, and count who notices."""
    parser = argparse.ArgumentParser(description="Break the core in one place at a time; see who notices.")
    parser.add_argument(
        "--sample", type=int, metavar="N", help="only N cells and N guards, always the same ones"
    )
    parser.add_argument("--only", choices=("cells", "guards"), help="mutants of one kind")
    parser.add_argument("--part", default="1/1", metavar="K/N", help="the K-th of N runs that share the work")
    parser.add_argument("--results", type=Path, metavar="FILE", help="go on from what was killed before")
    arguments = parser.parse_args()
    mutants, results, reasons = chosen(arguments), Results(arguments.results), explained()
    killers: Counter[str] = Counter()
    tests = Tests()

    def look_at_all() -> None:
        bench = Workbench(Path(folder), tests)
        for mutant in mutants:
            by = results.killer(mutant)
            if by is None:
                by = bench.killer(mutant)
                results.note(mutant, by)
            if by is None:
                by = "explained" if mutant.what in reasons else "SURVIVES"
            killers[by.split(":")[0]] += 1
            print(f"{by:40} {mutant.what}", flush=True)

    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tests.run(look_at_all)
    alive = killers["explained"] + killers["SURVIVES"] + killers["same code"]
    print(
        f"{len(mutants)} made, {len(mutants) - alive} killed; "
        + ", ".join(f"{n} {k}" for k, n in killers.items())
    )
    return killers["SURVIVES"] != 0


if __name__ == "__main__":
    sys.exit(main())
