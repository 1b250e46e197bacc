"""What is said of every fall of a shot that was not seen, said once: why it was not, and what its falls are judged by."""

from __future__ import annotations

__all__ = ["of_the_shot", "of_this_fall"]

# As `vision.causes.grounds` says it of each fall; the log has it so, and the log is shown without the eye.
_BY_ORDER = "judged by the order in which soldiers moved, and who stood near"


def of_the_shot(reason: str) -> str:
    """Say of a shot why it was not seen, and what all its falls are judged by.

    Examples
    --------
    >>> of_the_shot("no streak moves like a shot")
    'no streak moves like a shot; falls are judged by the order in which soldiers moved, and who stood near'
    """
    return f"{reason}; falls are {_BY_ORDER}"


def of_this_fall(evidence: str) -> tuple[str, str]:
    """Part the evidence of a fall into why the shot was not seen, empty where it was, and what is said of this fall alone.

    Examples
    --------
    >>> of_this_fall(f"no streak moves like a shot; the fall is {_BY_ORDER}; it may have been dragged (38 %)")
    ('no streak moves like a shot', 'it may have been dragged (38 %)')
    >>> of_this_fall("the shot reached it 20 ms after release")
    ('', 'the shot reached it 20 ms after release')
    >>> of_this_fall(f"it seems to stand, but may have fallen (30 %): no streak moves like a shot; the fall is {_BY_ORDER}")
    ('no streak moves like a shot', 'it seems to stand, but may have fallen (30 %)')
    """
    told, mark, more = evidence.partition(f"; the fall is {_BY_ORDER}")
    if not mark:
        return "", evidence
    # Of one that seems to stand it is said first that it may have fallen.
    stands, _, reason = told.rpartition(": ")
    return reason, "; ".join(filter(None, (stands, more.removeprefix("; "))))
