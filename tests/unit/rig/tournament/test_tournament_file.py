"""The tournament file: nothing lost, every fault named at its place, never half written."""

from __future__ import annotations

import json
import random
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tournament_fields import AT, begun, played, with_drawn_results

from game.montecassino import Cannons, Option, parse_squares
from game.montecassino.tournament import (
    Fought,
    Player,
    ResultEntry,
    System,
    Terms,
    Tournament,
    pair,
    standings,
)
from rig.tournament.file import (
    TournamentFileError,
    change_tournament,
    create_tournament,
    read_tournament,
)
from rig.tournament.matching import least_cost_matching


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Path, Tournament]:
    """A file with a tournament of which a round is paired, and one result entered and corrected."""
    terms = Terms(Option.III, Cannons.SHARED, 12, parse_squares("G25-G64"), lines=2)
    tournament = Tournament("Spring", System.SWISS, 3, terms)
    players = [
        Player("Anna"),
        Player("Bruno Ñandú", shots=3),
        Player("Carla", parse_squares("G25-G40")),
        Player("D"),
    ]
    tournament = pair(tournament.with_players([*players, Player("E")]), least_cost_matching)
    tournament = tournament.entered(1, 1, ResultEntry(Fought.parse("1½-½"), "battle.json", AT, "0123"))
    tournament = tournament.entered(1, 1, ResultEntry(Fought.parse("½-1"), "by hand", AT, why="swapped"))
    path = tmp_path / "spring.json"
    create_tournament(path, tournament)
    return path, tournament


def faults(path: Path) -> list[str]:
    with pytest.raises(TournamentFileError) as caught:
        read_tournament(path)
    assert caught.value.name == str(path)
    return [str(fault) for fault in caught.value.faults]


def changed(path: Path, *place: str | int, to: Any) -> list[str]:
    """Change one value of the file; give the faults found in it."""
    data = json.loads(path.read_text(encoding="utf-8"))
    at = data
    for part in place[:-1]:
        at = at[part]
    at[place[-1]] = to
    path.write_text(json.dumps(data), encoding="utf-8")
    return faults(path)


def test_what_is_written_is_read_again(kept):
    path, tournament = kept
    assert read_tournament(path) == tournament


def test_a_battle_that_was_corrected_and_was_right_after_all_is_read_again(kept):
    path, _ = kept
    back = ResultEntry(Fought.parse("1½-½"), "battle.json", AT, "0123", why="it was right")
    _, after = change_tournament(path, lambda before: before.entered(1, 1, back))
    assert read_tournament(path) == after


@settings(max_examples=20)
@given(count=st.integers(2, 12), rounds=st.integers(1, 5), seed=st.integers(0, 2**32))
def test_any_tournament_goes_through_the_file_unchanged(tmp_path_factory, count, rounds, seed):
    path = tmp_path_factory.mktemp("t") / "t.json"
    *_, (_, last) = played(count, rounds, seed, least_cost_matching, coming_and_going=True)
    tournament = with_drawn_results(last, random.Random(seed), forfeits=0.3)
    create_tournament(path, tournament)
    assert read_tournament(path) == tournament
    assert standings(read_tournament(path)) == standings(tournament)


def test_a_tournament_is_never_overwritten_by_a_new_one(kept):
    path, tournament = kept
    with pytest.raises(TournamentFileError, match="never overwritten"):
        create_tournament(path, begun(2))
    assert read_tournament(path) == tournament


def test_of_two_changes_at_once_none_is_lost(kept):
    path, tournament = kept
    others: list[Future[tuple[Tournament, Tournament]]] = []

    def withdrawn(before: Tournament) -> Tournament:
        # The other one asks between our reading and our writing.
        others.append(pool.submit(change_tournament, path, lambda each: each.entered(1, 2, result)))
        return before.withdrawn("Anna", AT)

    result = ResultEntry(Fought.parse("1-0"), "by hand", AT)
    with ThreadPoolExecutor() as pool:
        before, after = change_tournament(path, withdrawn)
        assert before == tournament
        assert others[0].result() == (after, after.entered(1, 2, result))
    assert read_tournament(path) == tournament.withdrawn("Anna", AT).entered(1, 2, result)
    assert list(path.parent.iterdir()) == [path]


