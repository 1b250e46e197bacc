"""A line with a script at its other end: for what a sound cannon never does."""

from collections import deque
from collections.abc import Callable, Iterable

from rig.link import messages, wire
from rig.link.codec import Decoder, Frame, StopByte, encode
from rig.link.messages import Answer, Message

_WIRE_TIME_US = 1_000
_LEVELS = wire.Input.ESTOP_OK | wire.Input.KEY_ON


class Script:
    """A port and its clock. Each command goes to `answer`, which returns what the cannon says to it.

    Attributes
    ----------
    sent
        Every frame and stop byte that was written.
    bytes_sent
        Every write, as it came.
    """

    def __init__(self, answer: Callable[["Script", Frame], Iterable[Frame | bytes]]) -> None:
        self._answer = answer
        self._decoder = Decoder()
        self._coming: deque[tuple[int, bytes]] = deque()
        self.time_us = 1_000_000
        self.sent: list[Frame | StopByte] = []
        self.bytes_sent: list[bytes] = []
        self.closed = False

    def now_us(self) -> int:
        return self.time_us

    def read(self, timeout_us: int) -> bytes:
        if self._coming and self._coming[0][0] <= self.time_us + timeout_us:
            due_us, data = self._coming.popleft()
            self.time_us = max(self.time_us, due_us)
            return data
        self.time_us += timeout_us
        return b""

    def write(self, data: bytes) -> None:
        self.bytes_sent.append(data)
        for item in self._decoder.feed(data):
            assert isinstance(item, Frame | StopByte)
            self.sent.append(item)
            if isinstance(item, Frame):
                if isinstance(item.message, messages.Identify):
                    self._decoder.session = item.message.session
                self.say(*self._answer(self, item))

    def close(self) -> None:
        self.closed = True

    def say(self, *saying: Frame | bytes, after_us: int = _WIRE_TIME_US) -> None:
        """Let the cannon say something in a while."""
        for part in saying:
            data = part if isinstance(part, bytes) else encode(part, self._decoder.session)
            self._coming.append((self.time_us + after_us, data))

    def commands(self, command: wire.Command) -> list[Frame]:
        """Every sending of a command."""
        return [item for item in self.sent if isinstance(item, Frame) and item.code == command]


def event(number: int, message: messages.Event) -> Frame:
    return Frame(number, message.event, message)


def reply(asked: Frame, message: Message) -> Frame:
    is_refusal = isinstance(message, messages.Refused)
    return Frame(asked.seq, wire.REFUSAL_TYPE if is_refusal else asked.code + wire.ANSWER_OFFSET, message)


def identity(script: Script, *, wire_version: int = wire.WIRE_VERSION, board: int = 1) -> messages.Identity:
    return messages.Identity(wire_version, 1, 2, 3, board, 1, 0, 0xABCD, script.time_us % (1 << 32))


def polite(script: Script, asked: Frame) -> list[Frame | bytes]:
    """What a sound cannon says that has nothing to do."""
    answers: dict[int, Answer] = {
        wire.Command.IDENTIFY: identity(script),
        wire.Command.HEARTBEAT: messages.Alive(wire.State.SAFE, _LEVELS, script.time_us % (1 << 32)),
        wire.Command.COCK: messages.Begun(2000),
        wire.Command.SAFE: messages.SafeNow(wire.State.SAFE),
    }
    return [reply(asked, answers[asked.code])]
