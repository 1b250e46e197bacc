"""Every byte of a session is kept, survives a crash, and is told in words."""

import os
import resource
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rig.cli import main
from rig.link import messages, wire
from rig.link.codec import STOP_BYTES, Frame, encode, request_frame
from rig.link.transcript import (
    Direction,
    Entry,
    RecordedPort,
    Transcript,
    TranscriptError,
    follow_transcript,
    read_transcript,
    tell,
)

TO, FROM = Direction.TO_CANNON, Direction.FROM_CANNON


class Tape:
    """A port that says what it was given to say, and a clock that counts."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.written: list[bytes] = []
        self.time_us = 1_000
        self.closed = False

    def now_us(self) -> int:
        self.time_us += 10
        return self.time_us

    def read(self, timeout_us: int) -> bytes:
        return self.answers.pop(0) if self.answers else b""

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def close(self) -> None:
        self.closed = True


def test_a_recorded_port_carries_on_and_keeps_every_byte_with_direction_and_time(tmp_path):
    tape = Tape(b"\x01\x02", b"")
    port = RecordedPort(tape, tape, Transcript(tmp_path / "session.txt"))
    port.write(b"\x18")
    assert port.read(5) == b"\x01\x02"
    assert port.read(5) == b""
    port.close()
    assert tape.closed
    assert tape.written == [b"\x18"]
    assert read_transcript(tmp_path / "session.txt") == [
        Entry(1_010, TO, b"\x18"),
        Entry(1_020, FROM, b"\x01\x02"),
    ]


class FullDisk(Transcript):
    def keep(self, entry: Entry) -> None:
        raise OSError(28, "No space left on device")


def test_a_full_disk_ends_the_shot_once_and_then_the_cannon_can_be_made_safe(tmp_path):
    tape = Tape()
    port = RecordedPort(tape, tape, FullDisk(tmp_path / "session.txt"))
    with pytest.raises(
        TranscriptError, match=r"session\.txt: it cannot be written \(No space left on device\)"
    ):
        port.write(b"fire")
    assert tape.written == []
    port.write(STOP_BYTES)
    port.write(b"safe")
    port.close()
    assert tape.written == [STOP_BYTES, b"safe"]


def test_the_stop_byte_goes_even_when_it_is_the_first_that_cannot_be_noted(tmp_path):
    tape = Tape()
    port = RecordedPort(tape, tape, FullDisk(tmp_path / "session.txt"))
    with pytest.raises(TranscriptError):
        port.write(STOP_BYTES)
    port.close()
    assert tape.written == [STOP_BYTES]


@contextmanager
def files_of_at_most(size_bytes: int) -> Iterator[None]:
    """Let no file of this process grow beyond so many bytes: as on a disk that is full, what fits is written."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("room_bytes", range(17))
def test_what_the_disk_takes_only_half_of_is_not_sent(tmp_path, room_bytes):
    tape, path = Tape(), tmp_path / "session.txt"
    port = RecordedPort(tape, tape, Transcript(path))
    line_bytes = len(f"1010 > {b'fire'.hex()}\n")
    with files_of_at_most(path.stat().st_size + room_bytes):
        if room_bytes < line_bytes:
            with pytest.raises(
                TranscriptError, match=r"session\.txt: it cannot be written \(File too large\)"
            ):
                port.write(b"fire")
        else:
            port.write(b"fire")
    noted = [] if room_bytes < line_bytes else [b"fire"]
    assert tape.written == noted
    # Room again: the half line stays the last.
    port.write(b"safe")
    port.close()
    assert tape.written == [*noted, b"safe"]
    assert [entry.data for entry in read_transcript(path)] == noted + [b"safe"] * bool(noted)


def test_a_transcript_is_never_written_over(tmp_path):
    Transcript(tmp_path / "session.txt").close()
    with pytest.raises(FileExistsError):
        Transcript(tmp_path / "session.txt")


