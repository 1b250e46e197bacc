"""Learning the uniforms from a picture in which it is known who is of which side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Side
from vision.registration import NoBoard, register
from vision.scene import Scene, Uniforms
from vision.soldiers.another_table import another_table
from vision.soldiers.board import read_board
from vision.soldiers.uniforms import learn_uniforms

__all__ = ["NotTaught", "teach_uniforms"]

_LINES_AT_THE_START = 3
_FEWEST = 3


class NotTaught(ValueError):
    """The picture does not teach the uniforms; the text says why, in a sentence for the person at the table."""


def teach_uniforms(picture: NDArray[np.uint8], scene: Scene) -> Uniforms:
    """Learn what the sides wear.

    Without an expected position the soldiers must stand as at the start: each side on its own lines 1 to 3.

    Parameters
    ----------
    picture
        Shape (height, width) or (height, width, 3) BGR, the table at rest.
    scene
        What is known of it.

    Raises
    ------
    NotTaught
        Where the board is not found, it is another than the position tells, the sides are not known, or their uniforms cannot
        be told apart.
    """
    view = register(picture, scene)
    if isinstance(view, NoBoard):
        raise NotTaught(view.reason)
    board = read_board(picture, scene, view)
    if (other := another_table(board, scene)) is not None:
        raise NotTaught(other)
    soldiers = board.standing.soldiers
    if scene.expected is None:
        strays = [s.square for s in soldiers if s.square.own_line(s.square.field) > _LINES_AT_THE_START]
        if strays:
            raise NotTaught(
                f"a soldier stands on {strays[0]}, and without a position only lines 1 to 3 of each side tell the sides: "
                "write down the position, or set up as at the start"
            )
    sides = {
        (s.x_mm, s.y_mm): s.square.field if scene.expected is None else scene.expected.get(s.square, s.side)
        for s in soldiers
    }
    for side in Side:
        count = sum(of is side for of in sides.values())
        if count < _FEWEST:
            soldiers_of = (
                f"1 soldier of side {side} is" if count == 1 else f"{count} soldiers of side {side} are"
            )
            raise NotTaught(f"{soldiers_of} seen, and {_FEWEST} are needed at least")
    uniforms = learn_uniforms(board.flat, board.cover, board.raster, view, board.figure, sides)
    if uniforms is None:
        raise NotTaught("the uniforms of the two sides look the same in this picture")
    return uniforms
