"""Why a shot or a session was given up, in words for the log and the transcript."""

from __future__ import annotations

__all__ = ["why_given_up"]


def why_given_up(error: BaseException) -> str:
    """Say what ended something before it was done.

    Examples
    --------
    >>> why_given_up(KeyboardInterrupt()), why_given_up(RuntimeError("the cable is out")), why_given_up(RuntimeError())
    ('asked to end', 'the cable is out', 'RuntimeError')
    """
    if isinstance(error, KeyboardInterrupt):
        return "asked to end"
    # As `rig shoot G-20 | head` leaves it; rich, which tells how far a shot is, makes the first into the second.
    if isinstance(error, BrokenPipeError | SystemExit):
        return "what the rig says was read no further"
    return str(error) or type(error).__name__
