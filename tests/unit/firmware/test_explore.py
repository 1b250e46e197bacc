"""The exploration of every state: it ends, keeps the promises of SAFETY.md, and notices a guard that is gone."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FIRMWARE = ROOT / "firmware"
EXPLORE = ROOT / "build" / "firmware" / "explore"
PAGE = (FIRMWARE / "SAFETY.md").read_text(encoding="utf-8")


def explore(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("world", ["loader", "lever", "axes"])
def test_every_reachable_state_keeps_the_promises_and_the_page_has_the_figures(world: str) -> None:
    run = explore(EXPLORE, world, "1")
    assert run.returncode == 0, run.stdout
    states, transitions = re.findall(r"\d+", run.stdout)[:2]
    assert f"| {world} | 1 | {states} | {transitions} |" in PAGE


def test_states_that_count_as_one_go_on_alike() -> None:
    run = explore(EXPLORE, "lever", "1", "check", "1")
    assert run.returncode == 0, run.stdout


def test_two_things_at_random_keep_the_promises_too() -> None:
    run = explore(EXPLORE, "axes", "1", "pairs", "500000")
    assert run.returncode == 0, run.stdout
    assert "500000 pairs at random" in run.stdout


# What is taken out of which file, the world in which it matters, and the promise that goes with it.
GUARDS = {
    "fire compares the token": (
        "commands.c",
        "if (!token_right(cannon, frame)) {",
        "if (false) {",
        "loader",
        "S-1",
    ),
    "arming looks at the lane": ("interlocks.c", "LANE_CLEAR_MASK", "KEY_ON_MASK", "loader", "S-2"),
    "a stop drops the trigger in its interrupt": (
        "guard.h",
        "    board_drop_trigger();\n    receiver->fuse_live = false;",
        "    receiver->fuse_live = false;",
        "loader",
        "S-3",
    ),
    "silence makes safe": ("cannon.c", "if (due(cannon, TIMER_HEARD))", "if (false)", "lever", "S-4"),
    "a reset gives the latch no pulses": (
        "cannon.c",
        "axes_power(&cannon->axes, WIRE_AXIS_DRAW,",
        "axes_power(&cannon->axes, WIRE_AXIS_LATCH,",
        "lever",
        "S-5",
    ),
    "the trigger's hold ends": ("cannon.c", "if (due(cannon, TIMER_TRIGGER))", "if (false)", "loader", "S-6"),
    "the dwell ends in safe": (
        "state_table.c",
        "        [STATE_EVENT_DWELL_EXPIRED] = TO(LETTING_DOWN),\n        [STATE_EVENT_CONFIGURE]",
        "        [STATE_EVENT_CONFIGURE]",
        "lever",
        "S-8",
    ),
    "a stop leaves a let-down whose dwell is over": (
        "cannon.c",
        "event == STATE_EVENT_STOP_BYTE || ",
        "",
        "lever",
        "S-8",
    ),
    "safe leaves a let-down whose dwell is over": (
        "cannon.c",
        " || event == STATE_EVENT_MAKE_SAFE) && dwell",
        ") && dwell",
        "lever",
        "S-8",
    ),
    "a let-down turns the latch free": (
        "lever.c",
        "lever->task == LEVER_LET_DOWN ? WIRE_SETTING_LATCH_FREE_TICKS",
        "lever->task == LEVER_LET_DOWN ? WIRE_SETTING_LATCH_HELD_TICKS",
        "lever",
        "S-8",
    ),
    "new limits leave no axis outside with pulses": (
        "commands.c",
        "            axis->powered = false;\n",
        "",
        "settings",
        "S-7",
    ),
    "homing leaves the latch that has the lever": (
        "lever.c",
        "latched ? WIRE_SETTING_LATCH_HELD_TICKS : WIRE_SETTING_LATCH_FREE_TICKS;\n        go(axes",
        "WIRE_SETTING_LATCH_FREE_TICKS;\n        go(axes",
        "lever",
        "S-9",
    ),
    "arming ends": ("cannon.c", "due(cannon, TIMER_ARMED)", "false", "loader", "S-10"),
    "the key must be turned": ("interlocks.c", "key_cycle_needed ?", "false ?", "lever", "S-11"),
    "a stop byte makes safe": ("cannon.c", "    if (stopped) {", "    if (false) {", "lever", "S-13"),
}


def compiled(source: Path, core: Path, into: Path) -> Path:
    """Compile one source beside a core's headers; give the object."""
    target = into / f"{source.stem}.o"
    includes = [f"-I{core}", f"-I{FIRMWARE / 'host'}"]
    subprocess.run(["cc", "-std=c99", "-O3", "-w", "-c", *includes, "-o", target, source], check=True)
    return target


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The objects of the core and the explorer as they are, by their sources' names."""
    folder, core = tmp_path_factory.mktemp("whole"), FIRMWARE / "core"
    sources = [*core.glob("*.c"), FIRMWARE / "host" / "explore.c"]
    return {source.name: compiled(source, core, folder) for source in sources}


@pytest.mark.parametrize("guard", GUARDS)
def test_explorer_finds_the_guard_that_is_gone(guard: str, whole: dict[str, Path], tmp_path: Path) -> None:
    file, there, instead, world, promise = GUARDS[guard]
    core = tmp_path / "core"
    shutil.copytree(FIRMWARE / "core", core)
    text = (core / file).read_text(encoding="utf-8")
    assert text.count(there) == 1
    (core / file).write_text(text.replace(there, instead), encoding="utf-8")
    program = tmp_path / "explore"
    # A header may be in any of them.
    touched = [core / file] if file.endswith(".c") else [*core.glob("*.c"), FIRMWARE / "host" / "explore.c"]
    objects = whole | {source.name: compiled(source, core, tmp_path) for source in touched}
    subprocess.run(["cc", "-o", program, *objects.values()], check=True)
    run = explore(program, world, "1")
    assert run.returncode == 1, run.stdout
    broken, *way = run.stdout.splitlines()
    assert broken.startswith(f"{promise} broken: ")
    assert len(way) >= 1
    assert all(line.startswith("  ") for line in way)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("lever",),
        ("moon", "1"),
        ("lever", "0"),
        ("lever", "4"),
        ("lever", "1", "x", "1"),
        ("lever", "1", "check"),
        ("lever", "1", "pairs", "0"),
    ],
)
def test_wrong_use_is_one_line(arguments: tuple[str, ...]) -> None:
    run = explore(EXPLORE, *arguments)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("use: explore WORLD THINGS")
    assert run.stderr.count("\n") == 1
