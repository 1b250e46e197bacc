"""A programme opens into the same shots everywhere, goes on where it stopped, and names all its faults."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from game.montecassino import Option, Side
from rig.plan import (
    PlanError,
    Programme,
    Target,
    check_against,
    parse_plan,
    read_plan,
    remaining,
    time_left_s,
)
from rig.settings import Cannon, Game, Settings

_PLAN = """
name = "evening"
repeats = 2
options = ["i", "iii"]

[[targets]]
squares = "G49,G33-G34"

[[targets]]
squares = "A-60"
side = "G"
options = ["ii"]
repeats = 1
"""
_LATER = "A A01-A24 G25-G48 0/0 20/20 -"


def _faults(text: str) -> dict[str, str]:
    with pytest.raises(PlanError) as refused:
        parse_plan(text)
    return {fault.key: str(fault).removeprefix(f"{fault.key}: ") for fault in refused.value.faults}


def test_targets_repeats_and_options_open_into_shots() -> None:
    shots = parse_plan(_PLAN).shots()
    assert [shot.index for shot in shots] == list(range(13))
    assert [str(shot.target) for shot in shots] == ["G-33"] * 4 + ["G-34"] * 4 + ["G-49"] * 4 + ["A-60"]
    assert [(shot.option, shot.repeat) for shot in shots[:4]] == [
        (Option.I, 1),
        (Option.I, 2),
        (Option.III, 1),
        (Option.III, 2),
    ]
    assert (shots[-1].side, shots[-1].option) == (Side.G, Option.II)
    assert all(shot.side is Side.A for shot in shots[:-1])


def test_a_drawn_order_is_the_same_on_every_machine() -> None:
    """Known answer: a change of it would tear every programme that is half done."""
    shots = parse_plan('name = "x"\norder = "drawn"\nseed = 3\n[[targets]]\nsquares = "G33-G40"').shots()
    assert [shot.target.number for shot in shots] == [38, 37, 34, 35, 36, 40, 39, 33]


@given(st.integers(0, 2**63 - 1), st.integers(1, 4))
def test_a_drawn_order_fires_every_listed_shot_once(seed: int, repeats: int) -> None:
    listed = Programme(name="x", targets=(Target(squares="G33-G40"),), repeats=repeats)
    drawn = listed.model_copy(update={"order": "drawn", "seed": seed})

    def bare(programme: Programme) -> list[tuple[object, ...]]:
        return [(shot.side, shot.target, shot.option, shot.repeat) for shot in programme.shots()]

    assert sorted(bare(drawn)) == sorted(bare(listed))
    assert [shot.index for shot in drawn.shots()] == list(range(8 * repeats))


def test_another_seed_draws_another_order() -> None:
    orders = {
        tuple(
            shot.target
            for shot in parse_plan(
                _PLAN.replace("repeats", f"order='drawn'\nseed={seed}\nrepeats", 1)
            ).shots()
        )
        for seed in range(5)
    }
    assert len(orders) == 5


def test_identity_is_of_the_shots_and_the_name() -> None:
    table = Settings()
    identity = parse_plan(_PLAN).identity_at(table)
    # Known answer: by another the log would not know the shots of a programme that is half done.
    assert identity == "evening-d78669636564"
    same = parse_plan("# the same, said otherwise\n" + _PLAN.replace("G49,G33-G34", "G33,G34,G49"))
    assert same.identity_at(table) == identity
    paused = parse_plan(_PLAN + '\n[pauses]\nloading = "loader"\n')
    assert paused.identity_at(table) == identity, "another pause is no other programme"
    for changed in (
        _PLAN.replace("evening", "morning"),
        _PLAN.replace("repeats = 2", "repeats = 3"),
        _PLAN.replace("G49", "G50"),
        _PLAN.replace('"iii"', '"ii"'),
        _PLAN.replace('side = "G"', 'side = "A"'),
        'soldiers = "survivors"' + _PLAN,
        f'position = "{_LATER}"' + _PLAN,
        'order = "drawn"' + _PLAN,
    ):
        assert parse_plan(changed).identity_at(table) != identity


def test_where_the_settings_say_the_position_another_one_makes_another_programme() -> None:
    programme, first, later = parse_plan(_PLAN), Settings(), Settings(game=Game(position=_LATER))
    assert programme.identity_at(later) != programme.identity_at(first)
    told = parse_plan(f'position = "{_LATER}"' + _PLAN)
    assert told.identity_at(first) == told.identity_at(later), "one that tells its own has nothing of theirs"


@given(st.sets(st.integers(0, 12)))
def test_what_is_done_is_not_fired_again_and_the_rest_keeps_its_order(done: set[int]) -> None:
    shots = parse_plan(_PLAN).shots()
    left = remaining(shots, done)
    assert [shot.index for shot in left] == [index for index in range(13) if index not in done]


def test_time_left_follows_the_pace_of_the_last_shots() -> None:
    assert time_left_s([], 5) is None
    assert time_left_s([], 0) == 0.0
    assert time_left_s([10.0, 12.0, 300.0], 4) == 48.0, "one long pause does not count for all"
    assert time_left_s([100.0] * 50 + [10.0] * 10, 2) == 20.0


def test_everything_wrong_is_said_at_once() -> None:
    assert _faults(
        """
        name = ""
        order = "random"
        position = "A"
        [[targets]]
        squares = "G99"
        repeat = 3
        [[targets]]
        squars = "G1"
        options = ["iv"]
        [pauses]
        loading = "wait"
        """
    ) == {
        "name": 'found "", expected a string of at least 1 character',
        "targets[1].squares": (
            'found "G99", expected a list of squares, as G25-G72: G-99 is not on the board:'
            " numbers go from 1 to 72"
        ),
        "targets[1].repeat": "found a key that nothing reads, expected a key of targets[1] (did you mean repeats?)",
        "targets[2].squares": "found nothing, expected a value; this key must be given",
        "targets[2].options[1]": "found \"iv\", expected 'i', 'ii' or 'iii'",
        "targets[2].squars": "found a key that nothing reads, expected a key of targets[2] (did you mean squares?)",
        "order": "found \"random\", expected 'listed' or 'drawn'",
        "position": (
            'found "A", expected a position: 1 field parted by one blank, expected 6:'
            " turn, A soldiers, G soldiers, prisoners, shots left, retreated"
        ),
        "pauses.loading_s": 'found nothing, expected a number of seconds, since loading is "wait"',
    }


@pytest.mark.parametrize(
    ("text", "key", "sentence"),
    [
        ("", "name", "found nothing, expected a value; this key must be given"),
        (
            'name = "x"\n[targets]\nsquares = "G1"',
            "targets",
            'found {"squares": "G1"}, expected a list (each table of it begins with [[targets]])',
        ),
        ('name = "x"\nseed = -1', "seed", "found -1, expected a number from 0 to 9223372036854775807"),
        ('name = "x"\ntargets = []', "targets", "found [], expected a list of at least 1 item"),
        (
            'name = "x"\n[[targets]]\nsquares = "-"',
            "targets[1].squares",
            'found "-", expected at least one square',
        ),
        (
            'name = "x"\n[[targets]]\nsquares = "G1"\n[pauses]\nputting_back_s = 3.0',
            "pauses.putting_back_s",
            'found 3, expected putting_back = "wait", or no putting_back_s',
        ),
        (
            'name = "x"\n[[targets]]\nsquares = "G1-G2"\n[pauses]\nputting_back = "none"',
            "pauses.putting_back",
            'found "none", expected "ask" or "wait", since soldiers is "all"'
            " (who fell is stood up before the next shot)",
        ),
        (
            'name = "a\\u001b[2Jb"\n[[targets]]\nsquares = "G1"',
            "name",
            'found "a\\u001b[2Jb", expected a name that can be printed in one line',
        ),
        (
            'name = " "\n[[targets]]\nsquares = "G1"',
            "name",
            'found " ", expected a name that can be printed in one line',
        ),
        (
            f'name = "{"x" * 61}"\n[[targets]]\nsquares = "G1"',
            "name",
            f'found "{"x" * 61}", expected a string of at most 60 characters',
        ),
        ('name = "x', "line 1, column 10", None),
    ],
)
def test_one_fault_is_one_clear_sentence(text: str, key: str, sentence: str | None) -> None:
    faults = _faults(text)
    assert key in faults
    assert sentence in (None, faults[key])


@pytest.mark.parametrize(
    "sound", ['soldiers = "survivors"\n[[targets]]\nsquares = "G1-G2"', '[[targets]]\nsquares = "G1"']
)
def test_nobody_is_put_back_where_casualties_stay_away_or_no_shot_follows(sound: str) -> None:
    assert parse_plan(f'name = "x"\n{sound}\n[pauses]\nputting_back = "none"').pauses.putting_back == "none"


def test_a_missing_programme_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"evening\.toml: the file: found nothing, expected a programme"):
        read_plan(tmp_path / "evening.toml")


def test_a_programme_is_held_against_the_table() -> None:
    programme = parse_plan(
        'soldiers = "survivors"\nposition = "A A01-A24 G01-G24 0/0 1/20 -"'
        + _PLAN
        + '[pauses]\nloading = "wait"\nloading_s = 20\n'
    )
    with pytest.raises(PlanError) as refused:
        check_against(programme, Settings(cannon=Cannon(sides=(Side.A,))), "evening.toml")
    assert [str(fault) for fault in refused.value.faults] == [
        "side: found shots by G, expected shots by a side with a cannon; cannon.sides has A",
        "pauses.loading_s: found 20, expected at most cannon.load_s, 15",
        "position: found 1 shot left for A, expected at least 12, as many as the programme fires from it",
    ]


@pytest.mark.parametrize(("soldiers", "shots"), [("survivors", "12/1"), ("all", "1/1")])
def test_a_programme_may_fire_every_shot_that_its_position_has(soldiers: str, shots: str) -> None:
    """C3: twelve of A and one of G; where everybody stands again each shot begins with all that there are."""
    position = f'soldiers = "{soldiers}"\nposition = "A A01-A24 G01-G24 0/0 {shots} -"'
    check_against(parse_plan(position + _PLAN), Settings(), "evening.toml")


@pytest.mark.parametrize(
    ("position", "side", "over"),
    [
        ("A - G33,G34 0/0 9/9 -", "A", "the enemy has no soldier on the board"),
        ("G A33 G01 0/0 9/9 -", "G", None),
        ("G A33,G01 G33 0/0 9/9 -", "G", "a soldier stands on own line 18"),
        ("G A17 A18,A25 0/0 9/9 -", "A", "the enemy has no legal step at the start of its turn"),
        ("A A17 A18,A25 0/0 9/9 -", "G", None),
    ],
)
def test_v0_a_position_from_which_nobody_may_fire_is_told_before_anything_is_opened(
    position: str, side: str, over: str | None
) -> None:
    """docs/run.md: everything wrong with the file is said at once. The side that fires is the side to move."""
    programme = parse_plan(
        f'name = "x"\nside = "{side}"\nposition = "{position}"\n[[targets]]\nsquares = "G33"\n'
    )
    if over is None:
        check_against(programme, Settings(), "x.toml")
    else:
        with pytest.raises(PlanError) as refused:
            check_against(programme, Settings(), "x.toml")
        assert [str(fault) for fault in refused.value.faults] == [
            f"position: found a battle that is over ({over}), expected one that goes on where {side} fires"
        ]


def test_a_loader_must_be_fitted() -> None:
    programme = parse_plan('name = "x"\n[[targets]]\nsquares = "G33"\n[pauses]\nloading = "loader"\n')
    with pytest.raises(PlanError, match=r"cannon\.loader says there is none"):
        check_against(programme, Settings(), "x.toml")
    check_against(programme, Settings(cannon=Cannon(loader=True)), "x.toml")
