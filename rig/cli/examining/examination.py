"""What `rig doctor` finds, printed line by line and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import typer

from rig.cli.terminal.sentences import echo
from rig.counted import counted
from rig.health import Finding, Level

__all__ = ["Examination"]


class Examination:
    """Prints what is found, and counts it."""

    def __init__(self) -> None:
        self._count: Counter[Level] = Counter()

    def all(self, findings: Iterable[Finding]) -> None:
        """Take in what was found."""
        for finding in findings:
            self._take(finding)

    def tell(self, level: Level, part: str, found: str, todo: str = "") -> None:
        """Take in one thing, in its words."""
        self._take(Finding(level, part, " ".join(found.split()), todo))

    def _take(self, finding: Finding) -> None:
        self._count[finding.level] += 1
        echo(str(finding))

    def end(self, why: str = "") -> None:
        """Say what it came to, and end the command with 1 where something is at fault."""
        words = [
            counted(count, level) for level in (Level.FAULT, Level.WARNING) if (count := self._count[level])
        ]
        echo((", ".join(words) or "nothing wrong") + (f"; {why}" if why else ""))
        if self._count[Level.FAULT]:
            raise typer.Exit(1)
