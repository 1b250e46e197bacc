"""Make of the core's sources what Frama-C analyses: the same statements, with interrupts between them.

Before every statement that touches what interrupts touch too stands a call of ``preempt`` (`driver.c`), which lets any
interrupt happen any number of times. A statement that touches nothing shared may change places with an interrupt, so it
needs none. A few notes for the analysis go in as well; they say where to look at cases apart, and change no meaning.
"""

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pycparser import c_ast, c_generator, c_parser

HERE = Path(__file__).resolve().parent
PROLOGUE = """#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
void preempt(void);
"""

# What receive, transmit and stop interrupts share with the main loop is all in these files, or reached by these names.
SHARED_FILES = {"receiver.c", "guard.c"}
SHARED = re.compile(r"\b(receiver|guard|ring|head|tail)\b")


@dataclass(frozen=True, slots=True)
class Note:
    """An annotation of the analysis, at the statement of a function that begins so."""

    function: str
    statement: str
    says: str
    after: bool = False


NOTES = (
    # Each setting has limits of its own.
    Note("configure", "if (!settings_allows(code, value))", "split code"),
    Note("configure", "refuse(cannon, WIRE_REFUSAL_BAD_VALUE, code)", "merge code"),
    Note("configure", "cannon->settings.values[code] = value", "merge code", after=True),
    # A type is an index only if it is known.
    Note("commands_take", "_Bool known", "slevel 10"),
    Note("commands_take", "if (frame->type == WIRE_COMMAND_IDENTIFY)", "slevel merge"),
    # No more events are taken away than there are.
    Note("outbox_acknowledge", "uint8_t seen", "split outbox->event_count"),
    Note("outbox_acknowledge", "memmove(", "merge outbox->event_count", after=True),
    # A frame is written only if there is one.
    Note("receiver_pop", "uint8_t slot", "split slot == receiver->head", after=True),
)

# An event is put into a place of its own: a case for each place, from its beginning to the last byte put.
EVENT_BEGINS = "begin_event("
EVENT_GOES_ON = "put_u"
EVENT_CASES = ("cannon->outbox.event_count", "cannon->identified")

_Node = c_ast.Node
_text: Callable[[_Node], str] = c_generator.CGenerator().visit


class WeavingError(Exception):
    """The core no longer has the statement that a note is for."""


def _call(name: str) -> _Node:
    return c_ast.FuncCall(c_ast.ID(name), None)


def _touches(statement: _Node) -> bool:
    """Whether a statement, or the condition of a compound one, touches what is shared."""
    if isinstance(statement, c_ast.Compound | c_ast.Case | c_ast.Default):
        return False
    if isinstance(statement, c_ast.If | c_ast.While | c_ast.DoWhile | c_ast.Switch):
        return bool(SHARED.search(_text(statement.cond)))
    if isinstance(statement, c_ast.For):
        parts = filter(None, (statement.init, statement.cond, statement.next))
        return any(SHARED.search(_text(part)) for part in parts)
    return bool(SHARED.search(_text(statement)))


class _Function:
    """One function being woven."""

    def __init__(self, definition: c_ast.FuncDef, notes: set[Note]) -> None:
        self._name = definition.decl.name
        self._everywhere = Path(definition.coord.file).name in SHARED_FILES
        self._notes = notes
        self._block(definition.body)

    def _block(self, block: c_ast.Compound) -> None:
        items: list[_Node] = []
        in_event = False
        for item in block.block_items or []:
            begins = _text(item)
            before, after = [], []
            if begins.startswith(EVENT_BEGINS):
                before += [_call(f"split_{number}") for number in range(len(EVENT_CASES))]
                in_event = True
            elif in_event and not begins.startswith(EVENT_GOES_ON):
                before += [_call(f"merge_{number}") for number in range(len(EVENT_CASES))]
                in_event = False
            for number, note in enumerate(NOTES):
                if note.function == self._name and begins.startswith(note.statement):
                    self._notes.add(note)
                    (after if note.after else before).append(_call(f"note_{number}"))
            if self._everywhere or _touches(item):
                items.append(_call("preempt"))
            self._inside(item)
            items += [*before, item, *after]
        if in_event:
            items += [_call(f"merge_{number}") for number in range(len(EVENT_CASES))]
        block.block_items = items

    def _inside(self, item: _Node) -> None:
        if isinstance(item, c_ast.If):
            item.iftrue = self._braced(item.iftrue)
            item.iffalse = self._braced(item.iffalse)
        elif isinstance(item, c_ast.While | c_ast.DoWhile | c_ast.For):
            again = self._everywhere or _touches(item)
            item.stmt = self._braced(item.stmt)
            if again:
                item.stmt.block_items.append(_call("preempt"))
        elif isinstance(item, c_ast.Switch):
            for case in item.stmt.block_items:
                body = c_ast.Compound(case.stmts)
                self._block(body)
                case.stmts = body.block_items
        elif isinstance(item, c_ast.Compound):
            self._block(item)

    def _braced(self, statement: _Node | None) -> _Node | None:
        if statement is None:
            return None
        block = statement if isinstance(statement, c_ast.Compound) else c_ast.Compound([statement])
        self._block(block)
        return block


def weave(core: Path, pins: Path, into: Path) -> set[str]:
    """Write the woven sources of `core`.

    Parameters
    ----------
    core
        The folder of the sources.
    pins
        A folder with a ``board_pins.h`` that only declares.
    into
        Where to write; made if need be.

    Returns
    -------
    The names of all functions that the core's sources define.

    Raises
    ------
    WeavingError
        Where a note's statement is not to be found.
    """
    into.mkdir(parents=True, exist_ok=True)
    woven_notes: set[Note] = set()
    functions: set[str] = set()
    include = ["-nostdinc", f"-I{HERE / 'include'}", f"-I{core}", f"-I{pins}", "-Dvolatile="]
    for source in sorted(core.glob("*.c")):
        run = subprocess.run(["cc", "-E", *include, str(source)], capture_output=True, text=True, check=True)
        tree = c_parser.CParser().parse(run.stdout, str(source))
        for part in tree.ext:
            if isinstance(part, c_ast.FuncDef) and part.coord.file.endswith(".c"):
                functions.add(part.decl.name)
                _Function(part, woven_notes)
        tree.ext = [part for part in tree.ext if "/proof/include/" not in part.coord.file]
        text = re.sub(r"\bnote_(\d+)\(\);", lambda m: f"/*@ {NOTES[int(m[1])].says}; */ ;", _text(tree))
        text = re.sub(
            r"\b(split|merge)_(\d)\(\);", lambda m: f"/*@ {m[1]} {EVENT_CASES[int(m[2])]}; */ ;", text
        )
        (into / source.name).write_text(PROLOGUE + text, encoding="utf-8")
    for note in NOTES:
        if note not in woven_notes:
            raise WeavingError(f"{note.function} has no statement that begins with: {note.statement}")
    return functions