def test_a_controller_that_is_killed_leaves_all_it_said(tmp_path):
    path = tmp_path / "session.txt"
    program = f"""
        import os
        from pathlib import Path
        from rig.link.transcript import Direction, Entry, Transcript
        transcript = Transcript(Path({str(path)!r}))
        for n in range(50):
            transcript.keep(Entry(n, Direction.TO_CANNON, bytes([n])))
        os._exit(9)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=False)
    assert read_transcript(path) == [Entry(n, TO, bytes([n])) for n in range(50)]


def test_a_last_line_cut_short_is_left_out(tmp_path):
    path = tmp_path / "session.txt"
    path.write_text("cannon transcript 1\n5 > 18\n6 < 0a0")
    assert read_transcript(path) == [Entry(5, TO, b"\x18")]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_transcript_that_an_editor_of_windows_kept_is_read_and_followed(tmp_path, mark):
    path = tmp_path / "session.txt"
    path.write_bytes(mark + b"cannon transcript 1\r\n5 > 18\r\n6 < 0a0b\r\n")
    entries = [Entry(5, TO, b"\x18"), Entry(6, FROM, b"\x0a\x0b")]
    assert read_transcript(path) == entries
    assert list(follow_transcript(path, lambda: False)) == entries


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"first line is '', expected 'cannon transcript 1'"),
        ("\x89PNG\n", "expected 'cannon transcript 1'"),
        ("cannon transcript 1\n5 > 18\n6 ? 18\n", r"line 3 is '6 \? 18', expected microseconds"),
        ("cannon transcript 1\nx > 18\n", "line 2 is"),
        ("cannon transcript 1\n5 > 1\n", "line 2 is"),
    ],
)
def test_a_file_that_is_no_transcript_is_refused_with_its_place(tmp_path, text, message):
    path = tmp_path / "session.txt"
    path.write_text(text)
    with pytest.raises(TranscriptError, match=message):
        read_transcript(path)


def _session() -> list[Entry]:
    arm = encode(request_frame(4, messages.Arm()))
    token = encode(Frame(4, wire.Command.ARM + wire.ANSWER_OFFSET, messages.Token(0xBEEF, 3000)))
    changed = encode(
        Frame(
            9,
            wire.Event.STATE_CHANGED,
            messages.StateChanged(wire.State.ARMED, wire.State.COCKED, wire.Cause.COMMAND, 2_500_000),
        )
    )
    return [
        Entry(1_000_000, TO, arm),
        Entry(1_050_000, TO, arm),
        Entry(1_051_000, FROM, b"\x55\xaa\x7e" + token[:4]),
        Entry(1_052_000, FROM, token[4:] + changed),
        Entry(1_152_000, FROM, changed),
        Entry(1_200_000, TO, STOP_BYTES),
    ]


def test_a_session_in_words_has_time_speaker_number_values_and_damage():
    assert list(tell(_session())) == [
        "   0.000000 s  controller  #4   arm",
        "   0.050000 s  controller  #4   arm (again)",
        "   0.051000 s  cannon           damaged: 55 aa (2 bytes; a frame has 4 to 28)",
        "   0.052000 s  cannon      #4   answer to arm: token 0xbeef, expires 3000 ms",
        "   0.052000 s  cannon      e9   event state changed: state armed, previous cocked, cause command, "
        "time 2.500000 s",
        "   0.152000 s  cannon      e9   event state changed: state armed, previous cocked, cause command, "
        "time 2.500000 s (again)",
        "   0.200000 s  controller       STOP",
    ]


def test_what_is_said_again_is_marked_though_it_was_answered_and_with_its_answer():
    arm = encode(request_frame(4, messages.Arm()))
    token = encode(Frame(4, wire.Command.ARM + wire.ANSWER_OFFSET, messages.Token(0xBEEF, 3000)))
    told = list(tell(Entry(0, way, data) for _ in range(2) for way, data in ((TO, arm), (FROM, token))))
    assert [line.endswith(" (again)") for line in told] == [False, False, True, True]


def test_heartbeats_and_their_answers_can_be_left_out_and_nothing_else():
    beat = encode(request_frame(5, messages.Heartbeat(0)))
    alive = messages.Alive(wire.State.SAFE, wire.Input.ESTOP_OK, 1_000)
    answer = encode(Frame(5, wire.Command.HEARTBEAT + wire.ANSWER_OFFSET, alive))
    entries = [Entry(900_000, TO, beat), Entry(950_000, FROM, answer), *_session()]
    first, second, *others = tell(entries)
    assert first.endswith("#5   heartbeat: event ack 0")
    assert "#5   answer to heartbeat" in second
    assert list(tell(entries, heartbeats=False)) == others


def test_rig_transcript_prints_a_file_in_words(tmp_path, capsys):
    path = tmp_path / "session.txt"
    transcript = Transcript(path)
    for entry in _session():
        transcript.keep(entry)
    transcript.close()
    assert main(["transcript", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == list(tell(_session()))


@pytest.mark.parametrize("content", [None, "something else\n"])
def test_rig_transcript_says_in_one_line_what_is_wrong_with_the_file(tmp_path, capsys, content):
    path: Path = tmp_path / "session.txt"
    if content is not None:
        path.write_text(content)
    assert main(["transcript", str(path)]) == 2
    error = capsys.readouterr().err
    assert str(path) in error
    assert error.count(os.linesep) == 1
