"""The overhead camera at work: where the board is, who stands on it, whether the lane is clear, when all is at rest."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from game.montecassino import Side, Square
from rig.camera import Camera, CameraError, Frame, FrameRing
from rig.cannon import CannonError, LaneAnswer
from rig.link.errors import LinkError
from rig.link.port import Clock
from rig.link.transcript import TranscriptError
from rig.settings import Settings
from rig.table_reading import TableReading, read_table
from rig.uniforms_file import NAME as UNIFORMS_NAME
from rig.uniforms_file import read_uniforms
from vision.film_times import fewest_fps
from vision.registration import NoBoard
from vision.rest import Stillness
from vision.scene import MarkerMap, Scene, Uniforms
from vision.steady import typical

__all__ = [
    "BoardNotSeen",
    "Eye",
    "fewest_fps_of",
    "ring_for",
    "scene_of",
    "taught_uniforms",
]

_PICTURES_TO_READ = 5  # their median is free of most noise
_PICTURES_OF_LANE = 3
_BARREL_MARGIN_MM = 30.0  # the barrel's end moves over the first line while it is aimed
_WAIT_STEP_US = 20_000
_LANE_TO_SHOT_US = 500_000  # from the lane's last check to the shot's leaving
_FIRING_US = 1_000_000  # from holding the pictures to the shot's leaving, on a line that has to ask again


class BoardNotSeen(CameraError):
    """The camera gives pictures, but no board can be found in them, or not all of it."""


def scene_of(
    settings: Settings,
    *,
    side: Side,
    fps: float,
    expected: Mapping[Square, Side] | None = None,
    with_uniforms: bool = True,
) -> Scene:
    """Return what the settings say of camera, board and cannon, and the uniforms taught beside their recordings.

    Where only the board is looked for, nobody's uniform is asked for.

    Raises
    ------
    UniformsFileError
        If taught uniforms are kept there that cannot be used.
    """
    board, camera = settings.board, settings.camera
    return Scene(
        square_mm=board.square_mm,
        cannon_side=side,
        fps=fps,
        markers=MarkerMap(
            dictionary=board.marker_dictionary,
            size_mm=board.marker_size_mm,
            centres_mm={int(name): centre for name, centre in board.marker_centres_mm.items()},
        ),
        intrinsics=camera.intrinsics_px,
        distortion=camera.distortion,
        expected=expected,
        exposure_us=camera.exposure_us,
        readout_us=camera.readout_us,
        uniforms=taught_uniforms(settings) if with_uniforms else None,
    )


def taught_uniforms(settings: Settings) -> Uniforms | None:
    """Return the uniforms that were taught beside the settings' recordings; None where none were.

    Raises
    ------
    UniformsFileError
        If they cannot be used.
    """
    taught = Path(settings.log.recordings) / UNIFORMS_NAME
    return read_uniforms(taught) if taught.is_file() else None


def ring_for(camera: Camera, settings: Settings) -> FrameRing:
    """Return a ring that holds a shot as long as the settings want it, and no more."""
    asked = settings.camera
    return FrameRing(
        camera,
        keep_us=round(asked.clip_before_s * 1e6) + _LANE_TO_SHOT_US,
        hold_us=round(asked.clip_after_s * 1e6) + _FIRING_US,
        stall_us=round(asked.stall_s * 1e6),
        delay_us=asked.delay_us,
    )


def fewest_fps_of(settings: Settings) -> float:
    """Return how many pictures a second have to come for a shot's clip, as long as the settings want it, to be read."""
    camera = settings.camera
    return fewest_fps(round(camera.clip_before_s * 1e6), round(camera.clip_after_s * 1e6))


