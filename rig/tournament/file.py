"""The tournament file: JSON, "montecassino-tournament/1", checked whole when read and written whole or not at all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from game.montecassino import AgreementError, Cannons, Option, Side, format_squares, is_seen, parse_squares
from game.montecassino.tournament import (
    Artillery,
    Forfeit,
    Fought,
    Pairing,
    Player,
    Result,
    ResultEntry,
    ResultTextError,
    Round,
    Seat,
    System,
    Terms,
    Tournament,
    name_fault,
    name_key,
)
from rig.files.checked_file import (
    Fault,
    FaultyFile,
    JsonObject,
    parse_json,
    read_text,
    refuse_other_format,
    validate,
)
from rig.files.file_lock import hold_lock_beside
from rig.files.whole_file import write_whole
from rig.keys.notation import SquaresText

__all__ = ["TournamentFileError", "change_tournament", "create_tournament", "read_tournament"]

FORMAT = "montecassino-tournament/1"
_MOST_ROUNDS = 1_000
_WHO = "rig tournament"

Shots = Annotated[int, Field(ge=0, le=1_000)]


class TournamentFileError(FaultyFile):
    """A tournament file that cannot be used; `faults` holds everything that is wrong with it."""


class EntryKeys(JsonObject):
    """One writing down of a result."""

    score: str | None = None
    """The Allies' points first, as `1½-½`; null for a forfeit."""
    absent: tuple[Side, ...] = ()
    """Of a forfeit, who did not come."""
    source: Annotated[str, Field(min_length=1)]
    at: str
    battle: str = ""
    why: str = ""

    @field_validator("score")
    @classmethod
    def _is_a_score(cls, text: str | None) -> str | None:
        if text is not None:
            try:
                Fought.parse(text)
            except ResultTextError as bad:
                raise ValueError(f"a score ({bad})") from bad
        return text

    @field_validator("at")
    @classmethod
    def _is_a_time(cls, text: str) -> str:
        try:
            datetime.fromisoformat(text).astimezone()
        except (ValueError, OverflowError) as bad:
            raise ValueError("a time such as 2026-05-02T14:30:00Z") from bad
        return text

    def conflicts(self) -> Iterator[Fault]:
        """Ask for a score or for who was absent."""
        if (self.score is None) == (not self.absent):
            found = "nothing" if self.score is None else json.dumps(self.score, ensure_ascii=False)
            yield Fault("score", found, "either a score or somebody absent", also=("absent",))

    def result(self) -> Result:
        """Return the result."""
        return Forfeit(frozenset(self.absent)) if self.score is None else Fought.parse(self.score)


class SeatKeys(JsonObject):
    """One side of a pairing."""

    player: str
    zone: SquaresText
    shots: Shots

    def seat(self) -> Seat:
        """Return the seat."""
        return Seat(self.player, Artillery(parse_squares(self.zone), self.shots))


class PairingKeys(JsonObject):
    """Two players who meet."""

    board: int
    allies: SeatKeys
    germans: SeatKeys
    entries: tuple[EntryKeys, ...] = ()

    def pairing(self) -> Pairing:
        """Return the pairing."""
        entries = (
            ResultEntry(each.result(), each.source, each.at, each.battle, each.why) for each in self.entries
        )
        return Pairing(self.board, self.allies.seat(), self.germans.seat(), tuple(entries))


class RoundKeys(JsonObject):
    """A round."""

    pairings: Annotated[tuple[PairingKeys, ...], Field(min_length=1)]
    bye: str | None = None

    def places(self) -> Iterator[tuple[str, str]]:
        """Yield the key of each place and the name that stands there."""
        for index, each in enumerate(self.pairings, start=1):
            yield f"pairings[{index}].allies.player", each.allies.player
            yield f"pairings[{index}].germans.player", each.germans.player
        if self.bye is not None:
            yield "bye", self.bye

    def conflicts(self) -> Iterator[Fault]:
        """Say where boards are not in order, or a player has two places."""
        for index, each in enumerate(self.pairings, start=1):
            if each.board != index:
                yield Fault(f"pairings[{index}].board", str(each.board), str(index))
        seen: dict[str, str] = {}
        for key, name in self.places():
            if name in seen:
                yield Fault(key, json.dumps(name, ensure_ascii=False), f"another player than {seen[name]}")
            seen.setdefault(name, key)


