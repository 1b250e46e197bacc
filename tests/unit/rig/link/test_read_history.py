"""The cannon's history, read and told in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import Script, polite, reply

from rig.link import Link, messages, wire
from rig.link.history import read_history
from rig.link.words import entry_in_words

_MISSING = messages.HistoryEntry(0, wire.HistoryKind.MISSING, 0, 0, 0, 0)


def _cannon(newest: int, missing: set[int]) -> Script:
    """A cannon that remembers the last sixteen, but for some; an entry's code says which it is."""

    def answer(script, asked):
        if not isinstance(asked.message, messages.ReadHistory):
            return polite(script, asked)
        number = asked.message.number
        back = (newest - number) % 65536
        if back >= wire.HISTORY_ENTRIES or number in missing:
            return [reply(asked, messages.HistoryEntry(newest, wire.HistoryKind.MISSING, 0, 0, 0, 0))]
        return [reply(asked, messages.HistoryEntry(newest, wire.HistoryKind.RESET, 1, 0, back, 0))]

    return Script(answer)


@given(st.integers(0, 65535), st.sets(st.integers(1, 15)))
def test_history_is_read_oldest_first_with_its_gaps(newest, gaps):
    script = _cannon(newest, {(newest - back) % 65536 for back in gaps})
    link = Link(script, script, session=5)
    link.identify()
    places = read_history(link)
    oldest = max(back for back in range(16) if back not in gaps)
    assert [place.number for place in places] == [(newest - back) % 65536 for back in range(oldest, -1, -1)]
    for place in places:
        back = (newest - place.number) % 65536
        assert (place.entry is None) == (back in gaps)
        assert place.entry is None or place.entry.detail == back


@pytest.mark.parametrize(
    ("kind", "code", "about", "detail", "words"),
    [
        (wire.HistoryKind.RESET, wire.ResetCause.WATCHDOG, 0, 0, "the chip started: the watchdog bit"),
        (
            wire.HistoryKind.REFUSED,
            wire.Refusal.LANE_NOT_CLEAR,
            wire.Command.ARM,
            0,
            "at 2.500000 s: arm was refused: the lane is not clear",
        ),
        (
            wire.HistoryKind.FAULT,
            wire.Fault.RECEIVE_OVERRUN,
            wire.State.READY,
            wire.Loss.HARDWARE | wire.Loss.FRAMING,
            "at 2.500000 s: fault in state ready: bytes from the controller were lost on the chip (a byte came "
            "before the one before it was read, a byte's stop bit was missing: noise, or another baud rate)",
        ),
        (
            wire.HistoryKind.CHANGED,
            wire.Cause.HEARTBEAT_LOST,
            wire.State.ARMED,
            wire.State.SAFE,
            "at 2.500000 s: from armed to safe: the controller was not heard for half a second",
        ),
        (
            wire.HistoryKind.REFUSED,
            200,
            201,
            0,
            "at 2.500000 s: unknown (201) was refused: unknown (200)",
        ),
    ],
)
def test_every_kind_of_entry_is_a_sentence(kind, code, about, detail, words):
    assert entry_in_words(messages.HistoryEntry(9, kind, code, about, detail, 2_500_000)) == words


def test_missing_entry_says_so():
    assert entry_in_words(_MISSING) == "no such entry"
