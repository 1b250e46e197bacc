"""What is agreed in a tournament, in words: all of it, and nothing that does not hold."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tournament_fields import begun

from game.montecassino import Cannons, Option, parse_squares
from game.montecassino.tournament import Player, Terms
from rig.tournament.words import handicaps_told, terms_told


@pytest.mark.parametrize(
    ("terms", "told"),
    [
        (
            Terms(),
            "casualty option ii; a cannon each; 20 shots a player; the zone that the booklet proposes; 3 lines of soldiers",
        ),
        (
            Terms(Option.III, Cannons.SHARED, 12, parse_squares("G25-G40"), lines=1),
            "casualty option iii; one cannon, shared; 12 shots a player; "
            "zone G25-G40 for the Allies, turned round for the Germans; 1 line of soldiers",
        ),
        (Terms(cannons=Cannons.NONE, shots=0), "casualty option ii; no cannon; 3 lines of soldiers"),
        (
            Terms(boards=2),
            "casualty option ii; a cannon each; 20 shots a player; the zone that the booklet proposes; "
            "3 lines of soldiers; two boards joined",
        ),
    ],
)
def test_s4_what_holds_in_every_battle(terms, told):
    assert terms_told(replace(begun(0), terms=terms)) == told


def test_s4_a_handicap_is_told_with_its_shots_and_its_zone():
    players = [
        Player("Anna"),
        Player("Bruno", shots=0),
        Player("Carla", parse_squares("G25-G40")),
        Player("Dario", parse_squares("G25-G64"), 25),
    ]
    assert list(handicaps_told(begun(0).with_players(players))) == [
        "Bruno: 0 shots",
        "Carla: zone G25-G40 with the Allies, turned round with the Germans",
        "Dario: 25 shots, zone G25-G64 with the Allies, turned round with the Germans",
    ]
