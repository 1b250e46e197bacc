"""Commands done at most once, events seen exactly once, a heartbeat whenever there is nothing else to say.

One command is under way at a time. Its id is the one after the last, and it is sent again, byte for byte, until its
answer comes; the cannon executes an id once and answers a repetition from memory. The time given to an answer is what
the bytes need at the line's speed plus what computers and USB take. Work that a command begins is waited for by its
event, for the time that the answer announced.

An event is taken only in its turn; what comes twice or too early is left for the cannon to send again, and a heartbeat
tells it how far events have come. A cannon that has too many events waiting cannot keep more; it leaves a gap in the
numbers, one for all that it could not keep in a row, and the gap is told as `EventsMissed`. A `Booted` in the middle of a
session means that the chip restarted.

A link that failed stays failed until `identify` begins a new session. Without a session nothing is said on the line. `stop`
works at any time: one byte, ahead of all else, nothing awaited.
"""

import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, cast

from rig.link import messages, wire
from rig.link.clock_map import ClockMap, ClockRate, HostTime
from rig.link.codec import STOP_BYTES, Damaged, Decoder, Frame, encode, request_frame
from rig.link.errors import BoardReset, LinkError, LinkLost, NoAnswer, Refused, WrongWireVersion
from rig.link.messages import Answer, Event, Heartbeat, Identify, Identity, Request
from rig.link.port import Clock, Port
from rig.link.words import name_of

__all__ = ["EventsMissed", "Link"]

A = TypeVar("A", bound=Answer)

_BITS_PER_BYTE = 10  # start, eight, stop
_LONGEST_FRAME = 2 * (2 + wire.LONGEST_PAYLOAD + 2) + 1  # every byte escaped
# What an answer takes besides its bytes: a USB serial chip may hold bytes back for 16 ms each way, and a computer that
# is doing something else takes its time.
_ALLOWANCE_US = 40_000
_HEARTBEAT_US = 150_000
# Events are acknowledged before the cannon sends them again, and before it has no room for more: it keeps eight.
_ACKNOWLEDGE_US = wire.EVENT_RESEND_MS * 1000 // 2
_OWED_AT_MOST = 3
# A cannon that hears nothing for its heartbeat timeout has made itself safe; twice that and the session is over.
_GIVE_UP_US = 2 * wire.HEARTBEAT_TIMEOUT_MS * 1000
# An Arduino Uno restarts when its port is opened, and its boot loader listens for up to two seconds.
_IDENTIFY_US = 3_000_000
_IDENTIFY_EACH_US = 100_000
# The cannon sends what waits oldest first. One that came early so many times without the one before it: there is none.
_EARLY_OFTEN = 5


@dataclass(frozen=True, slots=True)
class EventsMissed(Event):
    """Events happened that the cannon had no room to keep: read its status. Made here, not on the wire."""

    count: int
    """How many numbers are missing; each stands for one event at least."""


