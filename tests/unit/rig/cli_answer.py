"""What a `rig` that ran in the tests' own process said, and how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Answer", "Rig", "one_line"]


@dataclass(frozen=True)
class Answer:
    status: int
    out: str
    err: str

    def line(self, part: str) -> str:
        """Return the last line that `rig doctor` has of that part."""
        return next(line for line in reversed(self.out.splitlines()) if line[9:].startswith(part))


Rig = Callable[..., Answer]
"""Runs `rig` with these words."""


def one_line(answer: Answer, status: int = 1) -> str:
    """Return the one line with which it ended."""
    assert answer.status == status, answer
    assert answer.err.startswith("rig: ") and answer.err.count("\n") == 1, answer.err
    return answer.err.removeprefix("rig: ").strip()