class Eye:
    """Looks at the table for the rig.

    Parameters
    ----------
    ring
        The camera's last pictures.
    clock
        The controller's clock.
    wait_us
        Lets that much time pass and keeps the link alive meanwhile; nothing else here waits.
    settings
        Board, camera and cannon.
    rest_us
        Lets that much time pass without the cannon: what flies is watched though its line is gone. None: it is not watched
        then.

    Attributes
    ----------
    line_failure : CannonError, LinkError, TranscriptError or None
        What the cannon or its line met while a shot that had left was watched.
    """

    def __init__(
        self,
        ring: FrameRing,
        clock: Clock,
        wait_us: Callable[[int], None],
        settings: Settings,
        *,
        rest_us: Callable[[int], None] | None = None,
    ) -> None:
        self.ring = ring
        self.line_failure: CannonError | LinkError | TranscriptError | None = None
        self._clock = clock
        self._wait_us = wait_us
        self._rest_us = rest_us
        self._settings = settings
        self._reading: TableReading | None = None

    def read(self, side: Side, expected: Mapping[Square, Side] | None) -> TableReading:
        """Read the table; what is seen now is what the lane is later held against.

        Parameters
        ----------
        side
            Who is about to fire.
        expected
            Who should stand where; None: read it.

        Raises
        ------
        CameraError
            Where the camera gives no pictures, or they show no board.
        UniformsFileError
            As for `scene_of`.
        """
        frames = self._fresh(_PICTURES_TO_READ)
        picture = typical([frame.image for frame in frames])
        scene = scene_of(self._settings, side=side, fps=self.ring.camera.fps, expected=expected)
        low_mm, high_mm = self._rows_watched_mm(side, scene)
        reading = read_table(picture, scene, low_mm=low_mm, high_mm=high_mm)
        if isinstance(reading, NoBoard):
            raise BoardNotSeen(f"camera {self.ring.camera.name}: {reading.reason}")
        self._reading = reading
        return reading

    def lane(self) -> LaneAnswer:
        """Hold the newest pictures against the table as it was read, and say whether the lane is clear."""
        if self._reading is None:
            return LaneAnswer(False, "the table has not been read yet")
        frames = self.pictures()
        self.ring.check_drops()
        alarm = self._reading.guard.check([frame.image for frame in frames])
        return LaneAnswer(alarm is None, "" if alarm is None else alarm.reason)

    def pictures(self) -> Sequence[Frame]:
        """Return a few pictures, taken from now on.

        Raises
        ------
        CameraError
            Where none come.
        """
        return self._fresh(_PICTURES_OF_LANE)

    def until_seen(self, time_us: int) -> None:
        """Let time pass until every picture up to a moment has come.

        Raises
        ------
        CameraError
            Where no pictures come any more, or the ring has no room for them.
        """
        self.line_failure = None
        while not self._has_seen(time_us):
            self._pass_watching(max(self.ring.period_us, 1000))

    def _has_seen(self, time_us: int) -> bool:
        """Whether a picture from after a moment has come, and so every one up to it."""
        newest = self.ring.newest()
        return bool(newest) and newest[0].timestamp_us > time_us

    def follow(self, released_us: int, longest_us: int) -> Iterator[tuple[int, Stillness]]:
        """Watch from the release until nothing moves any more, or `longest_us` is over. The ring holds every picture.

        Yields
        ------
        tuple of int and Stillness
            The time of the picture in which the table became quiet, or moved again, or has come to rest, and while it
            moves that of the newest from time to time; where time is over first, that is told as rest. Whoever is told
            of rest may take a while over the shot: what came meanwhile is looked at too, and where something moved after
            all it goes on.

        Raises
        ------
        CameraError
            Where no pictures come any more, or the ring has no room for them.
        """
        assert self._reading is not None, "the table was read before the shot"
        watch = self._reading.rest_watch()
        looked_us, end_us = released_us, released_us + longest_us
        # Until then the last pictures are waited for, though they come late.
        late_us = end_us + max(0, self._settings.camera.delay_us) + 2 * self.ring.period_us
        told = Stillness.MOVING
        while True:
            for frame in self.ring.between(looked_us + 1, end_us):
                watch.look(frame.timestamp_us, frame.image)
                looked_us = frame.timestamp_us
                if watch.stillness is not told:
                    told = watch.stillness
                    yield looked_us, told
            if told is Stillness.MOVING:
                yield looked_us, told
            if told is Stillness.REST:
                # The shot is on record by now; a camera that fails takes nothing from it.
                with suppress(CameraError):
                    self.ring.update(self._clock.now_us())
                if not self.ring.between(looked_us + 1, end_us):
                    return
            elif self._has_seen(end_us) or self._clock.now_us() > late_us:
                yield end_us, Stillness.REST
                return
            else:
                self._pass_watching(_WAIT_STEP_US)

    def _fresh(self, count: int) -> Sequence[Frame]:
        """Return the last `count` of the pictures taken from now on, as soon as there are so many."""
        start_us = self._clock.now_us()
        self.ring.update(start_us)
        # Gathered as they come: of a slow camera the ring never holds so many at once.
        frames: list[Frame] = []
        while len(frames) < count:
            self._pass(max(min(self.ring.period_us, _LANE_TO_SHOT_US // 2), 1000))
            frames += self.ring.between(start_us, self._clock.now_us())
            start_us = frames[-1].timestamp_us + 1 if frames else start_us
        return frames[-count:]

    def _pass_watching(self, time_us: int) -> None:
        """Let time pass while a shot flies; once the cannon or its line has failed, without them."""
        if self.line_failure is None:
            try:
                self._pass(time_us)
                return
            except (CannonError, LinkError, TranscriptError) as error:
                if self._rest_us is None:
                    raise
                self.line_failure = error
        assert self._rest_us is not None
        self._rest_us(time_us)
        self._take_in()

    def _pass(self, time_us: int) -> None:
        self._wait_us(time_us)
        self._take_in()

    def _take_in(self) -> None:
        self.ring.update(self._clock.now_us())
        self.ring.check_room()

    def _rows_watched_mm(self, side: Side, scene: Scene) -> tuple[float, float]:
        """Return from where to where along the board is watched: not what the cannon may cover when it is aimed."""
        cannon = self._settings.cannon
        overhang_mm = max(0.0, cannon.barrel_length_mm - cannon.strip_offset_mm) + _BARREL_MARGIN_MM
        if side is Side.A:
            return overhang_mm, scene.length_mm
        return 0.0, scene.length_mm - overhang_mm
