"""The fuzzers: every input that is kept still keeps the promises, a short search too, and a guard that is gone is found.

They need clang with libFuzzer; the hours are `make fuzz`.
"""

import fcntl
import shutil
import subprocess
from pathlib import Path

import pytest
from cannon_host import cannon_in

from rig.link import wire
from rig.link.wire import Command, Refusal, ResetCause, State

ROOT = Path(__file__).resolve().parents[3]
FIRMWARE = ROOT / "firmware"
CORPUS = FIRMWARE / "fuzz" / "corpus"
REGRESSIONS = FIRMWARE / "fuzz" / "regressions"  # by name: what was found, or should be
BUILD = ROOT / "build" / "firmware" / "fuzz"
TARGETS = {"frames": 3000, "settings": 400, "stream": 600}

needs_clang = pytest.mark.skipif(
    shutil.which("clang") is None,
    reason="clang is not installed (apt-get install clang libclang-rt-14-dev), so nothing can be fuzzed",
)


@pytest.fixture(scope="module")
def built() -> Path:
    """The folder of the fuzzers."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w") as lock:  # several workers may want it at once
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "--no-print-directory", "-C", str(FIRMWARE), "fuzz-targets"], check=True)
    return BUILD


def run(*command: Path | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, command)], capture_output=True, text=True, errors="replace", check=False)


@needs_clang
@pytest.mark.parametrize("target", TARGETS)
def test_kept_inputs_and_a_short_search_from_them_break_no_promise(
    target: str, built: Path, tmp_path: Path
) -> None:
    search = run(
        built / target,
        f"-runs={TARGETS[target] + len(list((CORPUS / target).iterdir()))}",
        "-seed=1",
        "-max_len=240",
        f"-artifact_prefix={tmp_path}/broken-",
        tmp_path,
        CORPUS / target,
        REGRESSIONS / target,
    )
    told = "".join(run(built / target, "--tell", broken).stderr for broken in tmp_path.glob("broken-*"))
    assert search.returncode == 0, told or search.stderr


# What is taken out of which file, and the promise that must be found broken.
GUARDS = {
    "fire compares the token": (
        "commands.c",
        "payload_u32(frame) == cannon->token",
        "payload_u32(frame) != 0",
        "S-1",
    ),
    "arming looks at the lane": ("interlocks.c", "LANE_CLEAR_MASK", "KEY_ON_MASK", "S-2"),
    "silence makes safe": ("cannon.c", "if (due(cannon, TIMER_HEARD))", "if (false)", "S-4"),
    "no value is taken that is out of range": (
        "settings.c",
        "value <= rom_u16(&limits[setting].maximum)",
        "true",
        "S-7",
    ),
    "what breaks off a draw eases the lever": (
        "lever.c",
        "task == LEVER_RELAX || task == LEVER_HOME;",
        "task == LEVER_HOME;",
        "S-9",
    ),
    "a save's CRC comes last": (
        "store.c",
        "return crc == CRC_RESIDUE && board",
        "return board",
        "S-12",
    ),
    "a stop marks what waits": ("receiver.c", "receiver->overtaken[slot]", "false", "S-13"),
    "no answer without room for it": ("outbox.c", "room(outbox) < WORST_BYTES(length)", "false", "line"),
}


@needs_clang
@pytest.mark.parametrize("guard", GUARDS)
def test_fuzzer_finds_the_guard_that_is_gone(guard: str, built: Path, tmp_path: Path) -> None:
    file, there, instead, promise = GUARDS[guard]
    text = (FIRMWARE / "core" / file).read_text(encoding="utf-8")
    assert text.count(there) == 1
    (tmp_path / file).write_text(text.replace(there, instead), encoding="utf-8")
    broken = tmp_path / "broken.o"
    flags = ["-std=c99", "-O1", "-w", "-fsanitize=fuzzer-no-link", f"-I{FIRMWARE / 'core'}"]
    flags.append(f"-I{FIRMWARE / 'host'}")
    subprocess.run(["clang", *flags, "-c", "-o", str(broken), str(tmp_path / file)], check=True)
    whole = [path for path in (built / "core").glob("*.o") if path.stem != Path(file).stem]
    harness = [built / f"{name}.o" for name in ("board", "stream", "witness", "line", "target")]
    program = tmp_path / "stream"
    link = ["clang", "-fsanitize=address,undefined,fuzzer", "-o", program, broken, *whole, *harness]
    subprocess.run([*map(str, link)], check=True)
    found = tmp_path / "found"
    found.mkdir()
    options = ("-runs=4000", "-seed=1", "-max_len=240", f"-artifact_prefix={found}/")
    search = run(program, *options, REGRESSIONS / "stream", CORPUS / "stream")
    assert search.returncode != 0, "nothing was found"
    (kept,) = found.iterdir()
    story = run(program, "--tell", kept)
    assert story.returncode == 1
    assert f"{promise} broken: " in story.stderr.splitlines()[-1]


@needs_clang
def test_input_is_told_in_words(built: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(bytes([7, 0, 13, 0, 0]))
    story = run(built / "stream", "--tell", program)
    assert story.returncode == 0
    told = story.stderr.splitlines()
    begin = told.index("from armed")
    assert [line.split(",")[0].strip() for line in told[begin + 1 :] if "says" not in line] == [
        "fire",
        "a shot",
        "firing",
    ]


@needs_clang
def test_telling_what_is_not_there_is_one_line(built: Path, tmp_path: Path) -> None:
    story = run(built / "stream", "--tell", tmp_path / "nothing")
    assert (story.returncode, story.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("target", TARGETS)
def test_corpus_is_small(target: str) -> None:
    sizes = [path.stat().st_size for path in (CORPUS / target).iterdir()]
    assert sizes
    assert max(sizes) <= 240
    assert sum(sizes) < 150_000


# -- what fuzzing found, by name --------------------------------------------------------------------------------------


def test_no_number_of_stop_bytes_brings_a_command_before_them_back() -> None:
    """256 of them brought the count of stops round; S-13."""
    for count in (1, 255, 256, 257, 512):
        cannon = cannon_in(State.SAFE)
        request = cannon.request(Command.HOME)
        (answer,) = cannon.exchange(request + bytes([wire.STOP]) * count)
        assert wire.REFUSAL_LAYOUT.unpack(answer[2])["reason"] == Refusal.OVERTAKEN
        assert cannon.state == State.SAFE


def test_stop_between_an_escape_and_the_id_that_it_escapes_is_within_the_frame() -> None:
    """The frame began with the escape; S-13."""
    cannon = cannon_in(State.SAFE)
    cannon.identify(session=2, sequence=wire.STOP - 1)
    request = cannon.request(Command.HOME)
    assert request[0] == wire.ESCAPE
    (answer,) = cannon.exchange(request[:1] + bytes([wire.STOP]) + request[1:])
    assert wire.REFUSAL_LAYOUT.unpack(answer[2])["reason"] == Refusal.OVERTAKEN


def test_power_on_followed_at_once_by_another_reset_moves_nothing() -> None:
    """What was kept before the power-on is not believed after the second reset either; S-5."""
    cannon = cannon_in(State.COCKING)
    cannon.run(400)
    assert cannon.pulse(wire.Axis.DRAW) > 2000
    cannon.reset(ResetCause.POWER_ON)
    cannon.reset(ResetCause.BROWN_OUT)
    cannon.run(100, beat=False)
    assert cannon.pulses == (0, 0, 0, 0, 0)
