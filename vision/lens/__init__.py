"""The camera's lens, calibrated from pictures of a chessboard or a ChArUco board."""

from vision.lens.adjust import Lens, error_of
from vision.lens.calibration import Calibrated, NoLens, calibrate
from vision.lens.coverage import Coverage, cover_roughly
from vision.lens.sighting import Flaw, Sighting, Unusable, recognise, sight
from vision.lens.target import Charuco, Chessboard, Target, printed_charuco

__all__ = [
    "Calibrated",
    "Charuco",
    "Chessboard",
    "Coverage",
    "Flaw",
    "Lens",
    "NoLens",
    "Sighting",
    "Target",
    "Unusable",
    "calibrate",
    "cover_roughly",
    "error_of",
    "printed_charuco",
    "recognise",
    "sight",
]
