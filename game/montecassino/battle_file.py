"""A battle as text to keep: JSON, for a person to read and for `parse_battle` to check.

It holds what was agreed, the start, and each entry (N5) with the position that it gave (N4)::

    {
      "format": "montecassino-battle/1",
      "began": "2026-11-21",
      "agreement": {
        "first": "A",
        ...
      },
      "start": "A A01-A24 G01-G24 0/0 20/20 -",
      "entries": [
        {"entry": "A-17>A-25>A-33", "after": "G A01-A16,A18-A24,A33 G01-G24 0/0 20/20 -"}
      ]
    }

The positions say nothing that the entries do not: they are there so that a slip or a changed line is found where it is.
"""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, TypeVar

from game.montecassino.agreement import Agreement, AgreementError, Cannons, Commanders
from game.montecassino.battle import Battle, BattleError, Played
from game.montecassino.casualties import Option
from game.montecassino.notation import AmbiguousTurnError, read_entry
from game.montecassino.position import Position, PositionError
from game.montecassino.square_lists import format_squares, parse_squares
from game.montecassino.squares import Side, Square, SquareError, all_squares
from game.montecassino.turns import IllegalTurnError, TurnTextError

FORMAT = "montecassino-battle/1"
"""What the first key of a battle's text says: the kind of file and its version."""

_AGREED = ("first", "option", "shots", "cannons", "zones", "lines", "boards")
_MOST_SHOWN = 60  # characters of a value that a sentence quotes

_WordT = TypeVar("_WordT", bound=StrEnum)

_Reader = Callable[[object, str, list[str]], Any]
"""Gives the value that JSON stands for; what is wrong is added to the list, with its place, and gives None."""


class BattleFileError(ValueError):
    """A text that is no battle, or one that contradicts itself.

    Attributes
    ----------
    faults : tuple of str
        Everything that is wrong, each beginning with its place, as ``entries[14].after: ...``; the first entry is 1.
    """

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(self.faults))


def format_battle(battle: Battle) -> str:
    """Return a battle as JSON text, a line for each thing agreed and for each entry."""
    agreed = battle.agreement
    agreement = {
        "first": agreed.first,
        "option": agreed.option,
        "shots": dict(agreed.shots),
        "cannons": agreed.cannons,
        "zones": {side: format_squares(zone) for side, zone in agreed.zones.items()},
        "lines": agreed.lines,
        "boards": agreed.boards,
        "players": {
            side: {"infantry": commanders.infantry, "cannon": commanders.cannon}
            for side, commanders in agreed.players.items()
        },
    }
    parts = [f'"format": {_json(FORMAT)}']
    if battle.began is not None:
        parts.append(f'"began": {_json(battle.began.isoformat())}')
    parts += [
        _block('"agreement": {', [f"{_json(key)}: {_json(value)}" for key, value in agreement.items()], "}"),
        f'"start": {_json(str(battle.start))}',
        _block(
            '"entries": [',
            [_json({"entry": str(played.entry), "after": str(played.after)}) for played in battle.history],
            "]",
        ),
    ]
    return "{\n  " + ",\n  ".join(parts) + "\n}\n"


def parse_battle(text: str) -> Battle:
    """Read a battle that `format_battle` has written, or somebody by hand.

    An adjourned battle is adjourned still. Entries may be written in short, as `read_entry` has it.

    Raises
    ------
    BattleFileError
        With every fault: after a faulty entry the reading goes on from the position that stands beside it.
    """
    faults: list[str] = []
    data = _read_json(text, faults)
    if not isinstance(data, Mapping):
        raise BattleFileError(faults or [f"the file: found {_shown(data)}, expected an object"])
    if data.get("format") != FORMAT:
        found = _shown(data["format"]) if "format" in data else "nothing"
        # Nothing else can be said of a file of another kind or version.
        raise BattleFileError([f"format: found {found}, expected {_json(FORMAT)}"])
    _check_keys(data, "", ("format", "agreement", "start", "entries"), ("began",), faults)
    began = _date(data["began"], faults) if "began" in data else None
    agreement = _agreement(data["agreement"], faults) if "agreement" in data else None
    start = _position(data["start"], "start", faults) if "start" in data else None
    battle = None
    if start is not None:
        try:
            battle = Battle.begin(agreement or _anything(start), start, began)
        except BattleError as error:
            faults += [f"start: {fault}" for fault in error.faults]
            battle = Battle(_anything(start), start)
    history = _history(data["entries"], battle, faults) if "entries" in data else []
    if faults or battle is None:
        raise BattleFileError(faults)
    return replace(battle, history=tuple(history))


