"""Battles played at random to their end, for property tests."""

from random import Random

from game.montecassino import (
    Abandon,
    Adjourn,
    Agreement,
    Battle,
    Cannons,
    Entry,
    Option,
    Retreat,
    Shot,
    Side,
    all_squares,
    legal_turns,
)

MOST_ENTRIES = 5_000


def random_battle(seed: int) -> Battle:
    """Play one: infantry mostly, shots with whoever falls in the zone, now and then a retreat or an adjournment."""
    rng = Random(seed)
    battle = Battle.begin(random_agreement(rng))
    while battle.outcome is None:
        assert len(battle.history) < MOST_ENTRIES, f"battle {seed} goes on and on"
        if battle.adjourned:
            battle = battle.resume()
        battle = battle.play(random_entry(battle, rng))
    return battle


def random_agreement(rng: Random) -> Agreement:
    boards = rng.choice([1, 1, 2])
    cannons = rng.choice(list(Cannons))
    shots = {} if cannons is Cannons.NONE else {side: rng.randrange(40) for side in Side}
    zones = {
        side: tuple(rng.sample(all_squares(boards), rng.choice([1, 40, 144])))
        for side in Side
        if rng.random() < 0.5
    }
    return Agreement(
        rng.choice(list(Side)), rng.choice(list(Option)), shots, cannons, zones, rng.randint(1, 3), boards
    )


def random_entry(battle: Battle, rng: Random) -> Entry:
    position = battle.position
    side = position.turn
    luck = rng.random()
    if luck < 0.001:
        return Abandon()
    if luck < 0.005:
        return Adjourn()
    if luck < 0.01 and side not in position.retreated:
        return Retreat()
    if luck < 0.3 and position.shots_left[side]:
        targets = [square for square in position.soldiers if square in battle.agreement.zones[side]]
        return Shot(tuple(rng.sample(targets, rng.randint(0, min(3, len(targets))))))
    movers = list(position.squares_of(side))
    while True:
        turns = list(legal_turns(position, rng.sample(movers, min(rng.randint(1, 3), len(movers)))))
        if turns:
            return rng.choice(turns)