class PlayerKeys(JsonObject):
    """One who takes part."""

    name: str
    zone: SquaresText | None = None
    shots: Shots | None = None
    withdrawn: bool = False

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        if name_fault(name):
            raise ValueError("a player's name: letters, with single blanks between words, 60 at most")
        return name

    def player(self) -> Player:
        """Return the player."""
        zone = None if self.zone is None else parse_squares(self.zone)
        return Player(self.name, zone, self.shots, self.withdrawn)


class TermsKeys(JsonObject):
    """What holds in every battle."""

    option: Option
    cannons: Cannons
    shots: Shots
    zone: SquaresText | None
    lines: int
    boards: int

    def conflicts(self) -> Iterator[Fault]:
        """Say what the rules do not allow."""
        try:
            self.terms()
        except AgreementError as bad:
            for fault in bad.faults:
                yield Fault(fault.split()[0], fault, "what can be agreed (S4)")

    def terms(self) -> Terms:
        """Return the terms."""
        zone = None if self.zone is None else parse_squares(self.zone)
        return Terms(self.option, self.cannons, self.shots, zone, self.lines, self.boards)


class Keys(JsonObject):
    """All of the file."""

    format: Literal["montecassino-tournament/1"]
    name: Annotated[str, Field(min_length=1, max_length=200)]
    system: System
    rounds_planned: Annotated[int, Field(ge=0, le=_MOST_ROUNDS)]
    terms: TermsKeys
    players: tuple[PlayerKeys, ...]
    rounds: tuple[RoundKeys, ...]

    @field_validator("name")
    @classmethod
    def _is_a_title(cls, name: str) -> str:
        if not (name.isprintable() and is_seen(name)):
            raise ValueError("a title that one line can hold")
        return name

    def conflicts(self) -> Iterator[Fault]:
        """Say where names do not fit together, or what one file cannot hold."""
        counts = Counter(name_key(each.name) for each in self.players)
        for index, each in enumerate(self.players, start=1):
            if counts[name_key(each.name)] > 1:
                yield Fault(
                    f"players[{index}].name",
                    json.dumps(each.name, ensure_ascii=False),
                    "a name that stands once",
                )
        known = {each.name for each in self.players}
        battles: dict[str, tuple[PairingKeys, str]] = {}
        for number, round_ in enumerate(self.rounds, start=1):
            for key, name in round_.places():
                if name not in known:
                    yield Fault(
                        f"rounds[{number}].{key}", json.dumps(name, ensure_ascii=False), "a name of players"
                    )
            for index, pairing in enumerate(round_.pairings, start=1):
                for at, entry in enumerate(pairing.entries, start=1):
                    key = f"rounds[{number}].pairings[{index}].entries[{at}].battle"
                    where, before = battles.get(entry.battle, (pairing, ""))
                    # One that was corrected may be right after all.
                    is_back = where is pairing and pairing.entries[at - 2].battle != entry.battle
                    if entry.battle and before and not is_back:
                        yield Fault(key, "a battle", f"another one than that of {before}")
                    battles.setdefault(entry.battle, (pairing, key))

    def tournament(self) -> Tournament:
        """Return the tournament."""
        return Tournament(
            self.name,
            self.system,
            self.rounds_planned,
            self.terms.terms(),
            tuple(each.player() for each in self.players),
            tuple(
                Round(tuple(pairing.pairing() for pairing in each.pairings), each.bye) for each in self.rounds
            ),
        )


