"""One shot read from its pictures: who stood where, who fell and why, who was pushed, the shot's way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from game.montecassino import Cause, Square
from vision.bump import LaidBack, lay_back
from vision.causes import (
    FallCause,
    ShotContacts,
    ShotSeen,
    allow_for_standing,
    explain,
    find_contacts,
    find_perhaps_fallen,
)
from vision.ends import comes_from_the_other_end
from vision.even_times import evened
from vision.falls import Aftermath, find_falls
from vision.film_times import apart_us, first_moving_of, other_rate, too_short, wavering, wrong_times
from vision.grey import grey, is_black, is_white
from vision.guards import (
    Alarm,
    Trouble,
    exchanged_sides,
    flies_on,
    late_falls,
    missing_soldiers,
    too_many_soldiers,
    unseen_soldiers,
)
from vision.hung import hung_from
from vision.lookout import Lookout
from vision.muzzle import unseen_from_odd
from vision.outcome import Push, Standing
from vision.outside import outside_picture
from vision.registration import BoardView
from vision.release_untold import LEAST_WORTH, comes_by, hardly_seen, left_later_us, seen_better
from vision.rolling_shutter import as_seen, in_own_time
from vision.scene import Scene
from vision.shot import ShotTrack, find_track
from vision.shot.faint import Stirred
from vision.soldiers import Board, read_board
from vision.soldiers.naming import hardly_named, named_by_the_shot, of_the_other_side
from vision.table_before import NoReading, TableBefore, read_before

__all__ = ["ShotReading", "read_shot", "still_holds"]

_HUNG = "the same picture is repeated from picture {} on, while the shot should fly: did the camera hang?"
_WRONG_RELEASE = (
    "the shot left about {:.0f} ms {} than fire_us says, and was read as if its release had not been told: fire_us is wrong, "
    "or on another clock than timestamps_us"
)
_NOT_THE_SHOT = "what moves like a shot hardly shows, and passes far from whoever moved first"
_OTHER_END = 'cannon.side is "{}", and the shot comes in from the end of {}: is the side told wrongly, or the picture upside down?'


@dataclass(frozen=True, slots=True, eq=False)
class ShotReading:
    """What the camera saw of one shot."""

    view: BoardView
    """The camera."""
    standing: Standing
    """The soldiers before the shot."""
    falls: tuple[FallCause, ...]
    """Who fell, and why; in the order in which they began to move."""
    pushes: tuple[Push, ...]
    """Who was pushed more than 5 mm and stands."""
    track: ShotTrack
    """The shot's way as far as it was seen."""
    contacts: ShotContacts
    """What the shot may have touched."""
    notes: tuple[str, ...]
    """What the person at the table should know: differences from the expected position, doubts; a sentence each."""
    perhaps_fallen: tuple[FallCause, ...] = ()
    """Who of those pushed may have fallen, and why if so."""
    alarms: tuple[Alarm, ...] = ()
    """What else may have had a part in it: a hand, a bump, other light. Any of them holds the ruling."""

    @property
    def judged_falls(self) -> tuple[FallCause, ...]:
        """The falls that the judge hears of: of one that may be none, that it stands is one of the possible causes."""
        return (*self.falls, *self.perhaps_fallen)

    @property
    def judged_pushes(self) -> tuple[Push, ...]:
        """Who was pushed and surely stands."""
        asked = {fall.toppling.soldier.square for fall in self.perhaps_fallen}
        return tuple(push for push in self.pushes if push.soldier.square not in asked)


def read_shot(
    frames: Sequence[NDArray[np.uint8]],
    timestamps_us: Sequence[int],
    scene: Scene,
    before: TableBefore | NoReading | None = None,
    lookout: Lookout | None = None,
) -> ShotReading | NoReading:
    """Read one shot.

    Parameters
    ----------
    frames
        From before the release until everything is at rest: (height, width) or (height, width, 3) BGR, one size.
    timestamps_us
        Their times at mid-exposure, rising, one a frame.
    scene
        What is known beforehand.
    before
        The table as `read_before` has read it from the same pictures, or earlier where `still_stands`; ``None``, or where
        it could not be read from those that were there: read it now.
    lookout
        What has looked at the first of these pictures, given with `before`; ``None``: nothing has.

    Returns
    -------
    What was seen; or why the pictures cannot be read.

    Raises
    ------
    ValueError
        Where there are not as many times as pictures.
    """
    if len(frames) != len(timestamps_us):
        raise ValueError(f"{len(frames)} frames and {len(timestamps_us)} timestamps; expected one a frame")
    unusable = wrong_times(timestamps_us, scene.fps) or too_short(timestamps_us, scene.fire_us)
    if unusable is not None:
        return NoReading(unusable)
    even_us = evened(timestamps_us)
    wavered = wavering(timestamps_us, even_us)
    if before is None or isinstance(before, NoReading):
        before = read_before(frames, even_us, scene)
    if isinstance(before, NoReading):
        return before
    if lookout is None or wavered:  # what it has seen has the times at which pictures came
        lookout = Lookout(before, scene)
    reading = _read(_Film(frames, even_us, scene), before, lookout)
    if isinstance(reading, NoReading):
        return reading
    return replace(reading, notes=(*reading.notes, *wavered, *other_rate(even_us, scene.fps)))


