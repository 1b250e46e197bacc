"""Where the camera stands in the board frame, and by what: which of the things that are seen and told are believed.

The markers on the table, or the board's four corners told by hand, or the board's own pattern say where to begin;
`vision.registration.placing` places the camera by them and by the board's lines. What contradicts the rest is refused, in a
sentence for the person at the table.

Pixels are (u, v), u to the right and v down, the centre of the first pixel at (0, 0). Board points are
(x, y, z) in millimetres.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vision.change import shrink
from vision.grey import grey, is_black
from vision.registration.corners import are_one_along, turned_over_since
from vision.registration.lines import begins_and_ends
from vision.registration.marks import Marks, find_faint_markers, find_markers, read_prints
from vision.registration.placing import Rough, place_by_lines, place_by_marks, place_on_corners
from vision.registration.search import ends_told, find_outline
from vision.registration.too_coarse import too_coarse
from vision.registration.view import BoardView, EitherWay, NoBoard
from vision.scene import MarkerMap, Scene

__all__ = ["only_roughly", "register"]

FloatArray = NDArray[np.float64]
Image = NDArray[np.uint8]

_ONE_SHADE = 1.5  # grey levels, of blocks of pixels; a bare board on a bare table has several times as much
# Markers of a shorter side are placed by their whole print.
_SMALL_PX = 24.0
_PRINT_ROUNDS = 3
# A camera that is known to no more than so many squares finds its lines only by the whole pattern.
_FAR_SQUARES = 0.1
# By how much markers must look more like their own prints than like others, all together.
_SURE_LEAD = 0.06
# A corner of the board that is known to no more than so many squares is not known.
_USELESS_SQUARES = 0.25
# Feet and contacts that are off by more squares than these are worth a word.
_ROUGH_SQUARES = 0.05
# With as many lines the markers agree: of 170 films true ones leave fewer in five, squares that are 5 % wrong in all.
_PLENTY_OF_LINES = 200
# Fewer lines than these, found without markers, may be another pattern's.
_HALF_THE_LINES = 131
# Markers and lines together put the board's corners to within 1.1 mm of where lines alone put them, and where lines could
# make wrong markers good to 5 mm; where not, to 13 mm and more.
_BESIDE_SQUARES = 0.2
# A marker so many squares from where it should lie was moved, or measured wrongly.
_MOVED_SQUARES = 0.1
# A lens's axis farther from the middle of the picture, in widths, belongs to another picture.
_MOST_OFF_CENTRE = 0.15
# Where a marker alone says which end is whose, it must lie within so many squares of where it should.
_ONE_MARKER_SQUARES = 0.3


def register(image: Image, scene: Scene) -> BoardView | NoBoard:
    """Find the camera's pose in the board frame from one picture.

    Parameters
    ----------
    image
        Shape (height, width) or (height, width, 3) BGR.
    scene
        What is known; markers are looked for where it names them, else its four corners are used, else the board's
        pattern.
    """
    view = _placed(image, scene)
    placed = view.view if isinstance(view, EitherWay) else view
    if isinstance(placed, BoardView) and (coarse := too_coarse(scene, placed)) is not None:
        return NoBoard(coarse)
    return view


def _placed(image: Image, scene: Scene) -> BoardView | NoBoard:
    """Place the camera by whatever is told."""
    shades = grey(image)
    if is_black(shades):
        return NoBoard("the picture is black: is the lens covered or the lamp off?")
    # Where corners are told, no board need be seen to be believed.
    if float(shrink(shades).std()) < _ONE_SHADE:
        return NoBoard("no board in the picture: it is of one shade all over")
    odd = _other_lens(scene, shades.shape[1], shades.shape[0])
    if odd is not None:
        return odd
    if scene.markers is not None:
        return _by_table(shades, scene, scene.markers)
    if scene.corners_px is None:
        return _by_pattern(shades, scene)
    view = _by_corners(shades, scene, np.array(scene.corners_px, dtype=np.float64))
    if isinstance(view, NoBoard):
        return view
    if ends_told(shades, replace(scene, muzzle_mm=None), view) is False:
        return NoBoard(
            "the soldiers stand as expected only if the board is turned by half: is the picture upside down, "
            "or do corners_px begin at the wrong end?"
        )
    return view


def only_roughly(view: BoardView, scene: Scene) -> str | None:
    """Say it where a camera knows the board only roughly; ``None`` where it knows it well."""
    if view.lines_used or view.error_mm <= _ROUGH_SQUARES * scene.square_mm:
        return None
    by = "its markers" if view.markers_used else "its corners"
    return f"the board's lines are not seen, and {by} place it only to {view.error_mm:.0f} mm"


def _by_table(shades: Image, scene: Scene, sheet: MarkerMap) -> BoardView | NoBoard:
    """Place the camera by the markers on the table, and hold against it all else that is seen."""
    found = find_markers(shades, sheet)
    if isinstance(found, NoBoard):
        return found
    view = _by_markers(shades, scene, sheet, found)
    if isinstance(view, NoBoard):
        return _mirrored(shades, sheet, found) or view
    contradicted = _too_vague(view, scene) or _beside_lines(shades, scene, view)
    if contradicted is not None:
        return contradicted
    return view if found is None else replace(view, moved_mm=_moved_mm(found, view, scene))


def _mirrored(shades: Image, sheet: MarkerMap, found: Marks | None) -> NoBoard | None:
    """Say that a picture is flipped: turned over it shows more markers; a mirrored one may look like another."""
    turned = find_markers(np.ascontiguousarray(shades[:, ::-1]), sheet)
    if turned is None or (
        found is not None and isinstance(turned, Marks) and len(turned.numbers) <= len(found.numbers)
    ):
        return None
    return NoBoard("the board's markers are seen in a mirror: is the picture flipped?")


def _beside_lines(shades: Image, scene: Scene, view: BoardView) -> NoBoard | None:
    """Refuse markers that put the board elsewhere than its own lines are: they or the squares were measured wrongly."""
    if view.lines_used >= _PLENTY_OF_LINES:
        return None
    outline = find_outline(shades, scene)
    if isinstance(outline, NoBoard):
        return None
    off_mm = _plainly_off_mm(shades, scene, view, outline, view.lines_used + 1)
    if off_mm is None:
        return None
    return NoBoard(
        f"the board's lines lie up to {off_mm:.0f} mm beside where the markers put them: measure board.square_mm and "
        "board.markers.centres_mm again"
    )


def _by_corners(shades: Image, scene: Scene, told: FloatArray) -> BoardView | NoBoard:
    """Place the camera by corners told by hand, shape (4, 2), and by the board's lines, and hold it against its pattern.

    However many lines the view stands on: a row off, all but one row of the board's lines are where lines should be. The
    pattern is looked for only where they do not plainly end at its border: that takes as long as all the rest here, and more.
    """
    view = place_on_corners(shades, scene, told)
    if (
        isinstance(view, BoardView)
        and view.lines_used >= _HALF_THE_LINES
        and begins_and_ends(shades, view, scene)
    ):
        return view
    outline = find_outline(shades, scene)
    if isinstance(outline, NoBoard):
        return view
    if are_one_along(told, outline, scene):
        return NoBoard(
            "board.corners_px are the board's corners in the wrong order: tell those of A-1, A-8, G-1 and G-8, in this order"
        )
    if isinstance(view, NoBoard):
        return view
    corners_mm = np.array(scene.outline_mm)
    apart = [
        np.linalg.norm(view.on_plane(np.roll(outline, by, axis=0)) - corners_mm, axis=1) for by in (0, 2)
    ]
    if min(each.max() for each in apart) <= _BESIDE_SQUARES * scene.square_mm:
        return view
    # The rings on the squares are as good as lines half a square off, so that there may be as many.
    off_mm = _plainly_off_mm(shades, scene, view, outline, view.lines_used)
    if off_mm is None:
        return view
    turned_over = turned_over_since(told, outline, scene, (view.width_px, view.height_px))
    return NoBoard(
        f"board.corners_px lie up to {off_mm:.0f} mm beside the board's lines"
        + (
            ": tell its outer corners, not those of a square within it or of the frame around it"
            if turned_over is None
            else f", and would not if the picture were {turned_over}: is it the film that they were taken from?"
        )
    )


def _plainly_off_mm(
    shades: Image, scene: Scene, view: BoardView, outline: FloatArray, fewest: int
) -> float | None:
    """Say how far a view's board lies from the one that was found by its pattern, on `fewest` lines or more.

    ``None`` where it does not lie plainly beside it.
    """
    corners_mm = np.array(scene.outline_mm)
    flat = np.column_stack([corners_mm, np.zeros(4)])
    # The nearer way round is the right one; a turned one may have an edge more by chance.
    off_mm, lines = min(
        (
            (
                float(np.linalg.norm(view.on_plane(way.project(flat)) - corners_mm, axis=1).max()),
                way.lines_used,
            )
            for way in _both_ways(place_on_corners(shades, scene, outline), scene)
        ),
        default=(0.0, 0),
    )
    plainly = lines >= max(fewest, _HALF_THE_LINES)
    return off_mm if plainly and off_mm > _BESIDE_SQUARES * scene.square_mm else None


def _moved_mm(found: Marks, view: BoardView, scene: Scene) -> dict[int, float]:
    """Say how far markers that were left out lie from where they should, by their numbers."""
    off_mm = np.linalg.norm(view.on_plane(found.pixels) - found.board_mm, axis=1)
    by_marker = {n: float(np.median(off_mm[found.group == n])) for n in found.numbers}
    return {
        n: off
        for n, off in by_marker.items()
        if n not in view.markers_used and off > _MOVED_SQUARES * scene.square_mm
    }


def _too_vague(view: BoardView, scene: Scene) -> NoBoard | None:
    """Refuse a camera that does not say on which square somebody stands."""
    if view.error_mm <= _USELESS_SQUARES * scene.square_mm:
        return None
    return NoBoard(
        f"the markers {', '.join(map(str, view.markers_used))} place the board only to {view.error_mm:.0f} mm, and its "
        "lines are not seen: show the camera more markers"
    )


def _other_lens(scene: Scene, width_px: int, height_px: int) -> NoBoard | None:
    """Refuse a lens that was calibrated for pictures of another size."""
    if scene.intrinsics is None:
        return None
    _, _, cx, cy = scene.intrinsics
    off = max(abs(cx / width_px - 0.5), abs(cy / height_px - 0.5))
    if off <= _MOST_OFF_CENTRE:
        return None
    return NoBoard(
        f"the lens was calibrated for pictures of another size: its centre ({cx:.6g}, {cy:.6g}) px is far from "
        f"the middle of this one of {width_px} x {height_px} px"
    )


def _from_prints(shades: Image, scene: Scene, sheet: MarkerMap, view: BoardView) -> Rough | None:
    """Place the camera by the markers' prints, from where it is about: as `place_by_marks`, but surely, or not at all."""
    rough, before = None, 0
    for _ in range(_PRINT_ROUNDS):
        marks = read_prints(shades, sheet, view)
        if marks is None or len(marks.numbers) < 2 or marks.lead < _SURE_LEAD:
            return rough
        placed = place_by_marks(shades, scene, marks.measured)
        if isinstance(placed, NoBoard):
            return rough
        rough, view = placed, placed[0]
        if len(marks.numbers) in (before, len(sheet.centres_mm)):
            break
        before = len(marks.numbers)
    return rough


