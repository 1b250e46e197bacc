"""Every byte of a session, kept in a file as it happens, and told again in words.

The file is text, a line for each piece that was read or written: the controller's clock in microseconds, `>` to the
cannon or `<` from it, the bytes in hexadecimal. Each line reaches the operating system before the next thing happens,
and a write is noted before it is made, so a controller that is killed leaves all it said and heard. A last line cut
short by such an end is what may be missing, and reading says so.
"""

import codecs
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import Final

from rig.files.bounded_file import open_to_read
from rig.link import messages
from rig.link.codec import STOP_BYTES, Decoder, Frame, Item, StopByte
from rig.link.port import Clock, Port
from rig.link.words import in_words

__all__ = [
    "Direction",
    "Entry",
    "RecordedPort",
    "Transcript",
    "TranscriptError",
    "decoded",
    "follow_transcript",
    "read_transcript",
    "tell",
]

_HEADER: Final = "cannon transcript 1"
_LONGEST_HEADER_BYTES: Final = len(codecs.BOM_UTF8) + len(_HEADER) + len("\r\n")
# The wire version since which a checksum holds for one session only: transcripts from before stay readable.
_SESSIONS_SINCE: Final = 2
_PIECE_BYTES: Final = 1 << 16
_HEARTBEATS: Final = (messages.Heartbeat, messages.Alive)


class TranscriptError(ValueError):
    """A file that is no transcript, or one that cannot be written: one sentence with its place."""


class Direction(StrEnum):
    """Which way bytes went."""

    TO_CANNON = ">"
    FROM_CANNON = "<"


@dataclass(frozen=True, slots=True)
class Entry:
    """Bytes that were read or written at once."""

    time_us: int
    """On the controller's clock."""
    direction: Direction
    data: bytes


