"""Tournaments of Montecassino: the table of battles, pairing, points with halves, standings with tie-breaks."""

from game.montecassino.tournament.contenders import Contender, contenders
from game.montecassino.tournament.encounters import Encounter, Kind, encounters
from game.montecassino.tournament.pairing import pair, rematches_of, unpair
from game.montecassino.tournament.points import format_points
from game.montecassino.tournament.results import Forfeit, Fought, Result, ResultTextError
from game.montecassino.tournament.round_robin import round_robin
from game.montecassino.tournament.standings import Standing, standings
from game.montecassino.tournament.swiss import Cost, Matcher, pair_swiss
from game.montecassino.tournament.table import Artillery, Pairing, Player, ResultEntry, Round, Seat
from game.montecassino.tournament.terms import Terms
from game.montecassino.tournament.tie_breaks import TieBreak
from game.montecassino.tournament.tournament import System, Tournament, TournamentError, name_fault, name_key

__all__ = [
    "Artillery",
    "Contender",
    "Cost",
    "Encounter",
    "Forfeit",
    "Fought",
    "Kind",
    "Matcher",
    "Pairing",
    "Player",
    "Result",
    "ResultEntry",
    "ResultTextError",
    "Round",
    "Seat",
    "Standing",
    "System",
    "Terms",
    "TieBreak",
    "Tournament",
    "TournamentError",
    "contenders",
    "encounters",
    "format_points",
    "name_fault",
    "name_key",
    "pair",
    "pair_swiss",
    "rematches_of",
    "round_robin",
    "standings",
    "unpair",
]