def still_holds(
    reading: ShotReading,
    lookout: Lookout,
    frames: Sequence[NDArray[np.uint8]],
    timestamps_us: Sequence[int],
) -> bool:
    """Say whether a shot that was read before all was surely over would be read the same now, at a fraction of the cost.

    Parameters
    ----------
    reading, lookout
        What was read, and with what.
    frames, timestamps_us
        The last picture that it was read from, and all since.
    """
    known = {alarm.trouble for alarm in reading.alarms}
    if Trouble.UNENDED in known:  # these go on
        return False
    return not lookout.guard.stirred_since(frames, timestamps_us, known)


@dataclass(frozen=True, slots=True, eq=False)
class _Film:
    """A shot's pictures, their times at an even pace, and what is known beforehand."""

    frames: Sequence[NDArray[np.uint8]]
    timestamps_us: Sequence[int]
    scene: Scene


@dataclass(frozen=True, slots=True, eq=False)
class _After:
    """What became of a table, and what the shot is looked for with."""

    film: _Film
    """As it would be had nothing been bumped, the scene as the camera's shutter shows it."""
    first_moving: int
    """The first picture since the release."""
    laid: LaidBack | None
    """The pictures after a bump; ``None``: there was none."""
    before: TableBefore
    lookout: Lookout
    board: Board
    """Who stood there, named by the shot where nothing else tells the sides apart."""
    aftermath: Aftermath

    @property
    def stirred_us(self) -> dict[Square, int]:
        """When each soldier began to move who did."""
        began_us = {t.soldier.square: t.began_us for t in self.aftermath.topplings}
        return began_us | {p.soldier.square: p.began_us for p in self.aftermath.pushes}

    @property
    def stirred(self) -> list[Stirred]:
        """All who began to move, with where they stood."""
        soldiers = ((self.board.standing.at(square), us) for square, us in self.stirred_us.items())
        return [Stirred((s.x_mm, s.y_mm), float(us)) for s, us in soldiers if s is not None]

    def find_track(self, scene: Scene) -> ShotTrack:
        """Find the shot's way by what a scene tells of it."""
        frames, timestamps_us = self.film.frames, self.film.timestamps_us
        view, lamp, lookout = self.before.view, self.board.lamp, self.lookout
        return find_track(
            frames, timestamps_us, scene, view, lamp, lookout.streaks, self.stirred, lookout.sways
        )

    def comes_from_the_other_end(self, track: ShotTrack) -> bool:
        """Whether the other side has fired than is said, where its own shot is seen as it is."""
        frames, timestamps_us, scene = self.film.frames, self.film.timestamps_us, self.film.scene
        view, lamp, lookout = self.before.view, self.board.lamp, self.lookout
        return comes_from_the_other_end(
            track, frames, timestamps_us, scene, view, lamp, lookout.streaks, self.stirred, lookout.sways
        )


def _read(film: _Film, before: TableBefore, lookout: Lookout) -> ShotReading | NoReading:
    """Read a shot whose table before is known: what became of it, the shot's way, and what follows from both."""
    after = _read_after(film, before, lookout)
    if isinstance(after, NoReading):
        return after
    if not after.board.unseen and after.lookout.lying is None and (unseen := _unseen(after)):
        # Now that he is known to have stood there it can be told what became of him.
        board = read_board(before.picture, after.film.scene, before.view, unseen)
        with_them = replace(before, board=board)
        return _read(film, with_them, Lookout(with_them, film.scene))
    track = _follow(film, after)
    if isinstance(track, ShotReading):
        return track
    return _explained(film, after, track)


