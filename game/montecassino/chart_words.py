"""The words of the combat chart, in the booklet's three languages."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from game.montecassino.chart import Act, Column
from game.montecassino.outcomes import Reason
from game.montecassino.squares import Side


class Language(StrEnum):
    """The languages of the booklet."""

    ENGLISH = "en"
    SPANISH = "es"
    ITALIAN = "it"


class TitleLine(StrEnum):
    """The lines above the rows, in order."""

    BEGAN = "began"
    PLAYER_A = "player of A"
    CANNON_A = "cannon of A"
    PLAYER_G = "player of G"
    CANNON_G = "cannon of G"
    FIRST = "first turn"
    OPTION = "option"
    ZONE_A = "zone of A"
    ZONE_G = "zone of G"
    SHOTS_A = "shots of A"
    SHOTS_G = "shots of G"
    CANNONS = "cannons"
    LINES = "lines"
    BOARDS = "boards"
    START = "start"


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """One language."""

    chart: str
    """What the sheet is called."""
    movements: str
    """Head above the number and the marks."""
    prisoner: str
    """Head above capture and freeing."""
    heads: Mapping[Column, str]
    title: Mapping[TitleLine, str]
    fields: Mapping[Side, str]
    """Whose field the letter of a square names."""
    signs: Mapping[Act, str]
    """What a sign in the column From says."""
    page: str
    """With the places `page` and `pages`."""
    result: str
    points: str
    wins: Mapping[Side, str]
    draw: str
    reasons: Mapping[Reason, str]


def plain(text: str) -> str:
    """Return a head or label without case, accents, dots and blanks, so that ``Nº`` is the same as ``no.``."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text.casefold())))


_ENGLISH = Words(
    chart="Combat chart",
    movements="Movements",
    prisoner="Prisoner",
    heads={column: str(column) for column in Column},
    title={
        TitleLine.BEGAN: "Date",
        TitleLine.PLAYER_A: "Allies",
        TitleLine.CANNON_A: "Cannon of the Allies",
        TitleLine.PLAYER_G: "Germans",
        TitleLine.CANNON_G: "Cannon of the Germans",
        TitleLine.FIRST: "First turn",
        TitleLine.OPTION: "Casualty option",
        TitleLine.ZONE_A: "Zone of the Allies",
        TitleLine.ZONE_G: "Zone of the Germans",
        TitleLine.SHOTS_A: "Shots of the Allies",
        TitleLine.SHOTS_G: "Shots of the Germans",
        TitleLine.CANNONS: "Cannons",
        TitleLine.LINES: "Lines of soldiers",
        TitleLine.BOARDS: "Boards",
        TitleLine.START: "Start",
    },
    fields={Side.A: "field of the Allies", Side.G: "field of the Germans"},
    signs={Act.RETREAT: "retreat", Act.ABANDON: "abandoned", Act.ADJOURN: "adjourned"},
    page="Page {page} of {pages}",
    result="Result",
    points="Points",
    wins={Side.A: "The Allies have won", Side.G: "The Germans have won"},
    draw="Drawn",
    reasons={
        Reason.NO_SOLDIERS: "the enemy has no soldier on the board",
        Reason.LAST_LINE: "a soldier has reached the enemy's first line",
        Reason.ABANDONED: "the enemy has abandoned the battle",
        Reason.IMMOBILISED: "the enemy cannot move in its turn",
        Reason.BOTH_WITHOUT_SOLDIERS: "neither side has a soldier on the board",
    },
)

