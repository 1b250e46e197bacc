"""Ctrl-C, or being asked to end, put off while something is done that is worth nothing by halves."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Self

__all__ = ["EndPutOff"]

_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class EndPutOff:
    """While this is entered, the first signal that would raise KeyboardInterrupt is only noted; the second raises it.

    Whoever entered it looks at `asked` afterwards. Signals that do something else, or are ignored, go on as they do, and
    outside the main thread, where none arrives, nothing is changed.

    Parameters
    ----------
    however_often
        Whether the second and all after it are only noted too: for what lasts but a moment.
    """

    def __init__(self, *, however_often: bool = False) -> None:
        self._however_often = however_often
        self.asked = False
        """Whether an end was asked for, and put off."""
        self._taken: list[signal.Signals] = []

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._taken = [
                ending for ending in _ENDINGS if signal.getsignal(ending) is signal.default_int_handler
            ]
        for ending in self._taken:
            signal.signal(ending, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for ending in self._taken:
            signal.signal(ending, signal.default_int_handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked and not self._however_often:
            raise KeyboardInterrupt
        self.asked = True  # and not a word: it may have come in the middle of another
