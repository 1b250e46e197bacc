"""`rig run` on the twin: stopped by a fault in the middle, the same command fires what is left, each shot once."""

import contextlib
import io
import re
from collections import Counter
from pathlib import Path

import pytest

from rig.cli import main
from rig.log import Fired, Shot, Stage, open_log
from rig.plan import parse_plan
from twin.chip import FIRMWARE_PATH

pytestmark = pytest.mark.skipif(
    not FIRMWARE_PATH.is_file(), reason=f"{FIRMWARE_PATH} is not there; `make firmware` builds it"
)

SETTINGS = """
[camera]
width_px = 640
height_px = 360
fps = 60.0
intrinsics_px = [780.0, 780.0, 319.5, 179.5]

[cannon]
loader = {loader}

[twin]
seed = 11

[twin.camera]
{faults_of_camera}

[twin.plant.loader]
jams = {jams}

[twin.plant.emergency_stop]
{faults_of_stop}
"""

PLAN = """
name = "two targets [/2]"
order = "drawn"
seed = 3
position = "A A01-A08 G01-G08,G53,G61 0/0 20/20 -"

[[targets]]
squares = "G53,G61"

[pauses]
loading = "{loading}"
"""


class Table:
    """A folder with settings and a programme, as somebody has it at a table."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(
        self, *, loader: bool = False, jams: str = "[]", camera: str = "", emergency_stop: str = ""
    ) -> None:
        (self._folder / "rig.toml").write_text(
            SETTINGS.format(
                loader=str(loader).lower(),
                jams=jams,
                faults_of_camera=camera,
                faults_of_stop=emergency_stop,
            ),
            encoding="utf-8",
        )
        (self._folder / "plan.toml").write_text(
            PLAN.format(loading="loader" if loader else "ask"), encoding="utf-8"
        )

    def run(self) -> tuple[int, str, str]:
        """Give exit status, output and complaint."""
        output, complaint = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(self._folder),
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(complaint),
        ):
            status = main(["run", "plan.toml"])
        return status, output.getvalue(), complaint.getvalue()

    def shots(self) -> tuple[Shot, ...]:
        with open_log(self._folder / "rig-log.sqlite", create=False) as log:
            return log.shots()


@pytest.fixture
def table(tmp_path: Path) -> Table:
    return Table(tmp_path)


@pytest.fixture(scope="module")
def faultless(tmp_path_factory: pytest.TempPathFactory) -> Table:
    """A table at which the programme has been run to its end."""
    table = Table(tmp_path_factory.mktemp("faultless"))
    table.write()
    status, output, complaint = table.run()
    assert (status, complaint) == (0, "")
    assert "shot 1 of 2" in output
    assert "shot 2 of 2" in output
    assert "putting the table in order" not in output, "the bar is for a terminal, and this is none"
    return table


def second_shot_at_us(faultless: Table, stage: Stage) -> int:
    """The twin's time; every run has the same until something goes wrong."""
    entry = faultless.shots()[1].entry(stage)
    assert entry is not None and entry.clock_us is not None
    return entry.clock_us