def _read_after(film: _Film, before: TableBefore, lookout: Lookout) -> _After | NoReading:
    """Read who fell and who was pushed."""
    view, board = before.view, before.board
    frames, timestamps_us, scene = film.frames, film.timestamps_us, as_seen(film.scene, view)
    first_moving = first_moving_of(timestamps_us, scene.fire_us)
    nothing = _nothing_to_read(film, first_moving, before)
    if nothing is not None:
        return nothing
    laid = lay_back(frames, timestamps_us, before.picture, view, scene, lookout.guard.anchors)
    if laid is not None:
        frames, lookout = laid.frames, Lookout(before, scene)
    aftermath = find_falls(frames, timestamps_us, view, board, lookout.sways, first_moving)
    if scene.expected is None and not board.by_taught:
        board, aftermath = _named_by_the_shot(board, aftermath, scene)
    return _After(_Film(frames, timestamps_us, scene), first_moving, laid, before, lookout, board, aftermath)


def _follow(film: _Film, after: _After) -> ShotTrack | ShotReading:
    """Follow the shot; or read all anew where it plainly left at another time than was told."""
    timestamps_us, scene, stirred = film.timestamps_us, after.film.scene, after.stirred
    track = after.find_track(scene)
    if scene.fire_us is not None and stirred and hardly_seen(track, timestamps_us, scene.fire_us, stirred):
        otherwise = after.find_track(replace(scene, fire_us=None))
        if left_later_us(track, otherwise, scene.fire_us, stirred) is not None:
            anew = _released_otherwise(film, scene.fire_us, track, stirred)
            if anew is not None:
                return anew
        if seen_better(track, otherwise, scene.fire_us):
            track = otherwise
    if stirred and track.found and track.worth < LEAST_WORTH and not comes_by(track, stirred):
        track = ShotTrack((), _NOT_THE_SHOT)
    return in_own_time(track, scene, after.before.view)


def _explained(film: _Film, after: _After, track: ShotTrack) -> ShotReading | NoReading:
    """Say why each fell, and what speaks against the ruling."""
    scene, standing, aftermath = after.film.scene, after.board.standing, after.aftermath
    frame_us = apart_us(film.timestamps_us)
    contacts = find_contacts(
        track, standing, after.stirred_us, frame_us=frame_us, shot_from_mm=scene.shot_from_mm
    )
    shot = ShotSeen(track, contacts, standing, frame_us, scene.shot_from_mm)
    explained = explain(aftermath.topplings, aftermath.pushes, shot)
    falls = tuple(allow_for_standing(f, aftermath.may_stand[f.toppling.soldier.square]) for f in explained)
    perhaps_fallen = find_perhaps_fallen(
        aftermath.may_have_fallen, aftermath.topplings, aftermath.pushes, shot
    )
    if not (film.scene.fire_us is not None or falls or aftermath.pushes):
        # Pictures of a table at rest may be the same in any film; a shot that is not seen to fly on tells that these hide it.
        hung = hung_from(film.frames, film.timestamps_us, after.first_moving, release_told=False)
        if hung is not None and (not track.points or track.points[-1][0] >= film.timestamps_us[hung]):
            return NoReading(_HUNG.format(hung + 1))
    alarms = _alarms(after, track)
    late = late_falls(falls, aftermath.pushes, track)
    return ShotReading(
        after.before.view,
        standing,
        tuple(_held(f) if alarms or f.toppling.soldier.square in late else f for f in falls),
        aftermath.pushes,
        track,
        contacts,
        (*after.before.notes, *standing.differences, *aftermath.doubts, *unseen_from_odd(scene, track)),
        perhaps_fallen,
        (*alarms, *late.values()),
    )


def _nothing_to_read(film: _Film, first_moving: int, before: TableBefore) -> NoReading | None:
    """Say why pictures show nothing of a shot: a dark or a white end, a camera that hangs from its release on; ``None`` where they may."""
    if is_black(grey(film.frames[-1])):
        return NoReading(
            "the picture goes black before the clip ends: was the lens covered or the lamp switched off?"
        )

    def shows_white(picture: NDArray[np.uint8]) -> bool:
        raster = before.board.raster
        return is_white(raster.lay(grey(picture), raster.board))

    # What was over-exposed from the first picture on was read so.
    if shows_white(film.frames[-1]) and not shows_white(before.picture):
        return NoReading(
            "the board goes white before the clip ends: did a lamp or the sun shine into the camera, or did its exposure change?"
        )
    if film.scene.fire_us is not None:
        hung = hung_from(film.frames, film.timestamps_us, first_moving, release_told=True)
        if hung is not None:
            return NoReading(_HUNG.format(hung + 1))
    return None