class Link:
    """A session with one cannon.

    Parameters
    ----------
    port, clock
        The line, and the time it runs on.
    baud
        The line's speed, for timeouts.
    session
        Tells this session from others; drawn at random by default, given where a run must repeat exactly.

    Attributes
    ----------
    damaged : int
        How many pieces came in a session that were no frame of it.
    repeated : int
        How many frames were sent again for want of an answer.
    on_listened : callable
        Called whenever it has listened, ten times a second at least while an answer is awaited. It must not raise. A camera
        holds but the last seconds of pictures, and a cannon that does not answer is waited for longer.
    """

    def __init__(
        self, port: Port, clock: Clock, *, baud: int = wire.BAUD, session: int | None = None
    ) -> None:
        self._port = port
        self._clock = clock
        self._byte_us = _BITS_PER_BYTE * 1e6 / baud
        self._session = secrets.randbelow(1 << 16) if session is None else session % (1 << 16)
        self._decoder = Decoder()
        self._clock_map = ClockMap()
        self._id = 0
        self._identified = False
        self._lost: LinkError | None = LinkError("no cannon has been identified on this line yet")
        self._events: deque[Event] = deque()
        self._event_seen = 0
        self._owed = 0  # events since the last acknowledgement, and when the first of them came
        self._owing_us = 0
        self._early: dict[int, int] = {}  # how often each event came ahead of its turn
        self._sent_us = clock.now_us()
        self._awaited: Frame | None = None
        self._answer: Answer | messages.Refused | None = None
        self.damaged = 0
        self.repeated = 0
        self._heard = 0
        self.on_listened: Callable[[], None] = lambda: None

    @property
    def clock(self) -> Clock:
        """The controller's clock."""
        return self._clock

    @property
    def session(self) -> int | None:
        """Number of the present session; None before the first `identify`."""
        return self._decoder.session

    def identify(self) -> Identity:
        """Begin a session; asked again and again for three seconds, or until a cannon answers.

        Raises
        ------
        NoAnswer
            Where no cannon answers in time.
        WrongWireVersion
            Where one answers that speaks another version.
        PortError
            Where the line is gone.
        """
        self._session = (self._session + 1) % (1 << 16)
        self._decoder.session = self._session
        self._identified = False
        self._lost = None
        self._events.clear()
        self._clock_map.clear()
        self._id = 0
        self._heard = 0
        request = Identify(wire.WIRE_VERSION, self._session)
        answer = self._exchange(request, each_us=_IDENTIFY_EACH_US, give_up_us=_IDENTIFY_US)
        identity = cast(Identity, answer)
        if answer is None:
            self._lost = NoAnswer(_IDENTIFY_US, self._heard)
        elif isinstance(answer, messages.Refused):
            self._lost = Refused(request.command, answer.reason, answer.detail)
        elif identity.wire_version != wire.WIRE_VERSION:
            self._lost = WrongWireVersion(identity.wire_version, wire.WIRE_VERSION, identity.firmware)
        if self._lost is not None:
            raise self._lost
        self._event_seen = 0
        self._owed = 0
        self._early.clear()
        self._identified = True
        return identity

    def ask(self, request: Request[A]) -> A:
        """Have a command executed once and return its answer.

        Raises
        ------
        Refused
            Where the cannon will not; nothing was done.
        BoardReset
            Where the chip restarted since `identify`.
        LinkLost
            Where no answer comes for a second. Whether the command was executed is not known.
        LinkError
            Where no session has begun: what `identify` failed for. Nothing is sent.
        PortError
            Where the line is gone.
        """
        if self._lost is not None:
            raise self._lost
        self._id = (self._id + 1) % 256
        answer = self._exchange(request, each_us=self._answer_due_us(request), give_up_us=_GIVE_UP_US)
        if answer is None:
            name = name_of(request.command)
            self._lost = LinkLost(f"the cannon did not answer to {name} within {_GIVE_UP_US / 1e6:g} s")
            raise self._lost
        if isinstance(answer, messages.Refused):
            if answer.reason is wire.Refusal.NOT_IDENTIFIED:
                self._lost = BoardReset(None)
                raise self._lost
            if answer.reason is wire.Refusal.OUT_OF_SEQUENCE:
                self._lost = LinkLost("the cannon has been talking with another controller")
                raise self._lost
            raise Refused(request.command, answer.reason, answer.detail)
        return cast(A, answer)

    def wait(self, timeout_us: int) -> list[Event]:
        """Keep the link alive until an event comes or the time is over; return the events, oldest first.

        Raises
        ------
        LinkLost, PortError
            Where the cannon is gone.
        """
        deadline_us = self._clock.now_us() + timeout_us
        while not self._events:
            if self._lost is not None:
                raise self._lost
            now_us = self._clock.now_us()
            due_us = self._beat_due_us() - now_us
            if due_us <= 0:
                self.beat()
            else:
                self._listen(max(0, min(due_us, deadline_us - now_us)))
            if now_us >= deadline_us:
                break
        events = list(self._events)
        self._events.clear()
        return events

    def beat(self) -> messages.Alive:
        """Send a heartbeat now, and acknowledge the events that came."""
        self._owed = 0
        return self.ask(Heartbeat(self._event_seen))

    def stop(self) -> None:
        """Send the stop byte at once, whatever else is under way; nothing is awaited."""
        self._port.write(STOP_BYTES)

    def to_host(self, device_us: int) -> HostTime:
        """Return a moment of the cannon's clock on the controller's.

        Raises
        ------
        LinkLost
            Where the cannon has not told its time yet.
        """
        host = self._clock_map.to_host(device_us)
        if host is None:
            raise LinkLost("the cannon has not told its time yet")
        return host

    @property
    def clock_rate(self) -> ClockRate:
        """How fast the cannon's clock goes."""
        return self._clock_map.rate()

    def close(self) -> None:
        """Let the line go."""
        self._port.close()

    def _beat_due_us(self) -> int:
        due_us = self._sent_us + _HEARTBEAT_US
        if not self._owed:
            return due_us
        return min(due_us, self._owing_us + (_ACKNOWLEDGE_US if self._owed < _OWED_AT_MOST else 0))

    def _answer_due_us(self, request: Request[Answer]) -> int:
        """Return how long an answer may take: the bytes of both, and of one event that got in between."""
        sent = len(encode(request_frame(self._id, request), self._decoder.session))
        return round((sent + 2 * _LONGEST_FRAME) * self._byte_us) + _ALLOWANCE_US

    def _exchange(
        self, request: Request[Answer], *, each_us: int, give_up_us: int
    ) -> Answer | messages.Refused | None:
        """Send a command until it is answered; None where that does not happen.

        Left by an error or by Ctrl-C it leaves the link lost: whether the command was executed is not known then, and
        neither is the id that the cannon expects next.
        """
        frame = request_frame(self._id, request)
        data = encode(frame, self._decoder.session)
        self._awaited, self._answer = frame, None
        begun_us = sent_us = self._clock.now_us()
        first = True
        try:
            while sent_us - begun_us < give_up_us:
                self._port.write(data)
                self._sent_us = sent_us
                self.repeated += not first
                first = False
                while (left_us := sent_us + each_us - self._clock.now_us()) > 0:
                    self._listen(left_us)
                    if self._lost is not None:
                        raise self._lost
                    if self._answer is not None:
                        self._note_time(self._answer, begun_us, len(data))
                        return self._answer
                sent_us = self._clock.now_us()
        except BaseException:
            self._lost = self._lost or LinkLost(f"{name_of(request.command)} was broken off")
            raise
        finally:
            self._awaited = None
        return None

    def _note_time(self, answer: Answer | messages.Refused, sent_us: int, sent_bytes: int) -> None:
        # A repetition is answered from memory, with the time of the first execution: that lies between the first
        # sending and now in any case.
        if isinstance(answer, Identity | messages.Status | messages.Alive):
            answer_bytes = len(encode(Frame(self._id, _code_of(answer), answer), self._session))
            self._clock_map.add(
                answer.time_us,
                sent_us=sent_us,
                received_us=self._clock.now_us(),
                request_us=round(sent_bytes * self._byte_us),
                answer_us=round(answer_bytes * self._byte_us),
            )

    def _listen(self, timeout_us: int) -> None:
        """Read once and sort what came."""
        data = self._port.read(timeout_us)
        self.on_listened()
        self._heard += len(data)
        for item in self._decoder.feed(data):
            if not isinstance(item, Frame):
                self.damaged += self._identified and isinstance(item, Damaged)
            elif isinstance(item.message, Event):
                self._take_event(item.seq, item.message)
            elif self._awaited is not None and _answers(item, self._awaited):
                self._answer = cast("Answer | messages.Refused", item.message)

    def _take_event(self, number: int, event: Event) -> None:
        if not self._identified:
            return  # of the time before this session
        if isinstance(event, messages.Booted):
            self._lost = BoardReset(event.reset_cause)
            return
        if not self._owed:
            self._owing_us = self._clock.now_us()
        self._owed += 1
        ahead = (number - self._event_seen - 1) % 256
        if ahead >= 128:
            return  # seen before
        if ahead:
            self._early[number] = self._early.get(number, 0) + 1
            if self._early[number] < _EARLY_OFTEN:
                return
            self._events.append(EventsMissed(ahead))
        self._event_seen = number
        self._early.clear()
        self._events.append(event)


def _answers(frame: Frame, asked: Frame) -> bool:
    return frame.seq == asked.seq and frame.code in {asked.code + wire.ANSWER_OFFSET, wire.REFUSAL_TYPE}


def _code_of(answer: Answer) -> int:
    """Return the type byte of an answer that belongs to one command only."""
    return (
        next(command for command, kind in messages.ANSWERS.items() if kind is type(answer))
        + wire.ANSWER_OFFSET
    )
