"""Sizes of paper that sheets are printed on."""

from enum import StrEnum

__all__ = ["SIZES_MM", "Paper"]


class Paper(StrEnum):
    """What is printed on."""

    A4 = "a4"
    A3 = "a3"


SIZES_MM = {Paper.A4: (210.0, 297.0), Paper.A3: (297.0, 420.0)}
"""Its shorter and longer side."""