def _named_by_the_shot(board: Board, aftermath: Aftermath, scene: Scene) -> tuple[Board, Aftermath]:
    """Name the sides again, now that it is known whom the shot felled first."""
    first_us = min((t.began_us for t in aftermath.topplings), default=0)
    first = [t.soldier for t in aftermath.topplings if t.began_us == first_us]
    looking = {s.square: board.feet[s.square].forward_odds for s in board.standing.soldiers}
    standing = named_by_the_shot(board.standing, first, scene.cannon_side, looking, scene.square_mm)
    if standing is board.standing:
        return board, aftermath
    return replace(board, standing=standing), replace(
        aftermath,
        topplings=tuple(replace(t, soldier=of_the_other_side(t.soldier)) for t in aftermath.topplings),
        pushes=tuple(replace(p, soldier=of_the_other_side(p.soldier)) for p in aftermath.pushes),
    )


def _unseen(after: _After) -> frozenset[Square]:
    """Squares that something left where nobody was seen to stand, and the position, where it is told, has somebody."""
    scene, standing = after.film.scene, after.board.standing
    left = (Square.at_mm(*place_mm, scene.square_mm) for place_mm in after.aftermath.unnoticed_mm)
    return frozenset(
        square
        for square in left
        if square is not None
        and standing.at(square) is None
        and (scene.expected is None or square in scene.expected)
    )


def _released_otherwise(
    film: _Film, fire_us: int, track: ShotTrack, stirred: Sequence[Stirred]
) -> ShotReading | None:
    """Read a shot as if its release had not been told, and say so; ``None`` where it did leave at `fire_us` for all that is seen then.

    Parameters
    ----------
    film, fire_us
        The film, and the release as it was told.
    track, stirred
        What is seen of the shot when that is believed, and who stirred.
    """
    untold = replace(film, scene=replace(film.scene, fire_us=None))
    before = read_before(untold.frames, untold.timestamps_us, untold.scene)
    if isinstance(before, NoReading):
        return None
    anew = _read(untold, before, Lookout(before, untold.scene))
    if isinstance(anew, NoReading):
        return None
    later_us = left_later_us(track, anew.track, fire_us, stirred)
    if later_us is None:
        return None
    later = "later" if later_us > 0 else "earlier"
    return replace(anew, notes=(*anew.notes, _WRONG_RELEASE.format(abs(later_us) / 1000, later)))


def _alarms(after: _After, track: ShotTrack) -> tuple[Alarm, ...]:
    """Say what else than the shot may have had a part in it, or that another shot was fired than is told."""
    film, scene = after.film, after.film.scene
    alarms = after.lookout.guard.alarms(film.frames, film.timestamps_us, after.first_moving, after.laid)
    if not alarms and (unended := flies_on(track, film.timestamps_us)) is not None:
        alarms = (unended,)
    if after.comes_from_the_other_end(track):
        other = scene.cannon_side.enemy
        alarms = (*alarms, Alarm(Trouble.OTHER_END, _OTHER_END.format(scene.cannon_side, other)))
    return _with_amiss(alarms, after.board, after.before.view, scene, track)


def _with_amiss(
    alarms: tuple[Alarm, ...], board: Board, view: BoardView, scene: Scene, track: ShotTrack
) -> tuple[Alarm, ...]:
    """Add to alarms what is amiss with the board and who stood there: that some were not seen only where nothing else is."""
    if (outside := outside_picture(view, scene)) is not None:
        alarms = (*alarms, Alarm(Trouble.OUTSIDE, outside))
    told = scene.expected is not None
    if (missing := missing_soldiers(board.standing, scene.expected, track)) is not None:
        alarms = (*alarms, missing)
    unseen = unseen_soldiers(board.unseen, position_told=told, hardly_seen=board.hardly_seen)
    missed = unseen or too_many_soldiers(board.standing, position_told=told)
    looking = {square: foot.forward_odds for square, foot in board.feet.items()}
    if (
        missed is None
        and not told
        and not board.by_taught
        and hardly_named(board.standing, looking, scene.square_mm)
    ):
        missed = exchanged_sides()
    return alarms if alarms or missed is None else (missed,)


def _held(fall: FallCause) -> FallCause:
    """Give a fall that something else than the shot may have caused, whatever else speaks for it."""
    if Cause.OTHER in fall.possible:
        return fall
    return replace(fall, possible=(*fall.possible, Cause.OTHER))
