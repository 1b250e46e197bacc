"""Names that people gave, as pictures and printed pages can show them: no font has all the signs there are."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Final

import matplotlib
from matplotlib.font_manager import get_font

__all__ = ["FONT_FOLDER", "drawable", "not_drawable"]

FONT_FOLDER: Final = Path(matplotlib.get_data_path(), "fonts", "ttf")
"""Of the DejaVu fonts, in which everything is set."""
_NO_SUCH_SIGN = "\ufffd"


def drawable(text: str) -> str:
    """Return a text with a mark in the place of each sign that the font has not."""
    return "".join(sign if ord(sign) in _known() else _NO_SUCH_SIGN for sign in text)


def not_drawable(text: str) -> str:
    """Return the signs of a text that the font has not, each once, in their order."""
    return "".join(sign for sign in dict.fromkeys(text) if ord(sign) not in _known())


@functools.cache
def _known() -> frozenset[int]:
    return frozenset(get_font(FONT_FOLDER / "DejaVuSans.ttf").get_charmap())