def _history(items: object, start: Battle | None, faults: list[str]) -> list[Played]:
    """Play all entries once more; what is wrong with them is added to `faults`."""
    if not isinstance(items, Sequence) or isinstance(items, str):
        faults.append(f"entries: found {_shown(items)}, expected a list")
        return []
    history: list[Played] = []
    # What the battle may be before the next entry. Where an entry and the position beside it disagree, one of the two
    # is wrong, and the entries that follow show which.
    befores = [] if start is None else [start]
    for number, item in enumerate(items, 1):
        place = f"entries[{number}]"
        text, said_after = _entry(item, place, faults)
        afters: list[Battle] = []
        refusals: list[str] = []
        for before in befores if text is not None else ():
            try:
                afters.append(_played(before, text or ""))
            except (TurnTextError, IllegalTurnError, AmbiguousTurnError) as error:
                refusals.append(f"{place}.entry: {error}")
        stated = None
        agreeing = [after for after in afters if str(after.position) == said_after]
        if not agreeing and said_after is not None:
            stated = _position(said_after, f"{place}.after", faults)
            agreeing = [after for after in afters if after.position == stated]
        if agreeing:
            befores = agreeing[:1]
            history += befores[0].history
            continue
        if afters and stated is not None:
            faults.append(f"{place}.after: found {stated}, expected {afters[0].position} after {text}")
        elif not afters:
            faults += refusals[:1]
        befores = afters[:1]
        if start is not None and stated is not None:
            befores.append(Battle(start.agreement, stated))
    return history


def _entry(item: object, place: str, faults: list[str]) -> tuple[str | None, str | None]:
    """Return the texts of an entry and the position after it; what is wrong is added to `faults`, and gives None."""
    if not isinstance(item, Mapping):
        faults.append(f"{place}: found {_shown(item)}, expected an object with entry and after")
        return None, None
    _check_keys(item, f"{place}.", ("entry", "after"), (), faults)
    return (
        _text(item["entry"], f"{place}.entry", faults) if "entry" in item else None,
        _text(item["after"], f"{place}.after", faults) if "after" in item else None,
    )


def _played(before: Battle, text: str) -> Battle:
    """Return the battle after an entry, with that entry alone for its history."""
    goes_on = before.resume() if before.adjourned else before
    after = goes_on.play(read_entry(goes_on.position, text))
    return replace(after, start=before.position, history=after.history[-1:])


def _anything(start: Position) -> Agreement:
    """Return an agreement that refuses nothing, in place of one that cannot be read."""
    everywhere = all_squares(start.boards)
    return Agreement(
        start.turn, shots=start.shots_left, zones=dict.fromkeys(Side, everywhere), boards=start.boards
    )


def _agreement(data: object, faults: list[str]) -> Agreement | None:
    """Read what was agreed; what is wrong is added to `faults`, and gives None."""
    if not isinstance(data, Mapping):
        faults.append(f"agreement: found {_shown(data)}, expected an object")
        return None
    before = len(faults)
    _check_keys(data, "agreement.", _AGREED, ("players",), faults)
    # What can be read by itself is held against the rest even where something else cannot.
    sound: dict[str, Any] = {"first": Side.A}
    for key, read in _READERS.items():
        if key in data:
            value = read(data[key], f"agreement.{key}", faults)
            if value is not None:
                sound[key] = value
    if "boards" not in sound:
        sound.pop("zones", None)
    try:
        agreement = Agreement(**sound)
    except AgreementError as error:
        faults += [f"agreement: {fault}" for fault in error.faults]
        return None
    return agreement if len(faults) == before else None


def _word(words: type[_WordT]) -> _Reader:
    def read(value: object, place: str, faults: list[str]) -> _WordT | None:
        if isinstance(value, str) and value in set(words):
            return words(value)
        expected = " or ".join(_json(word) for word in words)
        faults.append(f"{place}: found {_shown(value)}, expected {expected}")
        return None

    return read