def _by_markers(shades: Image, scene: Scene, sheet: MarkerMap, found: Marks | None) -> BoardView | NoBoard:
    """Place the camera by the markers on the table, and by the board's lines."""
    if found is None or len(found.numbers) == 1:
        return _by_faint_markers(shades, scene, sheet, found)
    rough = place_by_marks(shades, scene, found.measured)
    if isinstance(rough, NoBoard):
        # One of them may be another marker, or belong to something else, which its place on the board would tell.
        return _by_outline(shades, scene, sheet) or rough
    if found.twice is not None:
        surely = _from_prints(shades, scene, sheet, rough[0])
        if surely is None or found.twice not in surely[0].markers_used:
            return NoBoard(f"marker {found.twice} is in the picture 2 times: are there two boards?")
        rough = surely
    elif found.smallest_px < _SMALL_PX:
        rough = _from_prints(shades, scene, sheet, rough[0]) or rough
    if rough[0].error_mm > _FAR_SQUARES * scene.square_mm:
        # Two markers at one end leave the other end open, and the lines there would be taken for their neighbours.
        view = _by_outline(shades, scene, sheet)
        if view is not None:
            return view
    return place_by_lines(shades, scene, *rough)


def _by_faint_markers(
    shades: Image, scene: Scene, sheet: MarkerMap, found: Marks | None
) -> BoardView | NoBoard:
    """Place the camera where no two markers are read at once.

    Markers that are guessed, or the board's pattern one way round or the other, say where the markers would be, and
    their prints say whether they are.
    """
    faint = find_faint_markers(shades, sheet)
    if isinstance(faint, NoBoard):
        return faint
    if faint is not None and len(faint.numbers) > 1:
        start = place_by_marks(shades, scene, faint.measured)
        rough = None if isinstance(start, NoBoard) else _from_prints(shades, scene, sheet, start[0])
        if rough is not None:
            return place_by_lines(shades, scene, *rough)
    view = _by_outline(shades, scene, sheet)
    if view is not None:
        return view
    if found is not None:
        return _by_one_marker(shades, scene, sheet, found)
    wanted = ", ".join(map(str, sorted(sheet.centres_mm)))
    return NoBoard(f"no board in the picture: none of the markers {wanted} of {sheet.dictionary} is seen")