def read_tournament(path: Path) -> Tournament:
    """Read a tournament file.

    Raises
    ------
    TournamentFileError
        Where it is missing, is no JSON, is of another version, or has a missing or wrong key; all faults are named.
    """
    return _checked(_json(path), path).tournament()


def create_tournament(path: Path, tournament: Tournament) -> None:
    """Write a new tournament file.

    Raises
    ------
    TournamentFileError
        If there is a file already: a tournament is never overwritten.
    OSError
        If it cannot be written.
    """
    _refuse_existing(path)
    with hold_lock_beside(path, _WHO, wait=True):
        _refuse_existing(path)
        _write(path, tournament)


def change_tournament(
    path: Path, change: Callable[[Tournament], Tournament]
) -> tuple[Tournament, Tournament]:
    """Read a tournament file, change what it holds, and write it anew.

    Two that do so at once do it one after the other, and no change is lost.

    Parameters
    ----------
    path : Path
        The file.
    change : callable
        Given the tournament as it stands, returns it as it shall be; what it raises leaves the file as it was.

    Returns
    -------
    tuple of Tournament
        Before and after.

    Raises
    ------
    TournamentFileError
        As `read_tournament` does.
    OSError
        If it cannot be written; it stays as it was.
    """
    read_tournament(path)  # Where there is none, nothing is made beside it.
    with hold_lock_beside(path, _WHO, wait=True):
        before = read_tournament(path)
        after = change(before)
        _write(path, after)
    return before, after


def _refuse_existing(path: Path) -> None:
    if path.exists():
        fault = Fault("the file", "one that is there already", "none; a tournament is never overwritten")
        raise TournamentFileError(str(path), [fault])


def _json(path: Path) -> dict[str, Any]:
    text = read_text(path, TournamentFileError, missing="a tournament file; rig tournament new begins one")
    return parse_json(text, str(path), TournamentFileError, expected="a tournament file, which is JSON")


def _checked(data: dict[str, Any], path: Path) -> Keys:
    refuse_other_format(data, str(path), FORMAT, TournamentFileError)
    return validate(Keys, data, str(path), TournamentFileError)


def _write(path: Path, tournament: Tournament) -> None:
    text = json.dumps(_keys_of(tournament), ensure_ascii=False, indent=1) + "\n"
    # What is written can be read: anything else must not take the place of a sound file.
    _checked(json.loads(text), path)
    write_whole(path, text)


def _keys_of(tournament: Tournament) -> dict[str, Any]:
    terms = tournament.terms
    return {
        "format": FORMAT,
        "name": tournament.name,
        "system": tournament.system,
        "rounds_planned": tournament.rounds_planned,
        "terms": {
            "option": terms.option,
            "cannons": terms.cannons,
            "shots": terms.shots,
            "zone": None if terms.zone is None else format_squares(terms.zone),
            "lines": terms.lines,
            "boards": terms.boards,
        },
        "players": [
            {
                "name": player.name,
                "zone": None if player.zone is None else format_squares(player.zone),
                "shots": player.shots,
                "withdrawn": player.withdrawn,
            }
            for player in tournament.players
        ],
        "rounds": [
            {"pairings": [_pairing_keys(pairing) for pairing in each.pairings], "bye": each.bye}
            for each in tournament.rounds
        ],
    }


def _pairing_keys(pairing: Pairing) -> dict[str, Any]:
    return {
        "board": pairing.board,
        "allies": _seat_keys(pairing.allies),
        "germans": _seat_keys(pairing.germans),
        "entries": [
            {
                "score": str(entry.result) if isinstance(entry.result, Fought) else None,
                "absent": sorted(entry.result.absent) if isinstance(entry.result, Forfeit) else [],
                "source": entry.source,
                "at": entry.at,
                "battle": entry.battle,
                "why": entry.why,
            }
            for entry in pairing.entries
        ],
    }


def _seat_keys(seat: Seat) -> dict[str, Any]:
    return {
        "player": seat.player,
        "zone": format_squares(seat.artillery.zone),
        "shots": seat.artillery.shots,
    }
