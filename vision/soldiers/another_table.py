"""Whether a picture is of another table than the position that is told."""

from __future__ import annotations

from vision.scene import Scene
from vision.soldiers.board import Board

__all__ = ["another_table"]

_FEW_WRONG = 4


def another_table(board: Board, scene: Scene) -> str | None:
    """Say that what stands there has little to do with the position that was told; None: it has."""
    if scene.expected is None:
        return None
    seen = {soldier.square for soldier in board.standing.soldiers}
    wrong = seen.symmetric_difference(scene.expected)
    if 2 * len(wrong) <= max(len(scene.expected), 2 * _FEW_WRONG):
        return None
    named = len(scene.expected)
    return (
        f"the table does not stand as the position says on {len(wrong)} squares, and it names {named} "
        f"soldier{'' if named == 1 else 's'}: is it this shot's film, does it show one board the right way round, "
        "do corners_px lie on it?"
    )
