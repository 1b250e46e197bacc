"""Who stands on which square, and of which side."""

from vision.soldiers.board import Board, read_board

__all__ = ["Board", "read_board"]
