"""The rules page once more, as plainly as it can be said: coordinates, sets and loops, and no thought of speed.

It shares nothing with the package `game`, not even the squares, so that a mistake of one does not hide in the other.
Positions, turns and squares go in and out as text (N1, N4, N5, S3). A square is (x, y) in the board frame, counted in
squares (B3): x to the Allies' right, y towards the Germans.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

Place = tuple[int, int]


@dataclass(frozen=True)
class Table:
    """A position as read from its line."""

    turn: str
    own: frozenset[Place]
    """Soldiers of the side to move."""
    enemy: frozenset[Place]
    held_by_own: int
    held_by_enemy: int
    shots: dict[str, int]
    retreated: frozenset[str]
    boards: int

    def line(self, place: Place) -> int:
        """Own line of the side to move (B5)."""
        return place[1] + 1 if self.turn == "A" else 18 - place[1]

    def ahead(self, place: Place) -> Place:
        return place[0], place[1] + (1 if self.turn == "A" else -1)

    def on_board(self, place: Place) -> bool:
        return 0 <= place[0] < 8 * self.boards and 0 <= place[1] < 18

    def own_field(self) -> list[Place]:
        """Own squares, lowest numbers first: line by line, board 1 before board 2 (S3)."""
        boards = [0] if self.boards == 1 else [1, 2]
        return [
            place_of(self.turn, 8 * line + file, board)
            for line in range(9)
            for board in boards
            for file in range(1, 9)
        ]


def place_of(field: str, number: int, board: int) -> Place:
    """B3, and board 2 lies 8 squares further along x (S3)."""
    file, row = (number - 1) % 8, (number - 1) // 8
    beyond = 8 if board == 2 else 0
    return (file + beyond, row) if field == "A" else (7 - file + beyond, 17 - row)


SQUARES = {
    boards: {
        place_of(field, number, board): (field, board, number)
        for field in "AG"
        for board in ((0,) if boards == 1 else (1, 2))
        for number in range(1, 73)
    }
    for boards in (1, 2)
}
"""Field, board and number of each place, on one board and on two; they sort as N4 has it."""

NAMES = {
    boards: {
        place: f"{field}-{number:02d}" + (f".{board}" if board else "")
        for place, (field, board, number) in squares.items()
    }
    for boards, squares in SQUARES.items()
}


def read_squares(text: str) -> list[tuple[str, int, int]]:
    """Field, number and board of each square of a list as N4 writes it."""
    if text == "-":
        return []
    found = []
    for item in text.split(","):
        ends = re.findall(r"([AG])-?(\d+)(?:\.(\d))?", item)
        (field, first, board), (_, last, _) = ends[0], ends[-1]
        found += [(field, number, int(board or 0)) for number in range(int(first), int(last) + 1)]
    return found


def read(position: str) -> Table:
    """Read a sound position line (N4)."""
    turn, squares_a, squares_g, held, shots, retreated = position.split(" ")
    placed = {"A": read_squares(squares_a), "G": read_squares(squares_g)}
    soldiers = {side: frozenset(place_of(*square) for square in squares) for side, squares in placed.items()}
    prisoners = dict(zip("AG", map(int, held.split("/")), strict=True))
    joined = any(board for squares in placed.values() for _, _, board in squares)
    nobody_and_many = not any(placed.values()) and max(prisoners.values()) > 24
    enemy = "G" if turn == "A" else "A"
    return Table(
        turn,
        soldiers[turn],
        soldiers[enemy],
        prisoners[turn],
        prisoners[enemy],
        dict(zip("AG", map(int, shots.split("/")), strict=True)),
        frozenset(retreated.replace("-", "")),
        2 if joined or nobody_and_many else 1,
    )


def write(table: Table) -> str:
    """Print the position line (N4)."""
    enemy = "G" if table.turn == "A" else "A"
    soldiers = {table.turn: table.own, enemy: table.enemy}
    held = {table.turn: table.held_by_own, enemy: table.held_by_enemy}
    return " ".join(
        (
            table.turn,
            write_squares(soldiers["A"], table.boards),
            write_squares(soldiers["G"], table.boards),
            f"{held['A']}/{held['G']}",
            f"{table.shots['A']}/{table.shots['G']}",
            "".join(sorted(table.retreated)) or "-",
        )
    )


def write_squares(places: frozenset[Place], boards: int) -> str:
    runs: list[list[tuple[str, int, int]]] = []
    for square in sorted(SQUARES[boards][place] for place in places):
        if runs and runs[-1][-1] == (square[0], square[1], square[2] - 1):
            runs[-1].append(square)
        else:
            runs.append([square])
    return ",".join("-".join(map(short, run if len(run) == 1 else (run[0], run[-1]))) for run in runs) or "-"


def short(square: tuple[str, int, int]) -> str:
    field, board, number = square
    return f"{field}{number:02d}" + (f".{board}" if board else "")


def passed(table: Table, **changed: object) -> Table:
    """The turn passes to the other side."""
    after = replace(table, **changed)  # type: ignore[arg-type]
    return replace(
        after,
        turn="G" if after.turn == "A" else "A",
        own=after.enemy,
        enemy=after.own,
        held_by_own=after.held_by_enemy,
        held_by_enemy=after.held_by_own,
    )


# Infantry.

Path = tuple[Place, ...]


def moves_of(table: Table, start: Place, most: int) -> Iterator[tuple[Path, bool]]:
    """What one soldier may do on the table as it stands, with `most` steps: its way, and whether it takes (M3 to M8)."""
    line = table.line(start)
    if line in (1, 2, 16, 17):  # M7
        most = min(most, 1)

    def free(place: Place) -> bool:
        return table.on_board(place) and place not in table.own and place not in table.enemy

    def go_on(path: Path, lateral: bool) -> Iterator[tuple[Path, bool]]:
        here = path[-1]
        if len(path) - 1 == most:
            return
        if len(path) > 1 and table.line(here) == 16:  # M7: on reaching own line 16 its move ends
            return
        there = table.ahead(here)
        if free(there):  # M3
            yield (*path, there), False
            yield from go_on((*path, there), lateral)
        if not lateral:  # M4, once
            for aside in (-1, 1):
                there = (here[0] + aside, here[1])
                if free(there):
                    yield (*path, there), False
                    yield from go_on((*path, there), True)
            for aside in (-1, 1):  # M6, ends the move
                there = (here[0] + aside, table.ahead(here)[1])
                if there in table.enemy:
                    yield (*path, there), True
        if (
            len(path) == 1 and 5 <= table.line(here) <= 9
        ):  # M5: onto 25 to 72 of the own field, from there too
            there = (here[0], 2 * here[1] - table.ahead(here)[1])
            if free(there):
                yield (*path, there), False

    yield from go_on((start,), False)


def freeings(table: Table, path: Path) -> Iterator[tuple[int, frozenset[Place]]]:
    """How many may be freed after this move, and the own soldiers then (P2 to P4); the table is as it left it."""
    before, end = path[-2:]
    if table.line(end) != 16 or table.line(before) != 15:
        return
    second_line = table.ahead(end)[1]
    if (end[0] - 1, second_line) in table.enemy or (end[0] + 1, second_line) in table.enemy:
        return
    base = [place for place in table.own_field() if table.line(place) <= 3]
    room = [place for place in base if place not in table.own and place not in table.enemy]
    for freed in (1, 2):
        if freed <= table.held_by_enemy and freed + 1 <= len(room):
            yield freed, (table.own - {end}) | set(room[: freed + 1])


def won(table: Table, end: Place) -> bool:
    """Whether the step that ended here has won (V1, V2)."""
    return not table.enemy or table.line(end) == 18


def turns(position: str, movers: tuple[str, ...] | None = None) -> Iterator[tuple[str, str]]:
    """Every legal turn and the position after it; with `movers` only those in which these soldiers move in this order."""
    start = read(position)
    names = NAMES[start.boards]

    def go_on(
        table: Table, moved: frozenset[Place], left: int, said: tuple[str, ...]
    ) -> Iterator[tuple[str, str]]:
        for soldier in sorted(table.own - moved):
            if movers is not None and (len(said) == len(movers) or names[soldier] != movers[len(said)]):
                continue
            for path, takes in moves_of(table, soldier, left):
                end = path[-1]
                after = moved_along(table, path, takes)
                way = [names[place] for place in path]
                text = (*said, ">".join(way[:-1]) + ("x" if takes else ">") + way[-1])
                yield ";".join(text), write(passed(after))
                if won(after, end):
                    continue
                for freed, own in freeings(after, path):
                    home = replace(after, own=own, held_by_enemy=after.held_by_enemy - freed)
                    yield f"{';'.join(text)}+{freed}", write(passed(home))
                steps_left = left - (len(path) - 1)
                if steps_left:
                    yield from go_on(after, moved | {end}, steps_left, text)

    if winner(position) is None:
        yield from go_on(start, frozenset(), 3, ())


def moved_along(table: Table, path: Path, takes: bool) -> Table:
    return replace(
        table,
        own=table.own - {path[0]} | {path[-1]},
        enemy=table.enemy - {path[-1]},
        held_by_own=table.held_by_own + takes,
    )


def results(position: str) -> set[str]:
    """The distinct positions after one turn (N6): as `turns`, but what has been seen is not gone into again."""
    start = read(position)
    found: set[Table] = set()
    seen = set()
    ahead = [(start, frozenset[Place](), 3)] if winner(position) is None else []
    while ahead:
        table, moved, left = ahead.pop()
        for soldier in table.own - moved:
            for path, takes in moves_of(table, soldier, left):
                after = moved_along(table, path, takes)
                key = (after.own, after.enemy, after.held_by_enemy)
                found_here = [key]
                if not won(after, path[-1]):
                    found_here += [
                        (own, after.enemy, after.held_by_enemy - freed)
                        for freed, own in freeings(after, path)
                    ]
                    steps_left = left - (len(path) - 1)
                    then = (after.own, after.enemy, moved | {path[-1]}, steps_left)
                    if steps_left and then not in seen:
                        seen.add(then)
                        ahead.append((after, moved | {path[-1]}, steps_left))
                found.update(found_here)
    return {
        write(
            passed(
                start,
                own=own,
                enemy=enemy,
                held_by_own=start.held_by_own + len(start.enemy) - len(enemy),
                held_by_enemy=held_by_enemy,
            )
        )
        for own, enemy, held_by_enemy in found
    }


def perft(position: str, depth: int) -> int:
    """N6: a won position adds 0, as nobody moves on it."""
    if depth == 1:
        return len(results(position))
    return sum(perft(after, depth - 1) for after in results(position))


# The end, retreat and shots.


def immobilised(position: str) -> bool:
    """V3."""
    table = read(position)
    return not any(True for soldier in table.own for _ in moves_of(table, soldier, 1))


def winner(position: str) -> str | None:
    """V1 to V3 and V5, at the start of a turn."""
    table = read(position)
    enemy = "G" if table.turn == "A" else "A"
    if not table.own and not table.enemy:
        return "draw"
    if not table.own:
        return enemy
    if not table.enemy:
        return table.turn
    if any(table.line(place) == 1 for place in table.enemy):
        return enemy
    if any(table.line(place) == 18 for place in table.own):
        return table.turn
    return enemy if immobilised(position) else None


def retreat(position: str) -> str | None:
    """R1 and R2; None where it may not be."""
    table = read(position)
    if table.turn in table.retreated or winner(position) is not None:
        return None
    staying = {place for place in table.own if table.line(place) <= 3}
    away = len(table.own) - len(staying)
    for place in table.own_field():
        if away and place not in staying and place not in table.enemy:
            staying.add(place)
            away -= 1
    return write(passed(table, own=frozenset(staying), retreated=table.retreated | {table.turn}))


def shot(
    position: str,
    zone: set[str],
    option: str,
    falls: dict[str, list[str]],
    moved: list[str],
    decisions: dict[str, str],
) -> dict[str, object]:
    """C3 to C9: casualties, put back and doubts by square, and the position after; decisions are taken as sound."""
    table = read(position)
    names = NAMES[table.boards]
    counted = {
        "i": {"direct", "ricochet", "dragged"},
        "ii": {"direct", "ricochet"},
        "iii": {"direct"},
    }[option]
    casualties, put_back, doubts, waiting = set(), set(moved), set(), set()
    for square, causes in falls.items():
        verdicts = {cause in counted for cause in causes}
        if square in zone and len(verdicts) == 2:
            doubts.add(square)
        if (
            square not in zone
            or verdicts == {False}
            or (len(verdicts) == 2 and decisions.get(square) == "stays")
        ):
            put_back.add(square)
        elif verdicts == {True} or decisions.get(square) == "leaves":
            casualties.add(square)
        else:
            waiting.add(square)
    left: Callable[[frozenset[Place]], frozenset[Place]] = lambda places: frozenset(  # noqa: E731
        place for place in places if names[place] not in casualties
    )
    shots = {side: count - (side == table.turn) for side, count in table.shots.items()}
    after = write(passed(table, own=left(table.own), enemy=left(table.enemy), shots=shots))
    return {
        "casualties": casualties,
        "put_back": put_back,
        "doubts": doubts,
        "after": None if waiting else after,
        "winner": None if waiting else winner(after),
    }