def test_nothing_is_made_beside_a_tournament_that_is_not_there(tmp_path):
    with pytest.raises(TournamentFileError, match="rig tournament new begins one"):
        change_tournament(tmp_path / "none.json", lambda _: pytest.fail("it was read"))
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_could_not_be_written_whole_leaves_the_old_one(kept, monkeypatch):
    path, tournament = kept

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        change_tournament(path, lambda before: before.withdrawn("Anna", AT))
    assert read_tournament(path) == tournament


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"", "an empty file"),
        (b"[1, 2]", "found [1, 2], expected a JSON object"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"{" * 100_000, "no JSON"),
        (b"{}", "format: found nothing"),
    ],
)
def test_what_is_no_tournament_file_is_named(tmp_path, text, found):
    path = tmp_path / "t.json"
    path.write_bytes(text)
    assert found in faults(path)[0]


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    assert "rig tournament new" in faults(tmp_path / "none.json")[0]
    assert "found a folder" in faults(tmp_path)[0]


@pytest.mark.parametrize("other", ["montecassino-tournament/2", "montecassino-battle/1"])
def test_a_file_of_another_version_or_kind_is_refused_for_that_alone(kept, other):
    path, _ = kept
    (fault,) = changed(path, "format", to=other)
    assert fault == (
        f'format: found "{other}", expected "montecassino-tournament/1", '
        "which is what this rig reads and writes"
    )


@pytest.mark.parametrize(
    ("place", "to", "fault"),
    [
        (["system"], "knockout", 'system: found "knockout"'),
        (["rounds_planned"], -1, "rounds_planned: found -1"),
        (["rounds_planned"], "3", 'rounds_planned: found "3"'),
        (["nmae"], "x", "nmae: found a key that nothing reads"),
        (["terms", "lines"], 9, "terms.lines: found lines is 9"),
        (["terms", "boards"], 3, "terms.boards: found boards is 3, expected 1 or 2"),
        (["terms", "boards"], 0, "terms.boards: found boards is 0, expected 1 or 2"),
        (["terms", "boards"], -1, "terms.boards: found boards is -1, expected 1 or 2"),
        (["terms", "zone"], "Z1", 'terms.zone: found "Z1"'),
        (["terms", "shots"], 10**30, "terms.shots: found 1000000"),
        (["players", 1, "name"], "Anna", 'players[2].name: found "Anna", expected a name that stands once'),
        (["players", 1, "name"], "ANNA", 'players[2].name: found "ANNA", expected a name that stands once'),
        (["players", 1, "name"], "", 'players[2].name: found ""'),
        (["players", 0, "name"], "Anne", 'rounds[1].pairings[1].allies.player: found "Anna", expected a name of players'),
        (["rounds", 0, "bye"], "Anna", 'rounds[1].bye: found "Anna", expected another player than'),
        (["rounds", 0, "pairings", 1, "board"], 7, "rounds[1].pairings[2].board: found 7, expected 2"),
        (["rounds", 0, "pairings"], [], "rounds[1].pairings: found []"),
        (["rounds", 0, "pairings", 0, "entries", 0, "score"], "2-0", 'entries[1].score: found "2-0"'),
        (["rounds", 0, "pairings", 0, "entries", 0, "score"], None, "entries[1].score: found nothing"),
        (["rounds", 0, "pairings", 0, "entries", 0, "absent"], ["A"], "expected either a score or somebody absent"),
        (["rounds", 0, "pairings", 0, "entries", 0, "absent"], ["B"], "entries[1].absent[1]: found "),
        (["rounds", 0, "pairings", 0, "entries", 0, "at"], "noon", 'entries[1].at: found "noon"'),
        (["rounds", 0, "pairings", 0, "entries", 1, "battle"], "0123", "entries[2].battle: found a battle"),
        (["rounds", 0, "pairings", 0, "allies"], 3, "rounds[1].pairings[1].allies: found 3"),
    ],
)  # fmt: skip
def test_each_fault_is_named_with_its_place(kept, place, to, fault):
    path, _ = kept
    assert any(fault in each for each in changed(path, *place, to=to))


def test_all_faults_are_named_at_once(kept):
    path, _ = kept
    changed(path, "system", to="knockout")
    changed(path, "players", 0, "shots", to=-3)
    assert len(changed(path, "rounds", 0, "pairings", 0, "entries", 1, "score", to="1-1")) == 3


def test_a_link_to_the_file_stays_a_link(kept):
    path, _ = kept
    link = path.with_name("link.json")
    link.symlink_to(path)
    change_tournament(link, lambda before: before.withdrawn("Anna", AT))
    assert link.is_symlink()
    assert read_tournament(path).player("Anna").withdrawn
