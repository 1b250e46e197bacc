"""What `rig` says on standard error where a command could not do what was asked."""

from __future__ import annotations

import re

import typer

from rig.cli.terminal.sentences import echo
from rig.counted import counted
from rig.files.one_line import on_one_line

__all__ = ["complain", "is_ours", "sentences_of", "told_wrongly"]

_OUR_PACKAGES = frozenset({"game", "calibration", "vision", "rig", "twin"})
_MOST_FAULTS = 20  # more than anybody mends at once
_EXPECTED = {  # by pydantic's names; a bound follows
    "int_parsing": "a whole number",
    "float_parsing": "a number",
    "greater_than": "more than ",
    "greater_than_equal": "at least ",
    "less_than": "less than ",
    "less_than_equal": "at most ",
}
# "Invalid value for '--format' / '-f': ", or for nothing that is named.
_WHERE = re.compile(r"^Invalid value(?: for '?([^':]+)'?(?: / '[^']+')*)?: ")
_CHOICE = re.compile(r"(?P<where>.*: )?(?P<found>'.*') is not one of (?P<expected>'.*')", re.DOTALL)
_TYPED = "the command line"  # as the file that a value of the settings comes from
_LINE_BREAK = re.compile(r"\s*\n\s*")  # in the sentences of other people's libraries


def complain(sentence: str, status: int) -> int:
    """Print a sentence as one line, and return the exit status that goes with it."""
    # Bare `rig` shows its help and has nothing to add.
    if sentence:
        echo(f"rig: {on_one_line(_LINE_BREAK.sub(' ', sentence.strip()))}", err=True)
    return status


def told_wrongly(error: typer.TyperException) -> str:
    """Say what is wrong with the command line; a value that cannot be used is named, with what was expected."""
    from pydantic import ValidationError

    if isinstance(error.__cause__, ValidationError):
        wrong = error.__cause__.errors()[0]
        bound = next(iter(wrong.get("ctx", {}).values()), "")
        if isinstance(bound, float):
            bound = f"{bound:g}"
        if wrong["type"] == "value_error":
            error.message = str(bound)
        elif wrong["type"] in _EXPECTED:
            error.message = f"found {wrong['input']}, expected {_EXPECTED[wrong['type']]}{bound}"
    told = _in_house_words(error.format_message())
    if told.startswith("Got unexpected extra argument"):
        if ".toml" in told:
            told += "; the settings file is named by --settings"
        context = getattr(error, "ctx", None)
        if context and any("--tape" in each.opts for each in context.command.params):
            from rig.files.csv_table import to_number

            extra = told.partition("(s) (")[2].rstrip(")").split()
            if extra and all(to_number(word.strip(",")) is not None for word in extra):
                told += "; ranges are parted by commas, without blanks: --tape 648,655,651"
        if ".csv" in told and context and any("--csv" in each.opts for each in context.command.params):
            told += "; a CSV file is named by --csv"
    return told


def _in_house_words(told: str) -> str:
    """Say as the rig's own refusals do what typer says of a value: where, what was found, what was expected."""
    told = _WHERE.sub(lambda where: f"{where[1]}: " if where[1] else "", told).removesuffix(".")
    if choice := _CHOICE.fullmatch(told):
        *others, last = choice["expected"].replace("'", "").split(", ")
        expected = f"{', '.join(others)} or {last}" if others else last
        told = f"{choice['where']}found {choice['found']}, expected {expected}"
    return told


def is_ours(error: Exception) -> bool:
    """Whether the error's class was written by us: an expected failure that carries its own sentence."""
    return type(error).__module__.partition(".")[0] in _OUR_PACKAGES


def sentences_of(error: Exception) -> list[str]:
    """Return what an error of ours says: a sentence, or one for each fault of a file (`rig.files.checked_file.FaultyFile`)."""
    name, faults = getattr(error, "name", None), getattr(error, "faults", ())
    if name is None or not faults:
        return [str(error)]
    told = [str(fault) if name == _TYPED else f"{name}: {fault}" for fault in faults[:_MOST_FAULTS]]
    if len(faults) > _MOST_FAULTS:
        told.append(f"{name}: and {counted(len(faults) - _MOST_FAULTS, 'more fault')}")
    return told
