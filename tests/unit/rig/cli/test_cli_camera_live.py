"""`rig camera calibrate --live`: a board that is held before a camera, here a film of one, in one way after the other."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import board_pictures
import cv2
import numpy as np
import pypdf
import pytest

from rig.camera import CameraGone, Frame
from rig.cli import main
from rig.settings import Settings
from vision.lens import Lens, printed_charuco

BOARD = printed_charuco(30.0)
SIZE_PX = (960, 720)
FOCAL_PX, CENTRE_PX = (860.0, 864.0), (486.0, 352.0)
LENS = Lens((*FOCAL_PX, *CENTRE_PX), board_pictures.LENS.distortion)
HELD = 3  # pictures
WAYS = 14
PHOTOGRAPHS = Path(__file__).parents[5] / "shared" / "real" / "lens-chessboard"


@dataclass
class Picture:
    index: int
    timestamp_us: int
    image: np.ndarray


class PatientCamera:
    """A film of which every picture is waited for, however slowly they are looked at."""

    width_px, height_px, fps = 0, 0, 10.0

    def __init__(self, settings: Settings, clock: object) -> None:
        self.name = settings.camera.source
        self._capture = cv2.VideoCapture(self.name)
        self._count = 0

    def poll(self) -> list[Frame]:
        good, image = self._capture.read()
        if not good:
            raise CameraGone(f"camera {self.name}: it stopped giving pictures")
        self._count += 1
        return [Picture(self._count, 100_000 * self._count, image)]

    def close(self) -> None:
        self._capture.release()


def film(path: Path, pictures: list[np.ndarray], fps: int = 10) -> None:
    height, width = pictures[0].shape[:2]
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"FFV1"), fps, (width, height))
    for picture in pictures:
        writer.write(picture if picture.ndim == 3 else cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR))
    writer.release()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_board_shown_to_the_camera_gives_the_lens_and_keeps_each_way_once(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(board_pictures, "LENS", LENS)
    monkeypatch.setattr(board_pictures, "SIZE_PX", SIZE_PX)
    monkeypatch.setattr(board_pictures, "_PX_PER_SQUARE", 80)
    held = [board_pictures.photograph(BOARD, pose) for pose in board_pictures.poses(WAYS, BOARD)]
    film(here / "board.avi", [picture for picture in held for _ in range(HELD)])
    monkeypatch.setattr("rig.cli.opening.rig.real_camera", PatientCamera)
    (here / "rig.toml").write_text(
        f"[camera]\nwidth_px = {SIZE_PX[0]}\nheight_px = {SIZE_PX[1]}\n", encoding="utf-8"
    )
    assert main(["camera", "calibrate", "views", "--live", "--camera", "board.avi"]) == 0
    said = capsys.readouterr().out
    views = sorted((here / "views").iterdir())
    kept = re.findall(r"^view (\d+) kept, ", said, re.MULTILINE)
    assert [int(number) for number in kept] == list(range(1, len(views) + 1))
    assert 8 <= len(views) <= WAYS
    # How far it is, and what to show next, is said with each of them.
    shares = [int(share) for share in re.findall(r"kept, (\d+)% covered; ", said)]
    assert shares == sorted(shares)
    assert len(shares) == len(views)
    camera = tomllib.loads((here / "rig.toml").read_text(encoding="utf-8"))["camera"]
    assert camera["intrinsics_px"][:2] == pytest.approx(FOCAL_PX, rel=0.02)
    assert camera["intrinsics_px"][2:] == pytest.approx(CENTRE_PX, abs=10.0)


def test_a_camera_that_shows_no_board_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    film(here / "wall.avi", [np.full((360, 480), 128, np.uint8)] * 4)
    assert main(["camera", "calibrate", "views", "--live", "--camera", "wall.avi"]) != 0
    said = capsys.readouterr()
    assert "no board is seen" in said.out
    (line,) = said.err.splitlines()
    assert "wall.avi" in line
    assert not (here / "views").exists()


def test_a_camera_that_hangs_is_told_and_not_waited_for(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    film(here / "wall.avi", [np.full((360, 480), 128, np.uint8)])

    class HangingCamera(PatientCamera):
        def poll(self) -> list[Frame]:
            return [] if self._count else super().poll()

    monkeypatch.setattr("rig.cli.opening.rig.real_camera", HangingCamera)
    monkeypatch.setattr("rig.camera.silence._LONGEST_S", 0.1)
    assert main(["camera", "calibrate", "views", "--live", "--camera", "wall.avi"]) == 2
    assert "camera wall.avi: no picture for" in capsys.readouterr().err


def test_a_camera_is_for_live_views_only(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["camera", "calibrate", "views", "--camera", "0"]) == 2
    assert "--live" in capsys.readouterr().err


def test_photographs_may_have_any_names_in_the_picture_of_a_calibration(here: Path) -> None:
    (here / "views").mkdir()
    for number, pose in enumerate(board_pictures.poses(6, BOARD)):
        cv2.imwrite(str(here / "views" / rf"{number}$\foo$.png"), board_pictures.photograph(BOARD, pose))
    assert main(["camera", "calibrate", "views", "--no-store", "--plot", "lens.pdf"]) == 0
    assert r"5$\foo$.png" in pypdf.PdfReader("lens.pdf").pages[0].extract_text()


@pytest.mark.skipif(not PHOTOGRAPHS.is_dir(), reason="the shared photographs are not beside this checkout")
def test_a_real_wide_lens_is_found_from_a_real_board(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever took these photographs fitted them to 0.50 px."""
    photographs = [cv2.imread(str(file)) for file in sorted(PHOTOGRAPHS.glob("*.jpg"))[::3]]
    film(here / "real.avi", [picture for picture in photographs for _ in range(2)])
    monkeypatch.setattr("rig.cli.opening.rig.real_camera", PatientCamera)
    told = ["--live", "--camera", "real.avi", "--chessboard", "8x6", "--no-store"]
    assert main(["camera", "calibrate", "views", *told]) == 0
    error = re.search(r"^error ([\d.]+) px in the fit", capsys.readouterr().out, re.MULTILINE)
    assert error is not None
    assert float(error[1]) < 0.50
