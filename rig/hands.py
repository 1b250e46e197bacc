"""What only hands can do at the table: carry the cannon, put a shot in, set soldiers up again."""

from collections.abc import Callable, Collection
from typing import Protocol

from game.montecassino import Side, Square, format_squares

__all__ = ["Hands", "PromptedHands"]


class Hands(Protocol):
    """A person, or whatever stands in for one."""

    def carry_to(self, side: Side) -> None:
        """Stand the cannon on that side's platform. It is safe and uncocked; this may take its time."""

    def load(self) -> None:
        """Put a shot into the muzzle. The lever is cocked: say what is wanted and return; the muzzle gate tells when."""

    def set_up(self, casualties: Collection[Square], put_back: Collection[Square]) -> None:
        """Take the casualties off the board and stand the others upright on their squares."""


class PromptedHands:
    """A person at a terminal, told what to do.

    Parameters
    ----------
    say
        Shows a line.
    confirm
        Shows a line and returns once the person says that it is done.
    waits_for_set_up
        Whether `set_up` returns only then; False: whoever calls it gives the time.
    """

    def __init__(
        self, say: Callable[[str], None], confirm: Callable[[str], None], *, waits_for_set_up: bool = True
    ) -> None:
        self._say = say
        self._confirm = confirm
        self._set_up = confirm if waits_for_set_up else say
        self._side: Side | None = None

    def carry_to(self, side: Side) -> None:
        """Ask for it, once for each change of side."""
        if side is not self._side:
            self._confirm(f"Stand the cannon on the platform of side {side}, barrel towards the enemy.")
            self._side = side

    def load(self) -> None:
        """Say it; nothing is awaited here."""
        self._say(
            "Put one shot into the muzzle until it sits, and take your hands away. Keep clear of the lever."
        )

    def set_up(self, casualties: Collection[Square], put_back: Collection[Square]) -> None:
        """Ask for it where there is anything to do."""
        todo = []
        if casualties:
            todo.append(f"take off the board: {format_squares(casualties)}")
        if put_back:
            todo.append(f"stand up on its square: {format_squares(put_back)}")
        if todo:
            self._set_up(f"Please {'; '.join(todo)}. Then take your hands away.")
