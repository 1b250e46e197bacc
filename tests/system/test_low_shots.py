"""On the twin: low shots that run together with their own shadow, and whose unlit side is dark, did not touch the board."""

from __future__ import annotations

from pathlib import Path

import pytest

from game.montecassino import Cause, Square
from rig.recording import write_recording
from rig.verdict.analyse import analyse_folder
from twin.clips import film


@pytest.mark.parametrize(
    ("seed", "struck"),
    [(225_037, "A-13"), (230_039, "A-08")],
    ids=["its shadow runs into it", "its side away from the lamp is dark"],
)
def test_a_low_shot_that_struck_somebody_first_is_not_taken_for_one_that_bounced(
    seed: int, struck: str, tmp_path: Path
) -> None:
    clip = film(seed)
    write_recording(tmp_path / "shot", clip.keys, clip.frames)
    falls = analyse_folder(tmp_path / "shot").reading.falls
    causes = {fall.toppling.soldier.square: fall.cause for fall in falls}
    assert causes[Square.parse(struck)] is Cause.DIRECT
