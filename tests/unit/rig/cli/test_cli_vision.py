"""`rig vision teach`: what it writes is used beside it, and told; what it writes over is told too."""

from pathlib import Path

import pytest
from painted_shot import record
from painted_table import CROWD

from game.montecassino import Position, Side
from rig.analyse import analyse_folder
from rig.cli import main
from rig.uniforms_file import NAME

POSITION = str(Position(Side.G, CROWD, dict.fromkeys(Side, 0), dict.fromkeys(Side, 20)))


def test_what_was_taught_is_named_where_it_is_used_and_where_it_is_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = record(tmp_path / "told", position=POSITION)
    for _ in range(2):
        assert main(["vision", "teach", str(told)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"the uniforms are in {tmp_path / NAME}",
        f"the uniforms are in {tmp_path / NAME}, in place of those taught before",
    ]
    analysis = analyse_folder(record(tmp_path / "untold"))
    note = f"the sides are told by the uniforms taught in {tmp_path / NAME}"
    assert note in analysis.as_json()["notes"]
    words = list(analysis.in_words())
    assert f"Note: {note}." in words
    counts = ", ".join(f"{sum(of is side for of in CROWD.values())} {side}" for side in Side)
    assert words[0] == f"{len(CROWD)} soldiers stood on the board ({counts})."
