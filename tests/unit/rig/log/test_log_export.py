"""The log as flat tables: every shot and every fall is there, in CSV and in Parquet alike."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from logged_shots import AIM, ANALYSIS, FINAL, PENDING, PLAN, START, until

from rig.log import Analysis, LogError, ShotLog, Signature, Stage, Verdict, open_log_in_memory
from rig.log.export import FORMATS, export, falls_table, shots_table

_START_UTC_US = 1_790_000_000_000_000


@pytest.fixture
def log() -> Iterator[ShotLog]:
    with open_log_in_memory(now_utc_us=lambda: _START_UTC_US) as opened:
        session_id = opened.start_session(START)
        until(opened, session_id, Stage.JUDGED)
        until(opened, session_id, Stage.JUDGED, verdict=PENDING)
        until(opened, session_id, Stage.ASKED)
        yield opened


def test_one_row_a_shot_with_units_in_the_column_names(log: ShotLog) -> None:
    whole, pending, asked = shots_table(log).to_pylist()
    assert whole["shot_id"] == 1
    assert whole["planned_at_utc"] == datetime.fromtimestamp(_START_UTC_US / 1e6, tz=UTC)
    assert whole["target_x_mm"] == 22.5
    assert whole["elevation_rad"] == 0.05
    assert whole["muzzle_speed_mps"] == pytest.approx(9.6, abs=0.01)
    assert (whole["cocked_after_us"], whole["fired_after_us"]) == (2_000, 6_000)
    assert whole["casualties"] == "G-33 G-41"
    assert whole["firmware_version"] == "0.1.0"
    assert pending["pending"] == "G-41"
    assert (asked["stage"], asked["fired"]) == ("asked", "uncertain")
    assert asked["muzzle_speed_mps"] is None
    assert (whole["falls"], whole["fallen"], whole["fallen_causes"]) == (2, "G-33 G-41", "direct direct")
    assert whole["pushed"] == " ".join(moved.square for moved in ANALYSIS.moved)
    assert asked["falls"] is asked["fallen"] is None, "not analysed is not the same as nobody fell"


def test_every_column_has_what_its_name_says_and_stands_where_it_always_stood() -> None:
    """A spreadsheet goes by the columns' order, a notebook by their names: new ones come last."""
    with open_log_in_memory(now_utc_us=lambda: _START_UTC_US) as log:
        start = replace(START, software_version="0.3.0", firmware_version="0.2.0")
        session_id = log.start_session(start)
        until(log, session_id, Stage.PLANNED)
        until(log, session_id, Stage.JUDGED, verdict=replace(FINAL, winner="A"))
        row = shots_table(log).to_pylist()[1]
        fall = falls_table(log).to_pylist()[0]
    assert list(row.items()) == [
        ("shot_id", 2),
        ("session_id", 1),
        ("planned_at_utc", datetime.fromtimestamp(_START_UTC_US / 1e6, tz=UTC)),
        ("side", "A"),
        ("target", "G-49"),
        ("option", "iii"),
        ("zone", "G25-G72"),
        ("position", "A A01-A24 G01-G24 0/0 20/20 -"),
        ("plan", "first-evening-1234"),
        ("plan_index", 3),
        ("stage", "decided"),
        ("fired", "yes"),
        ("told", "judged"),
        ("target_x_mm", 22.5),
        ("target_y_mm", 427.5),
        ("target_z_mm", 20.0),
        ("traverse_mm", 150.0),
        ("azimuth_rad", -0.02),
        ("elevation_rad", 0.05),
        ("expected_muzzle_speed_mps", 9.6),
        ("calibration", "as set"),
        ("aimed_after_us", 1_000),
        ("cocked_after_us", 2_000),
        ("loaded_after_us", 3_000),
        ("armed_after_us", 4_000),
        ("asked_after_us", 5_000),
        ("fired_after_us", 6_000),
        ("seen_after_us", 7_000),
        ("recorded_after_us", 8_000),
        ("release_to_first_us", 7942.0),
        ("first_to_second_us", 2083.5),
        ("gate_spacing_mm", 20.0),
        ("muzzle_speed_mps", 20.0 / 2083.5 * 1000),
        ("analyses", 1),
        ("falls", 2),
        ("casualties", "G-33 G-41"),
        ("put_back", "G-34"),
        ("pending", ""),
        ("after", "G A01-A24 G01-G24 0/0 19/20 -"),
        ("winner", "A"),
        ("recording_path", "recordings/shot-00002"),
        ("transcript_path", "transcripts/1.bin"),
        ("software_version", "0.3.0"),
        ("firmware_version", "0.2.0"),
        ("wire_version", 3),
        ("fallen", "G-33 G-41"),
        ("fallen_causes", "direct direct"),
        ("pushed", "G-34"),
    ]
    assert list(fall.items()) == [
        ("shot_id", 2),
        ("analysis", 1),
        ("latest", True),
        ("analysis_software_version", "0.1.0"),
        ("side", "G"),
        ("square", "G-33"),
        ("cause", "direct"),
        ("possible_causes", "direct"),
        ("confidence", 0.98),
        ("t_us", 412_300),
        ("evidence", "the track ends there"),
        ("verdict", "casualty"),
        ("decided_by", None),
        ("decided_at_utc", None),
        ("decided_by_name", None),
        ("decided_cause", None),
    ]


