"""`rig watch`: what is over the table is said, and the table is read anew once everything is at rest again."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import painted_table as painted
import pytest
from numpy.typing import NDArray
from painted_shot import CAMERA, FRAME_US
from painted_table import CROWD, MARKERS, Table

from game.montecassino import Square
from rig.camera.opencv_camera import GrabbedFrame
from rig.cli import main
from rig.drawing.table_drawing import text_width_px
from rig.eye import fewest_fps_of
from rig.settings import Settings
from rig.watching import TableWatch
from vision.guards import Trouble
from vision.registration import NoBoard

Image = NDArray[np.uint8]
Edit = Callable[[Image], Image]

SCENE = painted.scene(CAMERA)
PLACED = painted.standing(CROWD)
FEWEST_FPS = fewest_fps_of(Settings())


@cache
def still() -> tuple[Image, ...]:
    return tuple(Table(CAMERA, tuple(PLACED.values())).paint(seed=k) for k in range(4))


class Watching:
    """A watch that is shown pictures at the camera's pace."""

    def __init__(self) -> None:
        self.table = TableWatch(SCENE, fewest_fps=FEWEST_FPS)
        self._time_us = 0

    def show(self, for_us: int, edit: Edit = lambda picture: picture, *, each_us: int = FRAME_US) -> None:
        pictures = [edit(picture) for picture in still()]
        for k in range(for_us // each_us):
            self._time_us += each_us
            self.table.look(self._time_us, pictures[k % len(pictures)])


@pytest.fixture
def watching() -> Watching:
    watching = Watching()
    watching.show(100_000)
    assert watching.table.clear
    return watching


def arm(picture: Image) -> Image:
    with_arm = picture.copy()
    cv2.rectangle(with_arm, (520, 180), (800, 250), (90, 60, 50), -1)
    return with_arm


def bumped(picture: Image) -> Image:
    move = np.array([[1.0, 0.0, 6.0], [0.0, 1.0, -3.0]])
    return np.asarray(cv2.warpAffine(picture, move, (800, 450), borderMode=cv2.BORDER_REPLICATE), np.uint8)


def swept_off(picture: Image) -> Image:
    move = np.array([[1.0, 0.0, 400.0], [0.0, 1.0, 0.0]])
    return np.asarray(cv2.warpAffine(picture, move, (800, 450), borderMode=cv2.BORDER_REPLICATE), np.uint8)


def test_the_soldiers_and_the_board_are_read(watching: Watching) -> None:
    standing = watching.table.standing
    assert standing is not None
    assert {s.square: s.side for s in standing.soldiers} == CROWD
    assert watching.table.state.startswith("clear; 13 soldiers of A")


def test_a_hand_is_said_for_as_long_as_it_is_there(watching: Watching) -> None:
    watching.show(900_000, arm)
    assert not watching.table.clear
    assert watching.table.trouble is Trouble.HAND
    watching.show(50_000)
    assert watching.table.clear


def test_a_hand_is_one_for_as_long_however_late_it_comes(watching: Watching) -> None:
    """Not before it has lain there for a while is it taken for a thing that is meant to be there."""
    watching.show(3_200_000)
    watching.show(900_000, arm)
    assert watching.table.trouble is Trouble.HAND
    assert "was not there when it was read" in watching.table.state


def test_what_lies_over_the_board_from_the_first_picture_on_leaves_it_not_clear() -> None:
    watching = Watching()
    watching.show(100_000, arm)
    assert watching.table.standing is not None
    assert not watching.table.clear
    assert watching.table.trouble is Trouble.HAND
    assert "lies over the board that is no soldier" in watching.table.state


def test_a_board_of_which_a_part_is_outside_the_picture_leaves_it_not_clear() -> None:
    aside = replace(CAMERA, translation_mm=CAMERA.translation_mm - (250.0, 0.0, 0.0))
    table = Table(aside, tuple(PLACED.values()))
    watch = TableWatch(SCENE, fewest_fps=FEWEST_FPS)
    for k in range(4):
        watch.look(FRAME_US * (k + 1), table.paint(seed=k))
    assert watch.standing is not None
    assert not watch.clear
    assert watch.state.startswith("part of the board is outside the picture, A01-A")


def test_who_stands_otherwise_than_the_position_says_is_told() -> None:
    watching = Watching()
    gone = next(iter(CROWD))
    watching.table = TableWatch(
        replace(SCENE, expected={s: side for s, side in CROWD.items() if s != gone}), fewest_fps=FEWEST_FPS
    )
    watching.show(100_000)
    assert watching.table.state.startswith("clear; 13 soldiers of A")
    assert f"{gone} should be empty and a soldier is seen on it" in watching.table.state


def test_after_a_bump_the_board_is_placed_anew(watching: Watching) -> None:
    watching.show(80_000, bumped)
    assert watching.table.trouble is Trouble.BUMP
    watching.show(900_000, bumped)
    assert watching.table.clear
    watching.show(80_000)
    assert watching.table.trouble is Trouble.BUMP


@pytest.mark.parametrize("fate", ["fell", "taken"])
def test_a_soldier_that_fell_or_was_taken_is_named(watching: Watching, fate: str) -> None:
    square = Square.parse("A-12")
    others = tuple(f for s, f in PLACED.items() if s != square)
    lying = (replace(PLACED[square], lean_rad=math.pi / 2, heading_rad=1.2),)
    picture = Table(CAMERA, others, moving=lying if fate == "fell" else ()).paint()
    watching.show(900_000, lambda _: picture)
    assert watching.table.trouble is Trouble.FALL
    assert "A-12" in watching.table.state
    if fate == "taken":
        watching.show(3_000_000, lambda _: picture)
        assert watching.table.clear
        assert watching.table.standing is not None
        assert watching.table.standing.at(square) is None


def test_too_few_pictures_for_a_shot_are_said_for_as_long_as_they_come_so_seldom(watching: Watching) -> None:
    watching.show(2_000_000, each_us=200_000)
    assert not watching.table.clear
    assert watching.table.trouble is None
    expected = "5.0 pictures a second come, and at least 8.6 are needed for a shot to be judged"
    assert watching.table.state == expected
    watching.show(1_500_000, arm, each_us=200_000)
    assert watching.table.trouble is Trouble.HAND
    assert "was not there when it was read" in watching.table.state, "what lies there comes first"
    watching.show(1_500_000)
    assert watching.table.clear


def test_a_camera_that_says_itself_that_it_is_too_slow_is_believed_at_once() -> None:
    watching = Watching()
    watching.table = TableWatch(replace(SCENE, fps=5.0), fewest_fps=FEWEST_FPS)
    watching.show(200_000, each_us=200_000)
    assert watching.table.state.startswith("5.0 pictures a second come, and at least 8.6")


def test_one_picture_that_comes_late_is_no_slow_camera(watching: Watching) -> None:
    watching.show(2_000_000)
    watching.show(300_000, each_us=300_000)
    assert watching.table.clear


def test_without_a_board_the_reason_is_said_until_there_is_one() -> None:
    watching = Watching()
    watching.show(100_000, lambda picture: np.full_like(picture, 120))
    assert not watching.table.clear
    assert "no board" in watching.table.state
    drawn = watching.table.draw(still()[0])
    assert drawn.shape[0] > 720
    watching.show(1_100_000)
    assert watching.table.clear


def test_what_was_the_matter_is_forgotten_once_there_is_no_board(watching: Watching) -> None:
    watching.show(80_000, swept_off)
    assert watching.table.trouble is not None
    watching.show(900_000, swept_off)
    assert watching.table.standing is None
    assert watching.table.trouble is None


def test_in_a_narrow_picture_no_words_lie_over_others(
    watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: dict[int, list[tuple[int, int]]] = {}

    def note(
        canvas: Image, words: str, at_px: tuple[int, int], size_px: int, *_: object, bold: bool = False
    ) -> None:
        ends = (at_px[0], at_px[0] + text_width_px(words, size_px, bold=bold))
        written.setdefault(size_px, []).append(ends)

    monkeypatch.setattr("rig.watching.write", note)
    high = still()[0].shape[0]
    watching.table.draw(still()[0][:, : 3 * high // 8])
    ((left, right),) = written[14]
    assert right <= 270
    assert all(end < left for _, end in written[19])


def test_a_single_soldier_is_one() -> None:
    watch = TableWatch(SCENE, fewest_fps=FEWEST_FPS)
    watch.look(0, Table(CAMERA, (next(iter(PLACED.values())),)).paint())
    assert watch.state.startswith(("clear; 1 soldier of A, 0 of G", "clear; 0 soldiers of A, 1 of G"))


def test_what_is_drawn_changes_with_what_is_the_matter(watching: Watching) -> None:
    picture = still()[0]
    clear = watching.table.draw(picture)
    watching.show(50_000, arm)
    warned = watching.table.draw(picture)
    assert clear.shape == warned.shape
    assert cv2.absdiff(clear[:64], warned[:64]).max() > 100, "the bar says so"
    plain = cv2.resize(picture, (clear.shape[1], 720), interpolation=cv2.INTER_CUBIC)
    assert cv2.absdiff(clear[64:], plain).mean() > 2, "squares and soldiers are drawn"


def test_what_is_the_matter_is_shown_where_it_is(watching: Watching) -> None:
    """A red ring, for whoever looks at the table and not at the words above it."""
    picture = still()[0]
    clear = watching.table.draw(picture).astype(int)
    watching.show(50_000, arm)
    warned = watching.table.draw(picture).astype(int)
    rows, columns = np.nonzero((np.abs(warned - clear).max(axis=2) > 60)[64:])
    scale = 720 / 450
    assert columns.mean() / scale == pytest.approx(650, abs=60)
    assert rows.mean() / scale == pytest.approx(215, abs=30)


def rig_with_a_film(folder: Path, *, pictures: int, fps: float) -> None:
    """A film of the table that lies still, and settings for it."""
    writer = cv2.VideoWriter(str(folder / "table.avi"), cv2.VideoWriter.fourcc(*"MJPG"), fps, (800, 450))
    for k in range(pictures):
        writer.write(still()[k % 4])
    writer.release()
    centres = ", ".join(f'"{number}" = [{x}, {y}]' for number, (x, y) in MARKERS.centres_mm.items())
    (folder / "rig.toml").write_text(
        f"[board]\nmarker_size_mm = {MARKERS.size_mm}\nmarker_centres_mm = {{ {centres} }}\n"
    )


@pytest.fixture(scope="module")
def two_minutes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a film that lasts longer than anybody here looks at it."""
    folder = tmp_path_factory.mktemp("two-minutes")
    rig_with_a_film(folder, pictures=1200, fps=10.0)
    return folder


@pytest.mark.parametrize("screen", [{}, {"DISPLAY": ":98765"}], ids=["none", "out of reach"])
def test_without_a_screen_the_table_is_on_a_page(screen: dict[str, str], two_minutes: Path) -> None:
    run = "import sys; from rig.cli import main; sys.exit(main())"
    without = {name: value for name, value in os.environ.items() if "DISPLAY" not in name}
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", run, "watch", "--camera", "table.avi", "--for", "100"],
        cwd=two_minutes,
        stdout=subprocess.PIPE,
        text=True,
        env=without | screen,
    )
    try:
        assert process.stdout is not None
        if screen:
            assert process.stdout.readline().startswith("no window can be opened")
        found = re.search(r"open (http://127\.0\.0\.1:\d+/) in a browser", process.stdout.readline())
        assert found is not None
        assert process.stdout.readline().startswith("clear; 13 soldiers of A, 12 of G")
        with urllib.request.urlopen(found[1], timeout=30) as page:
            source = re.search(r'<img src="/([^"]+)"', page.read().decode())
        assert source is not None
        capture = cv2.VideoCapture(found[1] + source[1])
        # Whoever comes gets the last picture at once; it may be the one from before the table was read.
        shown = [capture.read()[1] for _ in range(3)][-1]
        capture.release()
    finally:
        process.terminate()
        process.communicate()
    assert shown.shape == (64 + 720, 1280, 3)
    blue, green, red = (int(level) for level in shown[32, 5])
    assert green > max(blue, red) + 40, "the light at the bar's left says that all is clear"


def test_the_command_tells_a_camera_that_is_too_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rig_with_a_film(tmp_path, pictures=30, fps=5.0)
    assert main(["watch", "--camera", "table.avi", "--save", "seen.png"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "not clear: 5.0 pictures a second come, and at least 8.6 are needed for a shot to be judged",
        "seen.png",
    ]


def test_the_command_writes_one_picture_and_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rig_with_a_film(tmp_path, pictures=300, fps=30.0)
    assert main(["watch", "--camera", "table.avi", "--save", "seen.png"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "seen.png"
    assert cv2.imread("seen.png") is not None
    assert main(["watch", "--camera", "table.avi", "--save", "seen.gif"]) == 2
    assert main(["watch", "--camera", "nowhere.avi"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2


@pytest.mark.parametrize("live", [("--page",), ("--page-port", "8080")])
def test_a_page_and_one_picture_are_not_asked_for_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], live: tuple[str, ...]
) -> None:
    """The page was passed over in silence."""
    monkeypatch.chdir(tmp_path)
    rig_with_a_film(tmp_path, pictures=30, fps=30.0)
    assert main(["watch", "--camera", "table.avi", "--save", "seen.png", *live]) == 2
    assert "give --save, or --page and its --page-port" in capsys.readouterr().err
    assert not Path("seen.png").exists()


def test_a_picture_that_was_not_written_in_time_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    writer = cv2.VideoWriter("dark.avi", cv2.VideoWriter.fourcc(*"MJPG"), 30.0, (320, 240))
    for _ in range(90):
        writer.write(np.zeros((240, 320, 3), np.uint8))
    writer.release()
    assert main(["watch", "--camera", "dark.avi", "--save", "seen.png", "--for", "0.1"]) == 1
    assert "seen.png is not written" in capsys.readouterr().err
    assert not Path("seen.png").exists()


class FewPictures:
    """A camera that gives some pictures of the table and then hangs."""

    name = "few"
    fps = 60.0

    def __init__(self, pictures: int) -> None:
        self._left = pictures

    def poll(self) -> list[GrabbedFrame]:
        if not self._left:
            return []
        self._left -= 1
        return [GrabbedFrame(0, still()[0])]

    def close(self) -> None:
        """Nothing to let go."""


def test_a_number_out_of_its_bounds_is_told_with_the_bound_as_people_write_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["watch", "--for", "-1"]) == 2
    assert capsys.readouterr().err.endswith("found -1, expected at least 0\n")


@pytest.mark.parametrize(
    "options", [["--page"], ["--save", "seen.png"], ["--save", "seen.png", "--for", "100"]]
)
@pytest.mark.parametrize("pictures", [0, 1])
def test_a_camera_that_hangs_ends_it_and_is_told(
    pictures: int,
    options: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rig.cli.opening.rig.real_camera", lambda *_: FewPictures(pictures))
    monkeypatch.setattr("rig.camera.silence._LONGEST_S", 0.1)
    monkeypatch.setattr("rig.table_reading.register", lambda *_: NoBoard("no board"))
    assert main(["watch", "--camera", "0", *options]) == 2
    assert "camera few: no picture for" in capsys.readouterr().err


def test_the_window_is_served_while_no_picture_comes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its `q` is heard only then."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rig.cli.opening.rig.real_camera", lambda *_: FewPictures(1))
    served = iter([True, True, False])

    @contextmanager
    def window(*_: object) -> Iterator[Callable[[Image], bool]]:
        yield lambda _: next(served)

    monkeypatch.setattr("rig.cli.watch._showing", window)
    assert main(["watch", "--camera", "0"]) == 0


def test_time_is_counted_from_the_first_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """However long the camera takes to open, the table is told of."""
    monkeypatch.chdir(tmp_path)
    rig_with_a_film(tmp_path, pictures=300, fps=30.0)
    assert main(["watch", "--camera", "table.avi", "--page", "--for", "0"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2, "the page's address, and what was seen"


def test_the_twin_s_camera_may_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["watch", "--camera", "twin", "--page", "--for", "0"]) == 0
    assert "in a browser" in capsys.readouterr().out
