"""The game's rules for other programs: a question and its answer, both plain JSON values, one line each.

A question names a position (rules page, N4) and what is asked about it; `docs/game.md` lists them. Nothing is kept
from one question to the next.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TypeVar

from game.montecassino import (
    MOST_DEPTH,
    Cause,
    Fall,
    IllegalTurnError,
    JudgeError,
    Option,
    Position,
    PositionError,
    RetreatError,
    Side,
    Square,
    SquareError,
    Turn,
    TurnTextError,
    apply_turn,
    immobilised,
    judge,
    outcome,
    parse_squares,
    perft,
    results,
    retreat,
)

__all__ = ["QuestionError", "answer", "answer_line"]

_Json = dict[str, object]
_ValueT = TypeVar("_ValueT")
_WordT = TypeVar("_WordT", bound=StrEnum)


class QuestionError(ValueError):
    """A question that cannot be answered, in one sentence."""


def answer_line(line: bytes) -> str:
    """Answer a question written as one line of JSON; a bad one gets ``{"error": ...}``.

    Parameters
    ----------
    line : bytes
        A JSON object in UTF-8.

    Returns
    -------
    str
        A JSON object in ASCII, without a line end.
    """
    try:
        said = answer(_read(line))
    except QuestionError as bad:
        said = {"error": str(bad)}
    return json.dumps(said)


def answer(question: object) -> _Json:
    """Answer a question about a position.

    Parameters
    ----------
    question : object
        A mapping with `ask`, `position` and what that kind of question needs besides. Other keys are not looked at.

    Raises
    ------
    QuestionError
        If something is missing or cannot be read, or a shot cannot be judged as it is reported.
    """
    if not isinstance(question, Mapping):
        raise QuestionError(f"found {_shown(question)}, expected an object with ask and position")
    asked = _text(question, "ask")
    if asked not in _ANSWERS:
        raise QuestionError(f"ask: found {_shown(asked)}, expected {_one_of(_ANSWERS)}")
    try:
        return _ANSWERS[asked](Position.parse(_text(question, "position")), question)
    except (PositionError, SquareError, TurnTextError, JudgeError) as bad:
        raise QuestionError(str(bad)) from bad


def _perft(position: Position, question: Mapping[str, object]) -> _Json:
    expected = f"a whole number from 1 to {MOST_DEPTH}"
    depth = _value(question, "depth", int, expected)
    if not 1 <= depth <= MOST_DEPTH:
        raise QuestionError(f"depth: found {_shown(depth)}, expected {expected}")
    return {"count": perft(position, depth)}


def _results(position: Position, _: Mapping[str, object]) -> _Json:
    return {"results": sorted(map(str, results(position)))}


def _state(position: Position, _: Mapping[str, object]) -> _Json:
    ended = outcome(position)
    return {
        "winner": ended and ended.winner,
        "immobilised": immobilised(position),
        "reason": ended and ended.reason,
    }


def _retreat(position: Position, _: Mapping[str, object]) -> _Json:
    try:
        return {"after": str(retreat(position))}
    except RetreatError:
        return {"after": None}


def _legal(position: Position, question: Mapping[str, object]) -> _Json:
    try:
        after = apply_turn(position, Turn.parse(_text(question, "turn")))
    except IllegalTurnError as bad:
        return {"legal": False, "clause": bad.clause, "why": bad.why, "after": None}
    return {"legal": True, "clause": None, "why": None, "after": str(after)}


def _shot(position: Position, question: Mapping[str, object]) -> _Json:
    option = _word(_text(question, "option"), Option, "option")
    verdict = judge(
        position,
        parse_squares(_text(question, "zone")),
        option,
        [
            _fall(fall, f"falls[{number}]")
            for number, fall in enumerate(_value(question, "falls", list, "a list of falls"), 1)
        ],
        [
            _square(square, f"moved[{number}]")
            for number, square in enumerate(_value(question, "moved", list, "a list of squares", []), 1)
        ],
        _decisions(_value(question, "decisions", dict, "an object from square to leaves or stays", {})),
    )
    return {
        "casualties": list(map(str, verdict.casualties)),
        "put_back": list(map(str, verdict.put_back)),
        "doubts": [
            {"square": str(doubt.square), "between": list(doubt.between), "commander": doubt.commander}
            for doubt in verdict.doubts
        ],
        "after": verdict.after and str(verdict.after),
        "winner": verdict.winner,
    }


_ANSWERS: Mapping[str, Callable[[Position, Mapping[str, object]], _Json]] = {
    "perft": _perft,
    "results": _results,
    "state": _state,
    "retreat": _retreat,
    "legal": _legal,
    "shot": _shot,
}


def _read(line: bytes) -> object:
    try:
        return json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as bad:
        raise QuestionError(f"byte {bad.start + 1} of the line is not UTF-8") from bad
    except json.JSONDecodeError as bad:
        raise QuestionError(f"the line is not JSON: {bad.msg} at character {bad.pos + 1}") from bad
    except (ValueError, RecursionError) as bad:
        # Numbers of thousands of digits, and lists in lists in lists.
        raise QuestionError("the line is JSON of a size that no question has") from bad


def _fall(fall: object, place: str) -> Fall:
    if not isinstance(fall, Mapping):
        raise QuestionError(f"{place}: found {_shown(fall)}, expected an object with side, square and cause")
    if ("cause" in fall) == ("between" in fall):
        raise QuestionError(f"{place}: expected either cause, or between where the cause is not known")
    causes = (
        [fall["cause"]]
        if "cause" in fall
        else _value(fall, "between", list, "a list of causes", place=f"{place}.")
    )
    return Fall(
        _square(fall.get("square"), f"{place}.square"),
        _word(fall.get("side"), Side, f"{place}.side"),
        tuple(
            _word(cause, Cause, f"{place}.{'cause' if 'cause' in fall else 'between'}") for cause in causes
        ),
    )


def _decisions(given: Mapping[str, object]) -> dict[Square, str]:
    decisions: dict[Square, str] = {}
    for name, word in given.items():
        square = _square(name, "decisions")
        if square in decisions:
            raise QuestionError(f"decisions: {square} stands twice")
        if not isinstance(word, str):
            raise QuestionError(f"decisions.{name}: found {_shown(word)}, expected leaves or stays")
        decisions[square] = word
    return decisions


def _text(given: Mapping[str, object], key: str) -> str:
    return _value(given, key, str, "a text")


def _value(
    given: Mapping[str, object],
    key: str,
    kind: type[_ValueT],
    expected: str,
    default: _ValueT | None = None,
    place: str = "",
) -> _ValueT:
    """Return the value of a key, or raise where it is of another kind, or missing without a default."""
    if key not in given and default is not None:
        return default
    value = given.get(key)
    # JSON's true is no number, though Python's is.
    if not isinstance(value, kind) or isinstance(value, bool):
        raise QuestionError(
            f"{place}{key}: found {_shown(value) if key in given else 'nothing'}, expected {expected}"
        )
    return value


def _square(name: object, place: str) -> Square:
    if not isinstance(name, str):
        raise QuestionError(f"{place}: found {_shown(name)}, expected a square such as G-49")
    return Square.parse(name)


def _word(word: object, words: type[_WordT], place: str) -> _WordT:
    if not isinstance(word, str) or word not in set(words):
        raise QuestionError(f"{place}: found {_shown(word)}, expected {_one_of(words)}")
    return words(word)


def _shown(value: object) -> str:
    """Return a value as a sentence names it: in JSON, but of a length that can be read."""
    if isinstance(value, list):
        return "a list"
    if isinstance(value, Mapping):
        return "an object"
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _one_of(words: Mapping[str, object] | type[StrEnum]) -> str:
    *first, last = map(str, words)
    return f"{', '.join(first)} or {last}"
