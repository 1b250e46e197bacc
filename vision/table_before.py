"""The table just before a shot: where the board is, and who stands on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.ends import ends_by_shot
from vision.film_times import first_moving_of
from vision.guards import unchanged
from vision.muzzle import muzzle_too_high
from vision.registration import BoardView, EitherWay, NoBoard, only_roughly, register
from vision.scene import Scene
from vision.soldiers import Board, read_board
from vision.soldiers.another_table import another_table
from vision.steady import typical

__all__ = ["NoReading", "TableBefore", "read_before", "still_stands"]

_MOST_STILL_FRAMES = 12
_ENDS_BY_SHOT = (
    "nothing on the table tells its ends apart: the shot did, which flew from the side that fires ({})"
)
_HARDLY_SEEN = "the soldiers hardly show against this board: the position is believed as it was told"


@dataclass(frozen=True, slots=True)
class NoReading:
    """The pictures cannot be read."""

    reason: str
    """One sentence for the person at the table."""


@dataclass(frozen=True, slots=True, eq=False)
class TableBefore:
    """The table just before a shot."""

    picture: NDArray[np.uint8]
    """What a few pictures before the release have in common."""
    view: BoardView
    """The camera."""
    board: Board
    """Who stands where."""
    notes: tuple[str, ...] = ()
    """What the person at the table should know of how the board was found; a sentence each."""


def read_before(
    frames: Sequence[NDArray[np.uint8]], timestamps_us: Sequence[int], scene: Scene
) -> TableBefore | NoReading:
    """Read the table before a shot, which can be done while the shot flies.

    Parameters
    ----------
    frames, timestamps_us, scene
        As for `read_shot`; pictures after the release need not be there yet. They are looked at only where nothing but
        the shot tells which end of the board is whose.
    """
    picture = _before_release(frames, timestamps_us, scene)
    view = register(picture, scene)
    notes: tuple[str, ...] = ()
    if isinstance(view, EitherWay):
        view = ends_by_shot(frames, timestamps_us, scene, view.view, picture) or view
        notes = (_ENDS_BY_SHOT.format(scene.cannon_side),)
    if isinstance(view, NoBoard):
        return NoReading(view.reason)
    if (too_high := muzzle_too_high(scene, view)) is not None:
        return NoReading(too_high)
    board = read_board(picture, scene, view)
    if (other := another_table(board, scene)) is not None:
        return NoReading(other)
    notes += _of_board(view, scene) + _of_uniforms(board, scene)
    if board.hardly_seen and scene.expected is not None:
        notes += (_HARDLY_SEEN,)
    return TableBefore(picture, view, board, notes)


def still_stands(
    before: TableBefore, frames: Sequence[NDArray[np.uint8]], timestamps_us: Sequence[int], scene: Scene
) -> bool:
    """Say whether a table that was read earlier is the same still just before the shot, at a fraction of the cost.

    Parameters
    ----------
    before
        What was read.
    frames, timestamps_us, scene
        As for `read_before`.
    """
    return unchanged(before.picture, _before_release(frames, timestamps_us, scene), before.view, scene)


def _of_board(view: BoardView, scene: Scene) -> tuple[str, ...]:
    """Say which markers were left out, and whether the rest place the board only roughly."""
    moved = tuple(
        f"marker {number} was left out: it lies {off_mm:.0f} mm from where board.markers.centres_mm has it"
        for number, off_mm in view.moved_mm.items()
    )
    roughly = only_roughly(view, scene)
    return moved if roughly is None else (*moved, roughly)


def _of_uniforms(board: Board, scene: Scene) -> tuple[str, ...]:
    """Say whether the sides were told by the uniforms that were taught; nothing where nobody asked them."""
    if scene.expected is not None or scene.uniforms is None or not board.standing.soldiers:
        return ()
    kept_in = scene.uniforms.kept_in
    taught = f"the uniforms taught in {kept_in}" if kept_in else "the taught uniforms"
    if board.by_taught:
        return (f"the sides are told by {taught}",)
    return (f"{taught} are not those of this table: the sides are told as if none were taught",)


def _before_release(
    frames: Sequence[NDArray[np.uint8]], timestamps_us: Sequence[int], scene: Scene
) -> NDArray[np.uint8]:
    """Give what a few pictures before the release have in common."""
    first_moving = first_moving_of(timestamps_us, scene.fire_us)
    return typical(frames[max(0, first_moving - _MOST_STILL_FRAMES) : max(1, first_moving)])