def test_a_programme_that_is_through_fires_nothing_and_shows_its_table_whole(
    faultless: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    before = faultless.shots()
    assert [shot.planned.plan_index for shot in before] == [0, 1]
    assert {shot.planned.target for shot in before} == {"G-53", "G-61"}
    status, output, _ = faultless.run()
    assert status == 0
    assert "two targets [/2]: what came of it" in output, "brackets in a name are no markup"
    assert "All 2 shots of two targets [/2] are fired" in output
    assert "G-53" in output
    assert "G-61" in output
    assert "not judged" in output
    assert "…" not in output
    assert faultless.shots() == before


@pytest.mark.parametrize("what", ["emergency stop", "camera", "loader"])
def test_a_fault_stops_it_and_the_same_command_does_the_rest_once(
    what: str, table: Table, faultless: Table
) -> None:
    cocked_us = second_shot_at_us(faultless, Stage.COCKED)
    if what == "loader":
        table.write(loader=True, jams="[2]")
    elif what == "camera":
        table.write(camera=f"faults.gone_at_us = {cocked_us + 1000}")
    else:
        table.write(emergency_stop=f"wire_cut_at_s = {(cocked_us + 1000) / 1e6}")
    status, _, complaint = table.run()
    assert status == 1
    *danger, _ = complaint.splitlines()
    lever = ["the lever is still drawn"] if what == "emergency stop" else []
    muzzle = ["a shot is still seated in the muzzle"] if what != "loader" else []
    assert [line.removeprefix("rig: ").partition(":")[0] for line in danger] == [*lever, *muzzle]
    assert "stopped at shot 2 of 2" in complaint
    assert what in complaint
    assert "the same command goes on" in complaint
    first, second = table.shots()
    assert (first.fired, second.fired) == (Fired.YES, Fired.NO)
    assert first.verdict is not None

    table.write(loader=what == "loader")
    status, output, _ = table.run()
    assert status == 0
    assert "1 of 2 shots was fired before" in output
    fired = [shot for shot in table.shots() if shot.fired is not Fired.NO]
    assert Counter(shot.planned.plan_index for shot in fired) == {0: 1, 1: 1}
    assert all(shot.verdict is not None for shot in fired)


def test_a_shot_that_left_is_not_fired_again_though_the_camera_died_over_it(
    table: Table, faultless: Table
) -> None:
    table.write(camera=f"faults.gone_at_us = {second_shot_at_us(faultless, Stage.SEEN) + 20_000}")
    status, _, complaint = table.run()
    assert status == 1
    assert "camera" in complaint
    before = table.shots()
    assert [shot.fired for shot in before] == [Fired.YES, Fired.YES]
    assert before[1].verdict is None

    table.write()
    status, output, _ = table.run()
    assert status == 0
    assert "All 2 shots of two targets [/2] are fired" in output
    assert table.shots() == before


def test_nothing_is_fired_where_the_recording_would_have_no_room(table: Table, tmp_path: Path) -> None:
    table.write()
    of_another_log = tmp_path / "recordings" / "shot-00001" / "recording.json"
    of_another_log.parent.mkdir(parents=True)
    of_another_log.write_text("{}", encoding="utf-8")
    status, _, complaint = table.run()
    assert status == 1
    assert "never overwritten (" in complaint
    assert "let [log] recordings name another folder" in complaint
    assert [shot.fired for shot in table.shots()] == [Fired.NO]


def test_the_programme_on_the_page_is_the_one_that_the_page_runs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "run.md").read_text(encoding="utf-8")
    programme = parse_plan(page.partition("```toml\n")[2].partition("```")[0])
    assert programme.name == "two ranks"
    for number, shot in enumerate(programme.shots(), 1):
        assert f"shot {number} of 3, {shot.side} at {shot.target}, option {shot.option}: " in page


def test_the_programme_on_the_page_ends_as_the_page_shows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "run.md").read_text(encoding="utf-8")
    Path("evening.toml").write_text(page.partition("```toml\n")[2].partition("```")[0], encoding="utf-8")
    stopped, went_on = (block.partition("```")[0] for block in page.split("```text\n")[1:])
    for twin, shown in (("plant.emergency_stop.wire_cut_at_s = 15.0", stopped), ("", went_on)):
        Path("rig.toml").write_text(f"[twin]\n{twin}\n", encoding="utf-8")
        main(["run", "evening.toml"])
        captured = capsys.readouterr()
        printed = " ".join((captured.out + captured.err).split())
        # Long lines are shown as a terminal breaks them.
        lines = [line.strip() for line in shown.splitlines()]
        for line in re.split(r"\n(?=\d|shot |rig: |two ranks: |All )", "\n".join(lines)):
            assert " ".join(line.split()) in printed
        for line in captured.err.splitlines():
            assert " ".join(line.split()) in " ".join(shown.split())
