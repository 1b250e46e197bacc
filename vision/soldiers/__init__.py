"""Who stands on which square, and of which side."""

from vision.soldiers.board import Board, measure_squares, read_board

__all__ = ["Board", "measure_squares", "read_board"]
