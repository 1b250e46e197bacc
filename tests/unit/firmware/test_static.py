"""What can be said of the firmware without running it: warnings, analysers, and Frama-C's proof. Issue 4, evidence 5."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FIRMWARE = ROOT / "firmware"
CORE = FIRMWARE / "core"
NUCLEO = FIRMWARE / "boards" / "nucleo_l073rz"

# Every warning that clang has, but these.
UNWANTED = (
    "-Wno-padded",  # that a structure has padding is no mistake
    "-Wno-declaration-after-statement",  # is C since 1999
)
# Of each program its sources and how to compile them.
HOST = ([*sorted(CORE.glob("*.c")), FIRMWARE / "host" / "board.c"], [f"-I{CORE}", f"-I{FIRMWARE / 'host'}"])
ARM = (
    [*sorted(CORE.glob("*.c")), *sorted(NUCLEO.glob("*.c"))],
    [f"-I{CORE}", f"-I{NUCLEO}", "-mcpu=cortex-m0plus", "-mthumb", "-ffreestanding"],
)
PROGRAMS = {"host": HOST, "arm": ARM}
TARGETS = {"host": [], "arm": ["--target=arm-none-eabi"]}

# What cppcheck says that is not a fault.
SUPPRESSED = (
    "clarifyCalculation",  # a mask before a question mark: the only order there is, and every C reader's
    "constVariable",  # arrays of two that are read at once
    "comparePointers:*/start.c",  # the ends of a section, which the linker names one by one
)


def needs(tool: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        shutil.which(tool) is None, reason=f"{tool} is not installed (setup.sh does it)"
    )


def silent(command: list[str]) -> None:
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (run.returncode, run.stdout + run.stderr) == (0, "")


@needs("clang")
@pytest.mark.parametrize("program", PROGRAMS)
def test_clang_has_nothing_to_say_with_every_warning_on(program: str) -> None:
    sources, flags = PROGRAMS[program]
    warnings = ["-std=c99", "-fsyntax-only", "-Weverything", "-Werror", *UNWANTED]
    silent(["clang", *TARGETS[program], *warnings, *flags, *map(str, sources)])


@needs("clang")
@pytest.mark.parametrize("program", PROGRAMS)
def test_clang_analyser_finds_nothing(program: str) -> None:
    sources, flags = PROGRAMS[program]
    analyse = ["--analyze", "-Xclang", "-analyzer-output=text", "-Xclang", "-analyzer-werror", "-std=c99"]
    for source in sources:
        silent(["clang", *TARGETS[program], *analyse, *flags, "-o", "/dev/null", str(source)])


@pytest.mark.parametrize("program", ["host", pytest.param("arm", marks=needs("arm-none-eabi-gcc"))])
def test_gcc_analyser_finds_nothing(program: str) -> None:
    sources, flags = PROGRAMS[program]
    compiler = {"host": "gcc", "arm": "arm-none-eabi-gcc"}[program]
    for source in sources:
        analyse = ["-std=c99", "-O2", "-fanalyzer", "-Wall", "-Wextra", "-Werror", "-c", "-o", "/dev/null"]
        silent([compiler, *analyse, *flags, str(source)])


@needs("cppcheck")
@pytest.mark.parametrize(
    ("platform", "board", "define"),
    [("avr8", FIRMWARE / "avr", "-D__AVR__"), ("unix32", NUCLEO, "-D__arm__")],
)
def test_cppcheck_finds_nothing(platform: str, board: Path, define: str) -> None:
    check = ["--std=c99", "--quiet", "--inconclusive", "--enable=warning,style,performance,portability"]
    suppressed = [f"--suppress={finding}" for finding in SUPPRESSED]
    folders = [f"-I{CORE}", f"-I{board}", str(CORE), str(board)]
    silent(
        ["cppcheck", *check, "--error-exitcode=1", f"--platform={platform}", define, *suppressed, *folders]
    )


def prove(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FIRMWARE / "proof" / "prove.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@needs("frama-c")
def test_core_has_no_undefined_behaviour_that_is_not_explained() -> None:
    run = prove("avr")
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.startswith("avr: ")


# A guard, what is put in its place, and the function in which the proof must break.
GUARDS = {
    "a byte beyond its slot is dropped": (
        "receiver.h",
        "if (position < RECEIVER_SLOT_BYTES) {",
        "if (position < 2u * RECEIVER_SLOT_BYTES) {",
        "receiver_take",
    ),
    "the history comes round": (
        "history.c",
        "history->entries[(uint8_t)number % WIRE_HISTORY_ENTRIES]",
        "history->entries[(uint8_t)number % (WIRE_HISTORY_ENTRIES + 1u)]",
        "whole",
    ),
    "the ring comes round": (
        "outbox.h",
        "(tail + 1u) % OUTBOX_RING_BYTES",
        "(tail + 1u) % (2u * OUTBOX_RING_BYTES)",
        "outbox_take",
    ),
}


@needs("frama-c")
@pytest.mark.parametrize("guard", GUARDS)
def test_proof_breaks_where_a_guard_is_gone(guard: str, tmp_path: Path) -> None:
    file, there, instead, function = GUARDS[guard]
    core = tmp_path / "core"
    shutil.copytree(CORE, core)
    text = (core / file).read_text(encoding="utf-8")
    assert text.count(there) == 1
    (core / file).write_text(text.replace(there, instead), encoding="utf-8")
    run = prove("--first", "--core", str(core), "--build", str(tmp_path / "build"), "avr")
    assert run.returncode == 1, run.stdout + run.stderr
    assert run.stdout.startswith(f"avr: first alarm in {function}")


@needs("frama-c")
def test_statement_that_is_no_longer_there_for_a_note_is_no_proof(tmp_path: Path) -> None:
    core = tmp_path / "core"
    shutil.copytree(CORE, core)
    text = (core / "outbox.c").read_text(encoding="utf-8")
    (core / "outbox.c").write_text(text.replace("seen", "gone"), encoding="utf-8")
    run = prove("--core", str(core), "--build", str(tmp_path / "build"), "avr")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (
        "prove: no analysis: outbox_acknowledge has no statement that begins with: uint8_t seen\n"
    )