def test_times_count_from_when_the_shot_was_planned_to_the_last_time_it_came_there(log: ShotLog) -> None:
    """The rig's clock counts from no moment in particular."""
    shot_id = log.begin_shot(1, PLAN, clock_us=7_000_000)
    log.aimed(shot_id, AIM, clock_us=7_500_000)
    log.reached(shot_id, Stage.COCKED, clock_us=8_000_000)
    log.reached(shot_id, Stage.COCKED, clock_us=49_000_000)
    log.reached(shot_id, Stage.ARMED)
    row = shots_table(log).to_pylist()[-1]
    assert (row["aimed_after_us"], row["cocked_after_us"]) == (500_000, 42_000_000)
    assert row["armed_after_us"] is row["loaded_after_us"] is None, "not told, and not there"


def test_one_row_a_fall_of_every_analysis(log: ShotLog) -> None:
    log.analysed(1, Analysis(software_version="0.2.0", raw={}, falls=ANALYSIS.falls[:1]))
    rows = falls_table(log).to_pylist()
    assert [(row["shot_id"], row["analysis"], row["square"], row["latest"]) for row in rows] == [
        (1, 1, "G-33", False),
        (1, 1, "G-41", False),
        (1, 2, "G-33", True),
        (2, 1, "G-33", True),
        (2, 1, "G-41", True),
    ]
    assert rows[1]["possible_causes"] == "direct ricochet"
    assert [row["verdict"] for row in rows] == ["casualty", "casualty", "casualty", "casualty", "doubt"]


def test_a_ruling_is_told_with_who_signed_it_and_what_they_called_the_cause(log: ShotLog) -> None:
    final = Verdict(casualties=("G-33",), put_back=("G-41",))
    signed = {"G-41": Signature(name="Ada", cause="ricochet")}
    log.decide(2, "G", {"G-41": False}, final=final, signed=signed)
    rows = {(row["shot_id"], row["square"]): row for row in falls_table(log).to_pylist()}
    ruled = rows[2, "G-41"]
    assert (ruled["decided_by"], ruled["decided_by_name"], ruled["decided_cause"]) == ("G", "Ada", "ricochet")
    assert ruled["verdict"] == "put back"
    assert rows[2, "G-33"]["decided_by_name"] is None


def test_csv_and_parquet_hold_the_same(log: ShotLog, tmp_path: Path) -> None:
    written = dict(export(log, tmp_path / "out", list(FORMATS)))
    assert {path.name: rows for path, rows in written.items()} == {
        "shots.csv": 3,
        "falls.csv": 4,
        "shots.parquet": 3,
        "falls.parquet": 4,
    }
    for name, table in (("shots", shots_table(log)), ("falls", falls_table(log))):
        assert pyarrow.parquet.read_table(tmp_path / "out" / f"{name}.parquet").equals(table)
        with (tmp_path / "out" / f"{name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert list(rows[0]) == table.column_names
        assert [row["shot_id"] for row in rows] == [str(each) for each in table["shot_id"].to_pylist()]


def test_an_empty_log_has_tables_without_rows() -> None:
    with open_log_in_memory() as log:
        assert shots_table(log).num_rows == falls_table(log).num_rows == 0


def test_a_folder_that_cannot_be_written_is_one_clear_sentence(log: ShotLog, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("in the way")
    with pytest.raises(LogError, match="out: the export cannot be written"):
        list(export(log, tmp_path / "out", ["csv"]))


def test_each_fall_has_its_shot_and_each_shot_its_session_though_a_rig_fires_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_log_in_memory() as log:

        def fire_after(read: Callable[[], Any]) -> Callable[[], Any]:
            def read_just_before_a_shot() -> Any:
                found = read()
                session_id = log.start_session(START)
                until(log, session_id, Stage.JUDGED)
                log.end_session(session_id, "finished")
                return found

            return read_just_before_a_shot

        for name in ("sessions", "shots"):
            monkeypatch.setattr(log, name, fire_after(getattr(log, name)))
        written = dict(export(log, tmp_path, ["csv"]))
    assert written == {tmp_path / "shots.csv": 1, tmp_path / "falls.csv": 0}
