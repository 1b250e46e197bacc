"""`rig camera`: bad folders and boards are told in a line; sheets are drawn at true size."""

import io
import os
import shutil
import subprocess
from pathlib import Path

import cv2
import numpy as np
import pypdf
import pytest
from PIL import Image

from rig.camera_delay import Delay
from rig.cli import main
from rig.drawing.paper import Paper
from rig.lens.pictures import read_picture
from rig.lens.plot import draw_calibration
from rig.report.camera_sheets import SheetError, board_square_mm, draw_sheets
from rig.settings import Settings
from vision.lens import Calibrated, Chessboard, Sighting, calibrate, printed_charuco, sight

BOARD = Settings().board
MM_PER_POINT = 25.4 / 72


def sheets(paper: Paper = Paper.A4) -> bytes:
    return draw_sheets(BOARD.marker_centres_mm, BOARD.marker_size_mm, BOARD.marker_dictionary, paper)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["camera", *words]) in (1, 2)
    told = capsys.readouterr().err.strip()
    assert told.startswith("rig: ")
    assert "\n" not in told
    return told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["calibrate", "nowhere"], "nowhere: found nothing, expected a folder of photographs"),
        (["calibrate", "file.txt"], "file.txt: found a file"),
        (["calibrate", "empty"], "empty: found no photograph"),
        (
            ["calibrate", "telephone"],
            "telephone: found files that end in .HEIC, .MOV, expected files that end in",
        ),
        (["calibrate", "broken"], "broken: no file in it is a picture that can be read"),
        (["calibrate", "grey"], "no board"),
        (["calibrate", "grey", "--chessboard", "8"], "--chessboard: found '8'"),
        (["calibrate", "grey", "--chessboard", "8x6", "--charuco", "9x6"], "not both"),
        (["calibrate", "grey", "--charuco", "9x6", "--dictionary", "DICT_NONE"], "DICT_NONE"),
        (["calibrate", "grey", "--dictionary", "DICT_X"], "DICT_5X5_100, "),
        (["check", "grey", "--dictionary", "DICT_X"], "DICT_5X5_100, "),
        (["calibrate", "grey", "--dictionary", "DICT_5X5_50"], "--dictionary: it is for a board named with"),
        (["calibrate", "grey", "--chessboard", "8x6", "--marker-mm", "9"], "--marker-mm: it is for a board"),
        (["calibrate", "grey", "--charuco", "9x6", "--marker-mm", "40"], "--marker-mm"),
        (["calibrate", "grey", "--square-mm", "25"], "--square-mm: it is for a board named with"),
        (["check", "grey", "--square-mm", "25"], "--square-mm: it is for a board named with"),
        (["calibrate", "grey", "--charuco", "40x40"], "800 markers"),
        (["calibrate", "grey", "--chessboard", "8x6"], "no calibration"),
        (["calibrate", "new", "--live"], "twin"),
        (["check", "grey"], "no lens to check"),
        (["markers", "--out", "x.png"], "found 'x.png', expected a name that ends in .pdf"),
        (["markers", "--out", "folder.pdf"], "folder.pdf cannot be written: Is a directory"),
    ],
)
def test_what_cannot_be_used_is_told_in_a_line(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    (here / "empty").mkdir()
    (here / "telephone").mkdir()
    for name in ("1.HEIC", "2.HEIC", "1.MOV"):
        (here / "telephone" / name).touch()
    (here / "folder.pdf").mkdir()
    (here / "file.txt").write_text("no picture")
    for name, data in (("broken", b"\xff\xd8 no picture"), ("grey", None)):
        (here / name).mkdir()
        file = here / name / "1.jpg"
        if data is None:
            cv2.imwrite(str(file), np.full((240, 320), 128, np.uint8))
        else:
            file.write_bytes(data)
    status = main(["camera", *words])
    told = capsys.readouterr().err
    assert status in (1, 2)
    assert said in told.splitlines()[-1]
    assert "Traceback" not in told


def test_photographs_of_a_kind_that_is_not_read_are_told(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "mixed").mkdir()
    cv2.imwrite("mixed/1.jpg", np.full((240, 320), 128, np.uint8))
    for name in ("2.HEIC", "3.HEIC", "4.dng", "notes.txt"):
        (here / "mixed" / name).touch()
    assert main(["camera", "calibrate", "mixed", "--chessboard", "8x6"]) == 1
    assert (
        "rig: mixed: 3 photographs in it end in .HEIC, .dng and cannot be read: save as .jpg what should count\n"
        in capsys.readouterr().err
    )


def test_of_a_damaged_photograph_nobody_speaks_but_the_rig(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (here / "cut").mkdir()
    grainy = np.random.default_rng(1).integers(0, 255, (240, 320), np.uint8)
    for name in ("1.jpg", "2.png"):
        whole = cv2.imencode(Path(name).suffix, grainy)[1].tobytes()
        (here / "cut" / name).write_bytes(whole[: len(whole) // 2])
    assert main(["camera", "calibrate", "cut"]) == 2
    assert capfd.readouterr().err == "rig: cut: no file in it is a picture that can be read\n"


def test_a_camera_that_gives_nothing_leaves_no_folder_behind(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "there is no such file" in refused(capsys, "calibrate", "new", "--live", "--camera", "no.mkv")
    assert list(here.iterdir()) == []


def test_a_pipe_among_the_photographs_is_not_waited_for(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "odd").mkdir()
    os.mkfifo(here / "odd" / "1.jpg")
    assert "no file in it is a picture" in refused(capsys, "calibrate", "odd")


@pytest.mark.parametrize("ending", [".png", ".tif"])
@pytest.mark.parametrize("bits", [8, 12, 16])
def test_a_photograph_of_more_bits_is_as_bright_as_one_of_8(here: Path, bits: int, ending: str) -> None:
    seen = np.random.default_rng(0).integers(0, 256, (48, 64), dtype=np.uint8)
    deep = here / f"deep{ending}"
    cv2.imwrite(str(deep), seen.astype(np.uint16) << (bits - 8))
    read = read_picture(deep)
    assert read is not None
    assert read.dtype == np.uint8
    assert np.array_equal(read, seen)


def _photograph_from_all_sides(folder: Path) -> None:
    """Draw ten photographs, 640 x 480 px, of a chessboard of 8 x 6 inner corners that leans every way."""
    folder.mkdir()
    squares = np.kron(np.indices((7, 9)).sum(axis=0) % 2 * 255, np.ones((40, 40))).astype(np.uint8)
    board = cv2.copyMakeBorder(squares, 30, 30, 30, 30, 0, value=255)
    seen_by = np.array([[800.0, 0, 320], [0, 800, 240], [0, 0, 1]])
    leans = [(x, y) for x in (-0.5, 0.0, 0.5) for y in (-0.5, 0.0, 0.5) if (x, y) != (0, 0)]
    for k, (x, y) in enumerate([*leans, (0.3, 0.3), (-0.3, 0.2)]):
        turned, _ = cv2.Rodrigues(np.array([x, y, 0.1 * k]))
        middle = np.array([[1, 0, -board.shape[1] / 2], [0, 1, -board.shape[0] / 2], [0, 0, 1]])
        placed = np.column_stack([turned[:, 0], turned[:, 1], [0, 0, 900.0]]) @ middle
        drawn = cv2.warpPerspective(board, seen_by @ placed, (640, 480), borderValue=255)
        cv2.imwrite(str(folder / f"{k}.png"), cv2.GaussianBlur(drawn, (0, 0), 0.8))


def test_the_drawing_of_a_wide_camera_s_lens_is_whole(here: Path) -> None:
    _photograph_from_all_sides(here / "photos")
    board = Chessboard(8, 6)
    seen = {
        path.name: sight(cv2.copyMakeBorder(picture, 0, 0, 107, 107, 0, value=255), board)
        for path in sorted((here / "photos").iterdir())
        if (picture := read_picture(path)) is not None
    }
    found = calibrate(seen, board, (854, 480))
    assert isinstance(found, Calibrated)
    figure = draw_calibration(found)
    figure.draw_without_rendering()
    for axes in figure.axes:
        drawn = axes.get_tightbbox()
        assert drawn is not None
        assert figure.bbox.x0 <= drawn.x0
        assert drawn.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= drawn.y0
        assert drawn.y1 <= figure.bbox.y1


def test_a_lens_that_the_settings_file_does_not_take_is_told_all_the_same(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _photograph_from_all_sides(here / "photos")
    cv2.imwrite("photos/small.png", np.zeros((240, 320), np.uint8))
    (here / "photos" / "cut.png").write_bytes(b"half")
    (here / "rig.toml").write_text("[camera]\nwidth_px = 640\nheight_px = 480\n")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert main(["camera", "calibrate", "photos"]) == 2
    out, err = capsys.readouterr()
    why = "rig.toml cannot be written: No space left on device"
    assert err == f"rig: {why}\n"
    assert "  small.png: not used: it is 320 x 240 px where most are 640 x 480 px: " in out
    assert "  cut.png: not used: it is no picture that can be read\n" in out
    *_, heading, _, _, _, lens, distortion = out.splitlines()
    assert heading == f"not stored ({why}); in the settings it would be:"
    assert lens.startswith("intrinsics_px = [")
    assert distortion.startswith("distortion = [")


def test_a_delay_that_the_settings_file_does_not_take_is_told_all_the_same(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "empty").mkdir()
    (here / "rig.toml").touch()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr("rig.camera_delay.delay_of", lambda _: Delay(17867, 100.0, ()))
    assert main(["camera", "delay", "empty"]) == 1
    assert capsys.readouterr().err.endswith(
        "rig: rig.toml cannot be written: No space left on device; "
        "in the settings it would be: camera.delay_us = 17867\n"
    )


def test_a_lens_that_photographs_leave_open_is_not_stored(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    squares = np.kron(np.indices((7, 9)).sum(axis=0) % 2 * 255, np.ones((40, 40))).astype(np.uint8)
    (here / "flat").mkdir()
    for k in range(6):
        # Held straight before the camera each time, only elsewhere.
        drawn = cv2.copyMakeBorder(
            squares, 40 + 20 * k, 160 - 20 * k, 30 + 30 * k, 250 - 30 * k, 0, value=255
        )
        cv2.imwrite(str(here / "flat" / f"{k}.png"), cv2.GaussianBlur(drawn, (0, 0), 0.8))
    assert main(["init"]) == 0
    before = (here / "rig.toml").read_text("utf-8")
    capsys.readouterr()
    assert main(["camera", "calibrate", "flat", "--json"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "focal length" in printed.err
    assert (here / "rig.toml").read_text("utf-8") == before


def test_as_many_photographs_of_one_size_as_of_another_are_told_whatever_their_names(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    squares = np.kron(np.indices((7, 9)).sum(axis=0) % 2 * 255, np.ones((40, 40))).astype(np.uint8)
    wide = cv2.GaussianBlur(cv2.copyMakeBorder(squares, 60, 100, 60, 120, 0, value=255), (0, 0), 0.8)
    high = cv2.rotate(wide, cv2.ROTATE_90_CLOCKWISE)
    for folder, first, second in (("wide-first", wide, high), ("high-first", high, wide)):
        (here / folder).mkdir()
        for k in range(2):
            cv2.imwrite(f"{folder}/a{k}.png", first)
            cv2.imwrite(f"{folder}/b{k}.png", second)
        assert refused(capsys, "calibrate", folder, "--chessboard", "8x6") == (
            f"rig: {folder}: found 2 of 440 x 540 px and 2 of 540 x 440 px, expected most photographs of one size: "
            "a lens is calibrated for one; keep those of the size that the camera films in"
        )


def test_why_no_shot_tells_the_delay_goes_to_standard_error_alone(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "empty").mkdir()
    for folder, why in (("nowhere", "found nothing"), ("empty", "found no recording")):
        assert main(["camera", "delay", folder]) == 1
        printed = capsys.readouterr()
        assert printed.out == ""
        assert f"  {folder}: the folder: {why}" in printed.err
        assert printed.err.splitlines()[-1] == (
            f"rig: {folder}: the camera's delay is not told: 0 of 1 shots tell it, and 5 are needed"
        )


def test_a_delay_below_nothing_is_told_as_before(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "empty").mkdir()
    (here / "rig.toml").touch()
    for delay_us, told in ((-154, "0.2 ms before"), (17867, "17.9 ms after")):
        monkeypatch.setattr("rig.camera_delay.delay_of", lambda _, late=delay_us: Delay(late, 100.0, ()))
        assert main(["camera", "delay", "empty", "--no-store"]) == 0
        said = capsys.readouterr().out
        assert f"the camera stamps its pictures {told} they were taken, give or take 0.1 ms" in said


def test_every_page_has_the_paper_s_size_and_the_board_its_squares() -> None:
    for paper, long_mm in ((Paper.A4, 297), (Paper.A3, 420)):
        pages = pypdf.PdfReader(io.BytesIO(sheets(paper))).pages
        assert len(pages) == 2
        for page in pages:
            sides = sorted(float(side) * MM_PER_POINT for side in page.mediabox[2:])
            assert sides[1] == pytest.approx(long_mm, abs=0.1)
        assert 9 * board_square_mm(paper) < long_mm


def test_the_same_table_gives_the_same_sheets() -> None:
    assert sheets() == sheets()


def test_what_stands_on_a_marker_s_card_can_be_read() -> None:
    sizes_pt: dict[str, float] = {}

    def note(text: str, _user: object, _line: object, _font: object, size_pt: float) -> None:
        sizes_pt[text.strip()] = size_pt

    pypdf.PdfReader(io.BytesIO(sheets())).pages[0].extract_text(visitor_text=note)
    labels = {
        text: size_pt for text, size_pt in sizes_pt.items() if text.startswith(("marker ", "this edge"))
    }
    assert len(labels) == 5
    assert min(labels.values()) >= 7


def test_a_marker_larger_than_the_paper_is_told() -> None:
    with pytest.raises(SheetError, match=r"has room for 178 mm; choose --paper a3 or smaller markers"):
        draw_sheets({"0": (0.0, 0.0)}, 150.0, "DICT_4X4_50", Paper.A4)
    with pytest.raises(SheetError, match=r"A4 has room for 178 mm; choose smaller markers"):
        draw_sheets({"0": (0.0, 0.0)}, 200.0, "DICT_4X4_50", Paper.A4)
    with pytest.raises(SheetError, match=r"A3 has room for 265 mm; choose smaller markers"):
        draw_sheets({"0": (0.0, 0.0)}, 200.0, "DICT_4X4_50", Paper.A3)
    with pytest.raises(SheetError, match="no marker 77"):
        draw_sheets({"77": (0.0, 0.0)}, 30.0, "DICT_4X4_50", Paper.A4)


def test_markers_take_no_other_file_s_place_unless_it_was_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("markers.pdf").write_bytes(b"%PDF-1.4 my own sheets")
    assert main(["camera", "markers"]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == (
        "rig: markers.pdf is there already, and no sheets of markers; name another one with --out"
    )
    assert Path("markers.pdf").read_bytes() == b"%PDF-1.4 my own sheets"
    assert main(["camera", "markers", "--out", "markers.pdf"]) == 0
    assert main(["camera", "markers", "--paper", "A3"]) == 0


@pytest.mark.skipif(shutil.which("pdftoppm") is None, reason="pdftoppm (poppler-utils) is not here")
def test_printed_markers_and_board_are_found_at_true_size(tmp_path: Path) -> None:
    (tmp_path / "m.pdf").write_bytes(sheets())
    dpi = 150
    subprocess.run(
        ["pdftoppm", "-r", f"{dpi}", "-gray", "-png", tmp_path / "m.pdf", tmp_path / "m"], check=True
    )
    markers, board = (
        np.asarray(Image.open(tmp_path / f"m-{k}.png").convert("L"), dtype=np.uint8) for k in (1, 2)
    )
    px_per_mm = dpi / 25.4
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, BOARD.marker_dictionary))
    corners, ids, _ = cv2.aruco.ArucoDetector(dictionary).detectMarkers(markers)
    assert sorted(int(i) for i in np.ravel(ids)) == [0, 1, 2, 3]
    for marker in corners:
        sides = np.linalg.norm(np.diff(marker[0], axis=0), axis=1) / px_per_mm
        assert sides == pytest.approx(BOARD.marker_size_mm, abs=0.35)
    target = printed_charuco(float(board_square_mm(Paper.A4)))
    found = sight(board, target)
    assert isinstance(found, Sighting), found
    assert len(found.corners) == 40
    apart = np.linalg.norm(np.diff(found.pixels.reshape(5, 8, 2), axis=1), axis=2) / px_per_mm
    assert apart == pytest.approx(target.square_mm, abs=0.1)
