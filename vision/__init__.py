"""What the overhead camera saw: arrays in, frozen results out."""

from vision.causes import FallCause, Knock
from vision.outcome import Push, Soldier, Standing, Toppling
from vision.reading import ShotReading, read_shot
from vision.registration import BoardView, NoBoard, register
from vision.scene import MarkerMap, Scene
from vision.shot import ShotTrack
from vision.soldiers import Board, read_board
from vision.table_before import NoReading

__all__ = [
    "Board",
    "BoardView",
    "FallCause",
    "Knock",
    "MarkerMap",
    "NoBoard",
    "NoReading",
    "Push",
    "Scene",
    "ShotReading",
    "ShotTrack",
    "Soldier",
    "Standing",
    "Toppling",
    "read_board",
    "read_shot",
    "register",
]
