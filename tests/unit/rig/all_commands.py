"""Every command of `rig`, for what holds for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rig.cli import command

__all__ = ["all_commands"]


def all_commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Give each command, `rig` itself and its groups too, with the words that call it."""
    yield from _under((), command())


def _under(words: tuple[str, ...], of: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, of
    for name, each in getattr(of, "commands", {}).items():
        yield from _under((*words, name), each)
