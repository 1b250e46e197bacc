"""A battle at the terminal: what is typed, line by line, and what is answered."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from rich.console import Console

from game.montecassino import (
    Abandon,
    Adjourn,
    AmbiguousTurnError,
    Battle,
    Entry,
    IllegalTurnError,
    Option,
    Retreat,
    Shot,
    Side,
    Square,
    SquareError,
    TurnTextError,
    choose_turn,
    format_squares,
    legal_turns,
    read_entry,
)
from rig.battle.file import ChangedBattleFile, FaultyBattleFile, holds, write_battle
from rig.cli.terminal.battle import ending_lines, say, show_battle
from rig.cli.terminal.board import SIDE_NAMES, board_lines
from rig.files.one_line import as_typed, on_one_line

__all__ = ["Playing"]

_HELP = """\
A turn is entered as it is written down:
  A-17>A-25>A-33        a soldier's steps; its start and end are enough,
                        or its end where only one can come there
  A-17>A-25;A-18>A-26   two or three soldiers
  A-30xA-39             a step that takes a prisoner
  G-32>G-24+2           frees two comrades on reaching the enemy's third line
  *A-62,G-50            a shot and the falls that counted; * alone is a miss
Or a word:
  fire                  a shot; asks who fell
  retreat   (or R)      the soldiers go back to base; half a point to the enemy
  abandon   (or #)      the battle is lost
  adjourn [FILE]        the battle is kept in FILE, to go on another day
  undo                  takes the last turn back
  moves [SQUARE]        where each soldier can go by itself,
                        or every turn of the one on SQUARE alone
  board                 shows the board again
  quit                  leaves; a battle file keeps what was played"""

_WITH_MORE = frozenset({"adjourn", "||", "moves"})

_COUNTS: Mapping[Option, str] = {
    Option.I: "those hit directly, hit by ricochet and knocked over by another",
    Option.II: "those hit directly and by ricochet, not those knocked over by another",
    Option.III: "those hit directly; in doubt the commander of the side that was hit decides",
}


class Playing:
    """One sitting: people, or a person and the computer, play a battle on.

    Parameters
    ----------
    battle : Battle
        As it stands; not adjourned.
    file : Path or None
        Where it is kept after every turn.
    computer : Side or None
        The side that the computer commands.
    rng : Random
        Decides where the computer does not mind.
    console : Console
        Where everything is shown.
    ask : callable
        Shows its words and returns the line that is typed, or None at the end of the input.
    """

    def __init__(
        self,
        battle: Battle,
        *,
        file: Path | None,
        computer: Side | None,
        rng: Random,
        console: Console,
        ask: Callable[[str], str | None],
    ) -> None:
        self.battle = battle
        self._kept = battle if file is not None else None
        self._file = file
        self._computer = computer
        self._rng = rng
        self._console = console
        self._ask = ask
        self._left = False
        self._commands: Mapping[str, Callable[[str], object]] = {
            "help": lambda _: self._say(_HELP),
            "?": lambda _: self._say(_HELP),
            "board": lambda _: self._show(),
            "moves": self._moves,
            "undo": lambda _: self._undo(),
            "fire": lambda _: self._fire(),
            "retreat": lambda _: self._play(Retreat()),
            "abandon": lambda _: self._play(Abandon()),
            "adjourn": self._adjourn,
            "||": self._adjourn,
            "quit": lambda _: self._leave(),
            "exit": lambda _: self._leave(),
        }

    def run(self) -> None:
        """Play until the battle is over, adjourned or left."""
        self._show()
        while not self._left:
            if self.battle.outcome is not None:
                self._finish()
            elif self.battle.position.turn is self._computer:
                turn = choose_turn(self.battle.position, self._rng)
                self._say(f"{self._prompt()}{turn}")
                self._play(turn)
            else:
                self._obey(self._question(self._prompt()))

    def leave(self) -> bool:
        """Say what becomes of a battle that is not over, or is not kept; return whether that is as it was asked."""
        if self._file is not None and not holds(self._file, self.battle):
            try:
                self._write(self._file, self.battle)
            except FaultyBattleFile as error:
                self._say(f"The battle is not kept since entry {self._first_unkept()}: {on_one_line(error)}")
                return False
        if self.battle.outcome is None and not self.battle.adjourned:
            kept = "not kept" if self._file is None else f"kept. {self.how_to_go_on(self._file)}"
            self._say(f"The battle is {kept}")
        return True

    def how_to_go_on(self, path: Path) -> str:
        """Say which command goes on with a battle that is kept in a file."""
        opponent = "" if self._computer is None else f" --against computer --side {self._computer.enemy}"
        return f"To go on: rig game play --battle {as_typed(path)}{opponent}"

    def _finish(self) -> None:
        """Say how the battle has ended; a slip of the pen can still be taken back."""
        for line in ending_lines(self.battle):
            self._say(line)
        if self._question("Enter to leave, undo to take the last turn back: ").lower() == "undo":
            self._undo()
        else:
            self._leave()

    def _obey(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        command = self._commands.get(word.lower())
        # Who gives up a battle with "abandon?" or takes two turns back with "undo 2" may have meant something else.
        if command is not None and rest.strip() and word.lower() not in _WITH_MORE:
            said = f"{word}: found {rest.strip()!r} behind it, expected nothing more; nothing is done"
            if word.lower() == "fire":
                said += "; who fell and counts stands behind a star, as *A-62,G-50"
            self._say(said)
        elif command is not None:
            command(rest.strip())
        elif line:
            self._enter(line)

    def _enter(self, text: str) -> bool:
        """Play what is written down; say whether that could be done."""
        try:
            entry = read_entry(self.battle.position, text)
        except IllegalTurnError as error:
            self._say(f"not legal by {error.clause}: {error.why}")
        except AmbiguousTurnError as error:
            self._say(f"{error}: which?")
        except TurnTextError as error:
            self._say(f"{error} (help says what can be entered)")
        else:
            if str(entry) != text:
                self._say(f"read as {entry}")
            if isinstance(entry, Adjourn):
                self._adjourn("")
                return self._left
            return self._play(entry)
        return False

    def _play(self, entry: Entry) -> bool:
        """Play an entry; say whether it is allowed, and if not, why."""
        try:
            battle = self.battle.play(entry)
        except IllegalTurnError as error:
            self._say(f"not legal by {error.clause}: {error.why}")
            return False
        self._keep(battle)
        self._show()
        return True

    def _keep(self, battle: Battle) -> None:
        """Go on with a battle, and keep it."""
        self.battle = battle
        if self._file is not None:
            try:
                self._write(self._file, battle)
            except FaultyBattleFile as error:
                self._say(f"this turn is not kept: {on_one_line(error)}")

    def _write(self, path: Path, battle: Battle) -> None:
        """Keep a battle in its file; where somebody else wrote into that one, in a new file beside it from now on."""
        try:
            write_battle(path, battle, over=self._kept)
        except ChangedBattleFile as changed:
            names = (path.with_name(f"{path.stem}-{count}{path.suffix}") for count in itertools.count(2))
            beside = next(name for name in names if not name.exists())
            write_battle(beside, battle)
            self._file = beside
            self._say(
                f"{on_one_line(changed)}; it is left so, and what is played here is kept in {on_one_line(beside)} from now on"
            )
        self._kept = battle

    def _first_unkept(self) -> int:
        """Return the number of the first entry that the file has not, or has and should not."""
        kept = () if self._kept is None else self._kept.history
        alike = itertools.takewhile(
            lambda pair: pair[0] == pair[1], zip(kept, self.battle.history, strict=False)
        )
        return sum(1 for _ in alike) + 1

    def _undo(self) -> None:
        try:
            battle = self.battle.undo()
        except ValueError as error:
            self._say(on_one_line(error))
            return
        # Against the computer one takes the own turn back, with its answer.
        while battle.history and battle.position.turn is self._computer:
            battle = battle.undo()
        self._keep(battle)
        self._show()

    def _fire(self) -> None:
        side, agreed = self.battle.position.turn, self.battle.agreement
        try:
            self.battle.play(Shot())
        except IllegalTurnError as error:
            self._say(f"not legal by {error.clause}: {error.why}")
            return
        for line in board_lines(self.battle.position, zone=agreed.zones[side]):
            self._console.print(line, soft_wrap=True)
        crew = agreed.players[side]
        if crew.cannon != crew.infantry:
            self._say(f"{crew.cannon} fires when {crew.infantry or 'the commander'} orders it.")
        self._say(
            f"Of those that fall on {format_squares(agreed.zones[side])}, these count: {_COUNTS[agreed.option]}."
        )
        while not self._left:
            fell = self._question(
                "Squares of those that count, as G-50,G-51; Enter for a miss; no for no shot: "
            )
            if self._left or fell.lower() == "no" or self._enter(f"*{fell.removeprefix('*')}"):
                return

    def _adjourn(self, name: str) -> None:
        path = Path(name) if name else self._file
        if path is None:
            self._say("adjourn needs the name of a file to keep the battle in")
            return
        if not name.isprintable():
            self._say(f"found {name!r}, expected the name of a file")
            return
        try:
            there = path != self._file and path.exists()
        except OSError as error:
            self._say(f"{on_one_line(path)}: {error.strerror}; name another file")
            return
        if there:
            self._say(f"{on_one_line(path)} is there already; name another file")
            return
        battle = self.battle.play(Adjourn())
        before = self._file
        try:
            if path == before:
                self._write(path, battle)
            else:
                write_battle(path, battle)
                self._file = path
        except FaultyBattleFile as error:
            self._say(on_one_line(error))
            return
        if before is not None and path != before:
            try:
                write_battle(before, battle, over=self._kept)
            except FaultyBattleFile as error:
                self._say(on_one_line(error))
        self.battle = battle
        self._say(f"Adjourned. {self.how_to_go_on(self._file or path)}")
        self._left = True

    def _moves(self, name: str) -> None:
        position = self.battle.position
        if name:
            try:
                square = Square.parse(name.upper())
            except SquareError as error:
                self._say(on_one_line(error))
                return
            alone = [str(turn) for turn in legal_turns(position, [square])]
            stands = square in position.squares_of(position.turn)
            none = (
                f"the soldier on {square} cannot move"
                if stands
                else f"no soldier of side {position.turn} stands on {square}"
            )
            self._say("\n".join(alone) or none)
            return
        for square in position.squares_of(position.turn):
            ends = {turn.moves[0].squares[-1] for turn in legal_turns(position, [square])}
            if ends:
                self._say(f"{square}: {', '.join(map(str, sorted(ends)))}")

    def _leave(self) -> None:
        self._left = True

    def _question(self, words: str) -> str:
        line = self._ask(words)
        if line is None:
            self._left = True
        return (line or "").strip()

    def _show(self) -> None:
        show_battle(self._console, self.battle)

    def _say(self, words: str) -> None:
        say(self._console, words)

    def _prompt(self) -> str:
        side = self.battle.position.turn
        commander = self.battle.agreement.players[side].infantry
        named = f" ({commander})" if commander else ""
        return f"{len(self.battle.history) + 1} {SIDE_NAMES[side]}{named}: "
