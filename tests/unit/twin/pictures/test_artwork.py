"""What is printed on the board, for every size of its squares."""

from __future__ import annotations

import numpy as np
import pytest

from twin.pictures import artwork
from twin.pictures.artwork import BoardLook


@pytest.mark.parametrize("square_mm", [20.0, 40.6, 43.1, 45.0, 45.8, 47.1])
def test_every_square_has_its_number_whatever_their_size(
    monkeypatch: pytest.MonkeyPatch, square_mm: float
) -> None:
    look = BoardLook.PRINTED
    printed = artwork.board(look, square_mm=square_mm, strip_mm=0.0)
    monkeypatch.setattr(artwork, "_number", lambda *_: None)
    bare = artwork.board(look, square_mm=square_mm, strip_mm=0.0)
    changed = (printed != bare).any(axis=2)
    for line in np.array_split(changed, 18):
        for square in np.array_split(line, 8, axis=1):
            assert square.mean() > 0.02