def _number(value: object, place: str, faults: list[str]) -> int | None:
    # JSON's true is no number, though Python's is.
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    faults.append(f"{place}: found {_shown(value)}, expected a whole number")
    return None


def _text(value: object, place: str, faults: list[str]) -> str | None:
    if isinstance(value, str):
        return value
    faults.append(f"{place}: found {_shown(value)}, expected a text")
    return None


def _zone(value: object, place: str, faults: list[str]) -> tuple[Square, ...] | None:
    text = _text(value, place, faults)
    if text is None:
        return None
    try:
        return parse_squares(text)
    except SquareError as error:
        faults += [f"{place}: {fault}" for fault in error.faults]
        return None


def _commanders(value: object, place: str, faults: list[str]) -> Commanders | None:
    if not isinstance(value, Mapping):
        faults.append(f"{place}: found {_shown(value)}, expected an object with infantry and cannon")
        return None
    _check_keys(value, f"{place}.", ("infantry", "cannon"), (), faults)
    names = [
        _text(value[role], f"{place}.{role}", faults) for role in ("infantry", "cannon") if role in value
    ]
    return Commanders(*(name or "" for name in names))


def _for_each_side(read: _Reader) -> _Reader:
    def read_both(value: object, place: str, faults: list[str]) -> dict[Side, Any] | None:
        if not isinstance(value, Mapping):
            faults.append(f"{place}: found {_shown(value)}, expected an object with A and G")
            return None
        _check_keys(value, f"{place}.", tuple(Side), (), faults)
        both = {side: read(value[side], f"{place}.{side}", faults) for side in Side if side in value}
        return {side: each for side, each in both.items() if each is not None}

    return read_both


_READERS: Mapping[str, _Reader] = {
    "first": _word(Side),
    "option": _word(Option),
    "shots": _for_each_side(_number),
    "cannons": _word(Cannons),
    "zones": _for_each_side(_zone),
    "lines": _number,
    "boards": _number,
    "players": _for_each_side(_commanders),
}


def _position(value: object, place: str, faults: list[str]) -> Position | None:
    text = _text(value, place, faults)
    if text is None:
        return None
    try:
        return Position.parse(text)
    except PositionError as error:
        faults += [f"{place}: {fault}" for fault in error.faults]
        return None


def _date(value: object, faults: list[str]) -> datetime.date | None:
    text = _text(value, "began", faults)
    if text is None:
        return None
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        faults.append(f"began: found {_shown(value)}, expected a day such as 2026-11-21")
        return None


def _check_keys(
    data: Mapping[str, object],
    place: str,
    needed: Sequence[str],
    optional: Sequence[str],
    faults: list[str],
) -> None:
    known = (*needed, *optional)
    faults += [
        f"{place}{key}: a key that nothing reads, expected {', '.join(known)}"
        for key in data
        if key not in known
    ]
    faults += [
        f"{place}{key}: found nothing, and this key must be given" for key in needed if key not in data
    ]


def _read_json(text: str, faults: list[str]) -> object:
    """Read JSON; what is wrong is added to `faults`, and gives None where nothing could be read."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        counts = Counter(key for key, _ in pairs)
        faults.extend(
            f"the file: the key {_json(key)} stands {count} times in one object"
            for key, count in counts.items()
            if count > 1
        )
        return dict(pairs)

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        found = f"line {error.lineno}, column {error.colno}: no JSON ({error.msg})"
        found = found if text.strip() else "the file: found an empty file"
        faults.append(f"{found}, expected a battle file, which is JSON")
    except (ValueError, RecursionError):
        # Numbers of thousands of digits, and lists in lists in lists.
        faults.append("the file: JSON of a size that no battle has")
    return None


def _shown(value: object) -> str:
    """Return a value as a sentence names it: in JSON, but of a length that can be read."""
    if isinstance(value, list):
        return "a list"
    if isinstance(value, Mapping):
        return "an object"
    text = json.dumps(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _block(opening: str, lines: Sequence[str], closing: str) -> str:
    """Return an object or a list of the second level, a line for each item."""
    if not lines:
        return opening + closing
    return opening + "\n    " + ",\n    ".join(lines) + "\n  " + closing