class Transcript:
    """A file that grows by a line with every piece of bytes.

    Parameters
    ----------
    path
        Where it goes; a file that is there already is never written over.

    Raises
    ------
    FileExistsError, OSError
        With its name, where the file cannot be begun; nothing of it is left then.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        # Unbuffered: what `write` has taken is safe from the end of this process.
        self._file = path.open("xb", buffering=0)
        try:
            self._write_line(_HEADER)
        except OSError as error:
            self._file.close()
            path.unlink()
            # A full disk does not say by itself which file it was.
            raise OSError(error.errno, error.strerror, str(path)) from error

    def keep(self, entry: Entry) -> None:
        """Add an entry; it is in the operating system's hands on return.

        Raises
        ------
        OSError
            Where the disk does not take all of it.
        """
        self._write_line(f"{entry.time_us} {entry.direction} {entry.data.hex()}")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write_line(self, line: str) -> None:
        left = f"{line}\n".encode()
        while left:
            # A disk that is nearly full takes what it has room for, and says so only at the next byte.
            left = left[self._file.write(left) :]


class RecordedPort:
    """A port whose every byte goes into a transcript.

    What cannot be noted (the disk is full) is not sent either but ends the shot with TranscriptError, once. From then
    on bytes go unrecorded, because a cannon must be made safe all the same; and the stop byte always goes.
    """

    def __init__(self, port: Port, clock: Clock, transcript: Transcript) -> None:
        self._port = port
        self._clock = clock
        self._transcript = transcript
        self._broken = False

    def read(self, timeout_us: int) -> bytes:
        """Read from the port and note what came."""
        data = self._port.read(timeout_us)
        if data:
            self._note(Direction.FROM_CANNON, data)
        return data

    def write(self, data: bytes) -> None:
        """Note what is about to go, and let it go."""
        try:
            self._note(Direction.TO_CANNON, data)
        except TranscriptError:
            if data == STOP_BYTES:
                self._port.write(data)
            raise
        self._port.write(data)

    def close(self) -> None:
        """Close the port and the transcript."""
        self._port.close()
        self._transcript.close()

    def _note(self, direction: Direction, data: bytes) -> None:
        if self._broken:
            return
        try:
            self._transcript.keep(Entry(self._clock.now_us(), direction, data))
        except OSError as error:
            self._broken = True
            raise TranscriptError(
                f"{self._transcript.path}: it cannot be written ({error.strerror})"
            ) from error


def read_transcript(path: Path) -> list[Entry]:
    """Return the entries of a transcript.

    A last line without its end, left by a controller that was killed, is not returned.

    Raises
    ------
    TranscriptError
        Where the file is no transcript or a line is damaged.
    OSError
        Where the file cannot be read.
    """
    with open_to_read(path) as file:
        # What is none may have no end.
        _check_header(path, file.readline(_LONGEST_HEADER_BYTES).removesuffix(b"\n"))
        lines = file.read().split(b"\n")
    return [_entry(path, number, line) for number, line in enumerate(lines[:-1], start=2)]


def follow_transcript(path: Path, pause: Callable[[], bool]) -> Iterator[Entry]:
    """Yield the entries of a transcript, those that are still to come too.

    Parameters
    ----------
    path
        A transcript, of a session that may be running.
    pause
        Called where there is nothing more to read for now; waits a little, and says whether to read on.

    Raises
    ------
    TranscriptError, OSError
        As `read_transcript`.
    """
    with open_to_read(path) as file:
        rest, number = b"", 0
        while True:
            data = file.read(_PIECE_BYTES)
            if not data:
                if not pause():
                    return
                continue
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                number += 1
                if number == 1:
                    _check_header(path, line)
                else:
                    yield _entry(path, number, line)
            if number == 0:
                _check_header(path, rest[:_LONGEST_HEADER_BYTES], whole=False)


def _check_header(path: Path, line: bytes, *, whole: bool = True) -> None:
    expected = _HEADER.encode()
    # Editors of Windows begin a file with a mark of its encoding, and end its lines in two signs.
    line = line.removeprefix(codecs.BOM_UTF8).removesuffix(b"\r")
    if line != expected and (whole or not expected.startswith(line)):
        found = line[:40].decode("ascii", "replace")
        raise TranscriptError(f"{path}: the first line is {found!r}, expected {_HEADER!r}")


def _entry(path: Path, number: int, line: bytes) -> Entry:
    try:
        time_us, direction, data = line.decode("ascii").split(" ")
        return Entry(int(time_us), Direction(direction), bytes.fromhex(data))
    except ValueError:
        found = line[:60].decode("ascii", "replace")
        raise TranscriptError(
            f"{path}: line {number} is {found!r}, expected microseconds, > or <, and bytes in hexadecimal"
        ) from None


def decoded(entries: Iterable[Entry]) -> Iterator[tuple[Entry, Item]]:
    """Yield what was said, each with the entry that completed it.

    Frames are read in the session that the controller's last `identify` asked for, as the controller did.

    Parameters
    ----------
    entries
        What was read and written, oldest first; each is decoded before the next is asked for.
    """
    decoders = {direction: Decoder() for direction in Direction}
    for entry in entries:
        for item in decoders[entry.direction].feed(entry.data):
            if isinstance(item, Frame) and isinstance(item.message, messages.Identify):
                session = item.message.session if item.message.wire_version >= _SESSIONS_SINCE else None
                for decoder in decoders.values():
                    decoder.session = session
            yield entry, item


def tell(entries: Iterable[Entry], *, heartbeats: bool = True) -> Iterator[str]:
    """Yield a line for every frame, stop byte and damage: time, who, number, what.

    Times count from the first entry, and are those at which the last byte was read or written. A frame that says what
    was said before, because it or its answer did not get through, is marked `(again)`.

    Parameters
    ----------
    entries
        What was read and written, oldest first; each is told before the next is asked for.
    heartbeats
        False: heartbeats and their answers are left out.
    """
    told = _Told()
    rest = iter(entries)
    first = next(rest, None)
    if first is None:
        return
    for entry, item in decoded(chain((first,), rest)):
        if not heartbeats and isinstance(item, Frame) and isinstance(item.message, _HEARTBEATS):
            continue
        who = "controller" if entry.direction is Direction.TO_CANNON else "cannon"
        yield f"{(entry.time_us - first.time_us) / 1e6:11.6f} s  {who:<10}  {_what(item, told)}"


class _Told:
    """Remembers what was said last, to know a repetition: the last command, the last answer, the last few events."""

    def __init__(self) -> None:
        self._asked: deque[Frame] = deque(maxlen=1)
        self._answered: deque[Frame] = deque(maxlen=1)
        self._events: deque[Frame] = deque(maxlen=8)

    def is_repeated(self, frame: Frame) -> bool:
        """Whether this very frame was among the last of its sort; remembers it either way."""
        if isinstance(frame.message, messages.Event):
            last = self._events
        elif isinstance(frame.message, messages.Request):
            last = self._asked
        else:
            last = self._answered
        repeated = frame in last
        last.append(frame)
        return repeated


def _what(item: Item, told: _Told) -> str:
    if isinstance(item, StopByte):
        return "     STOP"
    if not isinstance(item, Frame):
        return f"     damaged: {item.data.hex(' ')} ({item.why})"
    mark = "e" if isinstance(item.message, messages.Event) else "#"
    return f"{mark}{item.seq:<3} {in_words(item)}{' (again)' if told.is_repeated(item) else ''}"