def _by_outline(shades: Image, scene: Scene, sheet: MarkerMap) -> BoardView | None:
    """Place the camera by the board's pattern, the way round that the markers' prints are where they should be."""
    for view in _both_ways(_on_pattern(shades, scene), scene):
        rough = _from_prints(shades, scene, sheet, view)
        if rough is not None:
            return place_by_lines(shades, scene, *rough)
    return None


def _on_pattern(shades: Image, scene: Scene) -> BoardView | NoBoard:
    """Place the camera by nothing but the board's pattern and its lines, one way round or the other."""
    outline = find_outline(shades, scene)
    return outline if isinstance(outline, NoBoard) else place_on_corners(shades, scene, outline)


def _both_ways(view: BoardView | NoBoard, scene: Scene) -> tuple[BoardView, ...]:
    """Give a camera with the board's ends one way round and the other; nothing where there is none."""
    return () if isinstance(view, NoBoard) else (view, view.turned(scene))


def _by_one_marker(shades: Image, scene: Scene, sheet: MarkerMap, marker: Marks) -> BoardView | NoBoard:
    """Place the camera by the board's pattern; the one marker that is seen says which end is whose."""
    number = int(marker.group[0])
    for view in _both_ways(_on_pattern(shades, scene), scene):
        off_mm = np.linalg.norm(view.on_plane(marker.pixels) - marker.board_mm, axis=1).max()
        if view.lines_used and off_mm < _ONE_MARKER_SQUARES * scene.square_mm:
            return replace(view, markers_used=(number,))
    wanted = ", ".join(map(str, sorted(sheet.centres_mm)))
    return NoBoard(
        f"only marker {number} of the markers {wanted} is seen, and the board's own lines do not place the board with it; "
        "show the camera two markers"
    )


def _by_pattern(shades: Image, scene: Scene) -> BoardView | NoBoard:
    """Place the camera by the board's pattern, and tell its ends by who and what stands there."""
    view = _on_pattern(shades, scene)
    if isinstance(view, NoBoard):
        return view
    if view.lines_used == 0:
        return NoBoard("a pattern of squares is seen, but its lines are not those of one board")
    for way in _both_ways(view, scene):
        right = ends_told(shades, scene, way)
        if right:
            return way
        if right is None:
            return EitherWay(
                "the board is seen, but not which end is whose: give markers, or board.corners_px, "
                "or a position that looks different from either end",
                view,
            )
    return NoBoard(
        "the board is seen, but who stands on it fits neither way round: give markers, or board.corners_px"
    )
