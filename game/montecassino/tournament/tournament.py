"""A tournament that has come so far: who takes part, under what terms, and the table of battles.

Every change gives another tournament. Nothing that was entered is ever taken away: a result is corrected by an entry
after it, and a player who withdraws stays in the standings.
"""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from game.montecassino import LONGEST_NAME, AgreementError, Side, is_seen
from game.montecassino.tournament.results import Forfeit
from game.montecassino.tournament.table import Pairing, Player, ResultEntry, Round
from game.montecassino.tournament.terms import Terms

__all__ = ["System", "Tournament", "TournamentError", "name_fault", "name_key"]


class TournamentError(ValueError):
    """What the tournament does not allow, in one sentence."""


class System(StrEnum):
    """Who meets whom."""

    SWISS = "swiss"
    """In each round players of about equal points, nobody twice while it can be avoided."""
    ROUND_ROBIN = "round-robin"
    """Everybody meets everybody once."""
    DOUBLE_ROUND_ROBIN = "double-round-robin"
    """Everybody meets everybody twice, once on each side."""


@dataclass(frozen=True, slots=True)
class Tournament:
    """A tournament.

    Parameters
    ----------
    name : str
        Its title.
    system : System
        Who meets whom.
    rounds_planned : int
        Of a Swiss tournament, so many rounds are paired at most; 0 in a round robin, where the players' number says it.
    terms : Terms
        What holds in every battle.
    players : tuple of Player
        In the order in which they entered, which stands for their strength where points say nothing yet.
    rounds : tuple of Round
        Those that are paired, the first one first.
    """

    name: str
    system: System
    rounds_planned: int
    terms: Terms = field(default_factory=Terms)
    players: tuple[Player, ...] = ()
    rounds: tuple[Round, ...] = ()

    def player(self, name: str) -> Player:
        """Return the player of that name, capitals or not.

        Raises
        ------
        TournamentError
            If nobody has it; the nearest name is suggested.
        """
        player = self._known(name)
        if player is None:
            raise TournamentError(self.unknown(name))
        return player

    def unknown(self, name: str) -> str:
        """Say that nobody has a name, and who was perhaps meant."""
        if not self.players:
            return f"nobody is called {name!r}: there are no players yet"
        names = [player.name for player in self.players]
        by_key = {name_key(each): each for each in names}
        near = difflib.get_close_matches(name_key(name), by_key, n=1)
        hint = f"did you mean {by_key[near[0]]!r}?" if near else f"the players are {_listed(names)}"
        return f"nobody is called {name!r}; {hint}"

    @property
    def in_play(self) -> tuple[Player, ...]:
        """Those who are paired in rounds to come."""
        return tuple(player for player in self.players if not player.withdrawn)

    def open_pairings(self) -> Iterator[tuple[int, Pairing]]:
        """Yield the number of the round and the pairing of each battle whose result is not in."""
        for number, each in enumerate(self.rounds, start=1):
            for pairing in each.open_pairings:
                yield number, pairing

    def pairing(self, round_number: int, board: int) -> Pairing:
        """Return a pairing of the table.

        Raises
        ------
        TournamentError
            If there is no such round, or no such board in it.
        """
        if not 1 <= round_number <= len(self.rounds):
            some = "round 1 is" if len(self.rounds) == 1 else f"rounds 1 to {len(self.rounds)} are"
            paired = f"{some} paired" if self.rounds else "none is paired yet"
            raise TournamentError(f"there is no round {round_number}: {paired}")
        pairings = self.rounds[round_number - 1].pairings
        if not 1 <= board <= len(pairings):
            boards = "its one board is 1" if len(pairings) == 1 else f"its boards are 1 to {len(pairings)}"
            raise TournamentError(f"round {round_number} has no board {board}: {boards}")
        return pairings[board - 1]

    def with_players(self, players: Iterable[Player]) -> Tournament:
        """Return the tournament with players entered, or back again who had withdrawn.

        Who comes back has the handicap of before, but for what is given anew. In a round robin that is paired the
        handicap stays, and so do the forfeits, until they are corrected.

        Raises
        ------
        TournamentError
            If a name cannot be one or is taken, the handicap is none, or the round robin is paired and the player is
            new or to have another handicap.
        """
        after = self
        for player in players:
            after = after._with_player(player)
        return after

    def _with_player(self, player: Player) -> Tournament:
        if fault := name_fault(player.name):
            raise TournamentError(fault)
        known = self._known(player.name)
        if known is not None and not known.withdrawn:
            raise TournamentError(f"{known.name!r} takes part already")
        if self.rounds and self.system is not System.SWISS:
            if known is None:
                raise TournamentError(
                    f"{player.name!r} comes too late: the rounds of a round robin are paired all at once"
                )
            if player.zone is not None or player.shots is not None:
                raise TournamentError(
                    f"{known.name!r} comes back with the handicap of before: the rounds of a round robin are paired all at once"
                )
        if fault := self.terms.zone_fault(player.zone):
            raise TournamentError(f"{player.name!r}: {fault}")
        try:
            for side in Side:
                artillery = self.terms.artillery(player, side)
                self.terms.agreement({side: artillery})
        except AgreementError as bad:
            raise TournamentError(f"{player.name!r}: {bad}") from bad
        if known is None:
            return replace(self, players=(*self.players, player))
        back = replace(
            known,
            zone=known.zone if player.zone is None else player.zone,
            shots=known.shots if player.shots is None else player.shots,
            withdrawn=False,
        )
        return self._with_changed(known, back)

    def withdrawn(self, name: str, at: str) -> Tournament:
        """Return the tournament without a player in the rounds to come.

        Before the first round the player is taken off the list. Later the points stay; in a round robin the battles
        that are not fought become forfeits.

        Parameters
        ----------
        name : str
            Who goes.
        at : str
            When, for the entries of the forfeits.

        Raises
        ------
        TournamentError
            If nobody has that name, or the player has withdrawn already.
        """
        player = self.player(name)
        if player.withdrawn:
            raise TournamentError(f"{player.name!r} has withdrawn already")
        if not self.rounds:
            return replace(self, players=tuple(each for each in self.players if each is not player))
        after = self._with_changed(player, replace(player, withdrawn=True))
        if self.system is System.SWISS:
            return after
        for number, pairing in self.open_pairings():
            for side in Side:
                if pairing.seat(side).player == player.name:
                    entry = ResultEntry(Forfeit(frozenset({side})), "withdrawn", at)
                    after = after.entered(number, pairing.board, entry)
        return after

    def entered(self, round_number: int, board: int, entry: ResultEntry) -> Tournament:
        """Return the tournament with a result entered.

        Parameters
        ----------
        round_number, board : int
            Whose result it is.
        entry : ResultEntry
            The result; with a reason (`why`) where it corrects the one before.

        Raises
        ------
        TournamentError
            If there is no such pairing, it has a result and the entry is no correction, it has none and the entry is
            one, the battle is entered already and was not corrected since, or the reason or the battle file's name cannot be printed.
        """
        pairing = self.pairing(round_number, board)
        for what, text in (("the reason", entry.why), ("the battle file's name", entry.source)):
            if not text.isprintable():
                raise TournamentError(f"{what}: found {text!r}, expected one that can be printed")
        where = f"round {round_number}, board {board}"
        # A battle whose result was corrected may be right after all.
        entered = [each.battle for each in pairing.entries]
        is_back = bool(entry.why) and entry.battle in entered[:-1] and entry.battle != entered[-1]
        if entry.battle and not is_back and (before := self._where_entered(entry.battle)):
            raise TournamentError(f"{entry.source} is entered already: {before}")
        if pairing.result is not None and not entry.why:
            last = pairing.entries[-1]
            raise TournamentError(
                f"{where} has a result already: {last.result} ({last.source}); a correction needs a reason"
            )
        if pairing.result is None and entry.why:
            raise TournamentError(f"{where} has no result yet that could be corrected")
        if entry.why and pairing.result == entry.result:
            raise TournamentError(f"{where} has that result already: {entry.result}")
        changed = replace(pairing, entries=(*pairing.entries, entry))
        round_ = self.rounds[round_number - 1]
        pairings = (*round_.pairings[: board - 1], changed, *round_.pairings[board:])
        rounds = list(self.rounds)
        rounds[round_number - 1] = replace(round_, pairings=pairings)
        return replace(self, rounds=tuple(rounds))

    def _known(self, name: str) -> Player | None:
        return next((each for each in self.players if name_key(each.name) == name_key(name)), None)

    def _where_entered(self, battle: str) -> str | None:
        for number, each in enumerate(self.rounds, start=1):
            for pairing in each.pairings:
                if any(entry.battle == battle for entry in pairing.entries):
                    return f"round {number}, board {pairing.board}, {' against '.join(pairing.names)}"
        return None

    def _with_changed(self, player: Player, changed: Player) -> Tournament:
        return replace(self, players=tuple(changed if each is player else each for each in self.players))


def name_fault(name: str) -> str | None:
    """Say what keeps a text from being a player's name; None where nothing does."""
    expected = "expected a player's name: letters, with single blanks between words"
    if not is_seen(name):
        return f"found {name!a}, {expected}"
    if not name.isprintable() or name != " ".join(name.split()):
        return f"found {name!r}, {expected}"
    if len(name) > LONGEST_NAME:
        return f"found a name of {len(name)} letters, {name[:20]!r}..., expected {LONGEST_NAME} at most"
    return None


def name_key(name: str) -> str:
    """Return what two spellings of one name have in common: capitals or not, accents typed in one piece or in two."""
    return unicodedata.normalize("NFC", name).casefold()


def _listed(names: list[str]) -> str:
    shown = names[:8]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