_SPANISH = Words(
    chart="Planilla de combate",
    movements="Movimientos",
    prisoner="Prisionero",
    heads={
        Column.NUMBER: "Nº",
        Column.INFANTRY: "Inf.",
        Column.ARTILLERY: "Art.",
        Column.START: "De",
        Column.END: "A",
        Column.CAPTURE: "Toma",
        Column.FREEING: "Libera",
        Column.LOSSES: "Bajas cañón",
        Column.ENEMIES: "Enemigos en el campo",
    },
    title={
        TitleLine.BEGAN: "Fecha",
        TitleLine.PLAYER_A: "Aliados",
        TitleLine.CANNON_A: "Cañón de los Aliados",
        TitleLine.PLAYER_G: "Germanos",
        TitleLine.CANNON_G: "Cañón de los Germanos",
        TitleLine.FIRST: "Primer turno",
        TitleLine.OPTION: "Opción de bajas",
        TitleLine.ZONE_A: "Zona de los Aliados",
        TitleLine.ZONE_G: "Zona de los Germanos",
        TitleLine.SHOTS_A: "Disparos de los Aliados",
        TitleLine.SHOTS_G: "Disparos de los Germanos",
        TitleLine.CANNONS: "Cañones",
        TitleLine.LINES: "Filas de soldados",
        TitleLine.BOARDS: "Tableros",
        TitleLine.START: "Comienzo",
    },
    fields={Side.A: "campo Aliado", Side.G: "campo Germano"},
    signs={Act.RETREAT: "retirada", Act.ABANDON: "abandono", Act.ADJOURN: "aplazamiento"},
    page="Página {page} de {pages}",
    result="Resultado",
    points="Puntos",
    wins={Side.A: "Ganan los Aliados", Side.G: "Ganan los Germanos"},
    draw="Empate",
    reasons={
        Reason.NO_SOLDIERS: "el enemigo no tiene soldados en el tablero",
        Reason.LAST_LINE: "un soldado ocupa la primera línea enemiga",
        Reason.ABANDONED: "el enemigo abandona el combate",
        Reason.IMMOBILISED: "el enemigo queda inmovilizado en su turno",
        Reason.BOTH_WITHOUT_SOLDIERS: "ningún bando tiene soldados en el tablero",
    },
)

_ITALIAN = Words(
    chart="Tabletta di combattimento",
    movements="Movimenti",
    prisoner="Prigioniero",
    heads={
        Column.NUMBER: "N°",
        Column.INFANTRY: "Inf.",
        Column.ARTILLERY: "Art.",
        Column.START: "Da",
        Column.END: "A",
        Column.CAPTURE: "Prende",
        Column.FREEING: "Libera",
        Column.LOSSES: "Caduti cannone",
        Column.ENEMIES: "Nemici sul campo",
    },
    title={
        TitleLine.BEGAN: "Data",
        TitleLine.PLAYER_A: "Alleati",
        TitleLine.CANNON_A: "Cannone degli Alleati",
        TitleLine.PLAYER_G: "Tedeschi",
        TitleLine.CANNON_G: "Cannone dei Tedeschi",
        TitleLine.FIRST: "Primo turno",
        TitleLine.OPTION: "Opzione sui caduti",
        TitleLine.ZONE_A: "Zona degli Alleati",
        TitleLine.ZONE_G: "Zona dei Tedeschi",
        TitleLine.SHOTS_A: "Spari degli Alleati",
        TitleLine.SHOTS_G: "Spari dei Tedeschi",
        TitleLine.CANNONS: "Cannoni",
        TitleLine.LINES: "File di soldati",
        TitleLine.BOARDS: "Tabelle",
        TitleLine.START: "Inizio",
    },
    fields={Side.A: "campo Alleato", Side.G: "campo Tedesco"},
    signs={Act.RETREAT: "ritirata", Act.ABANDON: "abbandono", Act.ADJOURN: "rinvio"},
    page="Pagina {page} di {pages}",
    result="Risultato",
    points="Punti",
    wins={Side.A: "Vincono gli Alleati", Side.G: "Vincono i Tedeschi"},
    draw="Pareggio",
    reasons={
        Reason.NO_SOLDIERS: "il nemico non ha soldati sul campo",
        Reason.LAST_LINE: "un soldato ha raggiunto la prima linea nemica",
        Reason.ABANDONED: "il nemico abbandona il combattimento",
        Reason.IMMOBILISED: "il nemico è immobilizzato al suo turno",
        Reason.BOTH_WITHOUT_SOLDIERS: "nessuna parte ha soldati sul campo",
    },
)

WORDS: Mapping[Language, Words] = MappingProxyType(
    {Language.ENGLISH: _ENGLISH, Language.SPANISH: _SPANISH, Language.ITALIAN: _ITALIAN}
)
"""The chart's words in each language."""
