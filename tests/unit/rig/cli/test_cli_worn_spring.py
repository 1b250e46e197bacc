"""Before it fires the rig says how worn a spring that fades is, and for which speed it therefore aims."""

from __future__ import annotations

from pathlib import Path

import pytest
from fading_spring import fading

from rig.calibrating.calibration_file import write_calibration
from rig.cli import main

PLAN = """name = "evening"
options = ["iii"]
position = "A A01-A24 G01-G24 0/0 20/20 -"

[[targets]]
squares = "G33"
"""
NO_CANNON = """[port]
url = "/dev/no-such-port"

[camera]
source = "no-such-film.avi"
"""


@pytest.mark.parametrize("words", [["shoot", "G-33"], ["run", "evening.toml"]], ids=["shoot", "run"])
@pytest.mark.parametrize(
    ("fade", "told"),
    [
        (3e-4, ["the spring has fired 224 shots, 0 since the calibration: aimed for 8.95 m/s"]),
        (0.0, []),
    ],
    ids=["fades", "does not"],
)
def test_how_worn_it_is_is_told_before_anything_is_opened(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    fade: float,
    told: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write_calibration(Path("calibration.json"), fading(fade), [], shots_fired=224)
    Path("rig.toml").write_text(f'[cannon]\ncalibration = "calibration.json"\n{NO_CANNON}')
    Path("evening.toml").write_text(PLAN)
    assert main(words) == 2
    said = capsys.readouterr()
    assert [line for line in said.out.splitlines() if line.startswith("the spring")] == [
        f"{each}, 8.90 to 9.01 m/s with 95 %" for each in told
    ]
    assert said.err.startswith("rig: camera no-such-film.avi")
