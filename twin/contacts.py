"""The log of contacts of one shot, and the cause of every fall that it tells.

The first push that matters decides (clause C7): the shot before it touched anything else is direct, the shot
after it touched something is a ricochet, another soldier is dragged. A touch of the shot below 2 µN s and a push
between soldiers below 15 µN s do not matter; two touches of the same pair less than 2 ms apart are one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from game.montecassino import Cause

SHOT = -1
"""The shot, as a party of a contact; soldiers are 0 and up."""

BOARD = -2
"""The playing surface and the strips for the cannon."""

EDGE = -3
"""The table beside the board."""

SHOT_TOUCH_NS = 2e-6
"""Impulse from which a touch of the shot counts, N s."""

SOLDIER_PUSH_NS = 15e-6
"""Impulse from which a push between soldiers counts, N s."""

SHARED_WITHIN_S = 12e-3
"""Another's push so soon after the first that counts, and half as strong, shares the blame."""

MERGE_GAP_S = 2e-3
"""Touches of one pair with a shorter gap are one contact."""


@dataclass(slots=True)
class Contact:
    """A touch of two parties, from its first moment to its last."""

    parties: tuple[int, int]
    """Sorted; the shot, board and edge are negative."""
    began_s: float
    shot_m: tuple[float, float, float] | None
    """The shot's centre at that moment; None for a push between soldiers."""
    ended_s: float = 0.0
    impulse_ns: float = 0.0
    """Normal impulse so far, N s."""
    mattered_s: float | None = None
    """When the impulse reached the amount that counts; None if it never did."""

    @property
    def by_shot(self) -> bool:
        """Whether the shot is one of the two."""
        return SHOT in self.parties

    def other(self, party: int) -> int:
        """Return who touched `party`."""
        return self.parties[0] if self.parties[1] == party else self.parties[1]


@dataclass(slots=True)
class ContactLog:
    """Collects touches step by step."""

    contacts: list[Contact] = field(default_factory=list)
    """In the order in which they began."""
    _open: dict[tuple[int, int], Contact] = field(default_factory=dict)

    def touch(
        self,
        first: int,
        second: int,
        *,
        at_s: float,
        impulse_ns: float,
        shot_m: tuple[float, float, float],
    ) -> None:
        """Add what one step of the physics saw of one pair."""
        parties = (first, second) if first < second else (second, first)
        contact = self._open.get(parties)
        if contact is None or at_s - contact.ended_s > MERGE_GAP_S:
            contact = Contact(parties, at_s, shot_m if SHOT in parties else None)
            self._open[parties] = contact
            self.contacts.append(contact)
        contact.ended_s = at_s
        contact.impulse_ns += impulse_ns
        least_ns = SHOT_TOUCH_NS if contact.by_shot else SOLDIER_PUSH_NS
        if contact.mattered_s is None and contact.impulse_ns >= least_ns:
            contact.mattered_s = at_s

    def shot_contacts(self) -> list[Contact]:
        """Return the shot's contacts that count, oldest first."""
        return [contact for contact in self.contacts if contact.by_shot and contact.mattered_s is not None]


def cause_of_fall(contacts: Iterable[Contact], soldier: int) -> Cause:
    """Return why a soldier fell.

    Parameters
    ----------
    contacts : iterable of Contact
        Everything that was touched during the shot.
    soldier : int
        Who fell.

    Returns
    -------
    Cause
        `Cause.OTHER` where nothing that counts touched it.
    """
    counting = sorted(
        (contact for contact in contacts if contact.mattered_s is not None),
        key=lambda contact: contact.began_s,
    )
    pushes = [contact for contact in counting if soldier in contact.parties]
    if not pushes:
        return Cause.OTHER
    first = min(pushes, key=lambda contact: contact.mattered_s or 0.0)
    if not first.by_shot:
        return Cause.DRAGGED
    earlier = any(
        contact.by_shot and contact is not first and contact.began_s < first.began_s for contact in counting
    )
    return Cause.RICOCHET if earlier else Cause.DIRECT


def blame_is_shared(contacts: Iterable[Contact], soldier: int) -> bool:
    """Say whether the shot and another soldier pushed one that fell at about the same time."""
    pushes = [
        contact for contact in contacts if soldier in contact.parties and contact.mattered_s is not None
    ]
    if not pushes:
        return False
    first = min(pushes, key=lambda contact: contact.mattered_s or 0.0)
    return any(
        push.by_shot is not first.by_shot
        and (push.mattered_s or 0.0) - (first.mattered_s or 0.0) < SHARED_WITHIN_S
        and push.impulse_ns > 0.5 * first.impulse_ns
        for push in pushes
    )
