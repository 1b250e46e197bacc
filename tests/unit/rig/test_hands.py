"""A person at the table is asked for what only hands can do: once, in plain words, and waited for where it matters."""

from __future__ import annotations

import pytest

from game.montecassino import Side, parse_squares
from rig.hands import PromptedHands


class Person:
    """What a person is shown, and what is waited for."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.confirmed: list[str] = []
        self.leaves = False

    def confirm(self, words: str) -> None:
        if self.leaves:
            raise KeyboardInterrupt
        self.confirmed.append(words)


@pytest.fixture
def person() -> Person:
    return Person()


def hands(person: Person, *, waits_for_set_up: bool = True) -> PromptedHands:
    return PromptedHands(person.shown.append, person.confirm, waits_for_set_up=waits_for_set_up)


def test_c2_the_cannon_is_carried_once_for_each_change_of_side_and_waited_for(person: Person) -> None:
    carrying = hands(person)
    for side in (Side.A, Side.A, Side.G, Side.A):
        carrying.carry_to(side)
    assert person.confirmed == [
        f"Stand the cannon on the platform of side {side}, barrel towards the enemy." for side in "AGA"
    ]
    assert person.shown == []


def test_a_cannon_that_nobody_said_was_carried_is_asked_for_again(person: Person) -> None:
    carrying = hands(person)
    person.leaves = True
    with pytest.raises(KeyboardInterrupt):
        carrying.carry_to(Side.G)
    person.leaves = False
    carrying.carry_to(Side.G)
    assert len(person.confirmed) == 1


def test_for_the_shot_nobody_is_waited_for_and_hands_are_sent_away_from_the_lever(person: Person) -> None:
    """The muzzle gate tells when it sits; README, Safety: fingers out of the lever's way."""
    hands(person).load()
    (words,) = person.shown
    assert "take your hands away. Keep clear of the lever." in words
    assert person.confirmed == []


@pytest.mark.parametrize(
    ("casualties", "put_back", "asked"),
    [
        ("-", "G12,G20", "Please stand up on its square: G12,G20. Then take your hands away."),
        ("G33", "-", "Please take off the board: G33. Then take your hands away."),
        (
            "G33,A60",
            "G34",
            "Please take off the board: A60,G33; stand up on its square: G34. Then take your hands away.",
        ),
        ("-", "-", None),
    ],
)
@pytest.mark.parametrize("waits", [True, False])
def test_who_leaves_and_who_is_stood_up_is_asked_for_where_there_is_anybody(
    person: Person, casualties: str, put_back: str, asked: str | None, waits: bool
) -> None:
    hands(person, waits_for_set_up=waits).set_up(parse_squares(casualties), parse_squares(put_back))
    told, other = (person.confirmed, person.shown) if waits else (person.shown, person.confirmed)
    assert told == ([] if asked is None else [asked])
    assert other == []
