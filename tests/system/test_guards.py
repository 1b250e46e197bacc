"""A shot on the twin is refused, with the reason, while something is wrong over the table; nothing is armed then."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_twin import SMALL_TWIN

from rig.cli import main
from rig.log import Fired, Stage, open_log

FAULTS = {
    "hand": ("[twin.table.faults]\nhand_at_us = 3_000_000\nhand_mm = [120.0, 500.0]", "over the table"),
    "bump": ("[twin.camera.faults]\nbump_at_us = 3_000_000", "was moved by"),
    "cap": ("[twin.camera.faults]\ncap_on_at_us = 3_000_000", "lens covered"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_happens_while_the_lever_is_drawn_stops_the_shot(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    made, said = FAULTS[fault]
    Path("rig.toml").write_text(f"{SMALL_TWIN.format(seed=3)}\n{made}\n", encoding="utf-8")
    assert main(["shoot", "G-53"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "lane is not clear" in line
    assert said in line
    with open_log(Path("rig-log.sqlite"), create=False) as log:
        (shot,) = log.shots()
    assert shot.fired is Fired.NO
    assert Stage.COCKED in {entry.stage for entry in shot.history}
    assert Stage.ARMED not in {entry.stage for entry in shot.history}
