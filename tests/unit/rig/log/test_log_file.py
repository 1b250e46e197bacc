"""The log as a file: what else may lie at its path, who else may be using it, and how it grows with the rig."""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from logged_shots import ANALYSIS, FINAL, PENDING, PLAN, START, until

import rig.log
from rig.log import LogError, Signature, Stage, _sqlite, _tables, open_log


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rig-log.sqlite"


def _make(path: Path) -> int:
    with open_log(path) as log:
        session_id = log.start_session(START)
        shot_id = until(log, session_id, Stage.JUDGED)
        log.end_session(session_id, "done")
    return shot_id


def _refusal(path: Path) -> str:
    with pytest.raises(LogError) as refused:
        open_log(path)
    sentence = str(refused.value)
    assert str(path) in sentence
    assert "\n" not in sentence
    return sentence


def test_a_log_is_read_again_after_closing(path: Path) -> None:
    shot_id = _make(path)
    with open_log(path, create=False) as log:
        assert log.shot(shot_id).stage is Stage.DECIDED
        assert log.sessions()[0].end_cause == "done"
        assert log.interrupted == ()


def test_a_commit_is_on_the_disk_and_readers_are_not_held_up(path: Path) -> None:
    _make(path)
    engine = _sqlite.open_engine(path, _sqlite.SessionLock(None), create=False)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
    engine.dispose()


def _log_recorded(path: Path, recording: str, transcript: str) -> int:
    """Log a shot with a recording, as a rig that runs in the present folder does."""
    with open_log(path) as log:
        session_id = log.start_session(replace(START, transcript_path=transcript))
        shot_id = until(log, session_id, Stage.SEEN)
        log.recorded(shot_id, recording)
        log.end_session(session_id, "done")
    return shot_id


def _paths(path: Path, shot_id: int) -> tuple[str | None, str | None]:
    with open_log(path, create=False) as log:
        shot = log.shot(shot_id)
        return shot.recording_path, log.session(shot.session_id).transcript_path


def test_what_lies_below_the_logs_folder_is_found_from_anywhere_and_after_the_folder_was_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("T1", "T2"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "T1")
    shot_id = _log_recorded(Path("../T2/log.sqlite"), "../T2/recordings/shot-1", "../T2/transcripts/1")
    assert _paths(Path("../T2/log.sqlite"), shot_id) == ("../T2/recordings/shot-1", "../T2/transcripts/1")
    monkeypatch.chdir(tmp_path / "T2")
    assert _paths(Path("log.sqlite"), shot_id) == ("recordings/shot-1", "transcripts/1")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "T2").rename("T3")
    assert _paths(Path("T3/log.sqlite"), shot_id) == ("T3/recordings/shot-1", "T3/transcripts/1")
    there = tmp_path / "T3"
    assert _paths(there / "log.sqlite", shot_id) == (
        str(there / "recordings/shot-1"),
        str(there / "transcripts/1"),
    )


def test_what_lies_elsewhere_is_found_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "table").mkdir()
    monkeypatch.chdir(tmp_path / "table")
    shot_id = _log_recorded(Path("log.sqlite"), "../films/shot-1", "/var/transcripts/1")
    monkeypatch.chdir(tmp_path)
    assert _paths(Path("table/log.sqlite"), shot_id) == (
        str(tmp_path / "films/shot-1"),
        "/var/transcripts/1",
    )


def test_paths_that_an_older_rig_kept_are_those_of_the_logs_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It kept them as it used them, mostly in the folder where the log is."""
    (tmp_path / "table").mkdir()
    monkeypatch.chdir(tmp_path / "table")
    shot_id = _log_recorded(Path("log.sqlite"), "recordings/shot-1", "transcripts/1")
    with closing(sqlite3.connect("log.sqlite")) as database:
        assert database.execute("SELECT path FROM recording").fetchall() == [("recordings/shot-1",)]
    monkeypatch.chdir(tmp_path)
    assert _paths(Path("table/log.sqlite"), shot_id)[0] == "table/recordings/shot-1"


def test_folders_on_the_way_are_made(tmp_path: Path) -> None:
    _make(tmp_path / "table" / "logs" / "rig-log.sqlite")


@pytest.mark.parametrize("name", ["what?", "a%20b", "50%", "#1 & more", "file:log"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name / "rig-log.sqlite"
    shot_id = _make(path)
    assert path.stat().st_size
    with open_log(path, create=False) as log:
        assert log.shot(shot_id).stage is Stage.DECIDED
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_the_rig_may_be_installed_in_a_folder_of_any_name(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(Path(rig.log.__file__).with_name("migrations"), tmp_path / "100% rig" / "migrations")
    monkeypatch.setattr(_sqlite, "__file__", str(tmp_path / "100% rig" / "_sqlite.py"))
    _make(path)


def test_a_reader_of_a_missing_log_makes_none(path: Path) -> None:
    with pytest.raises(LogError, match="there is no log here"):
        open_log(path, create=False)
    assert not path.exists()


def test_a_folder_is_no_log(path: Path) -> None:
    path.mkdir()
    for folder in (path, Path(), Path("/")):
        assert "found a folder, expected a log file" in _refusal(folder)


def test_a_pipe_is_no_log(path: Path) -> None:
    os.mkfifo(path)
    assert _refusal(path) == f"{path}: found a device or a pipe, expected a log file"


@pytest.mark.parametrize("text", ["shots fired: 3\n", "3"])
def test_a_text_file_is_no_log_and_stays_as_it_is(path: Path, text: str) -> None:
    """Of a single byte SQLite says that the file is empty."""
    path.write_text(text)
    assert "this is no log, nor any other SQLite file" in _refusal(path)
    assert path.read_text() == text


def test_an_empty_file_becomes_a_log(path: Path) -> None:
    path.touch()
    _make(path)


@pytest.mark.parametrize("mode", [0o644, 0o444])
def test_a_log_that_was_emptied_is_told_and_begins_no_new_one(path: Path, mode: int) -> None:
    _make(path)
    path.write_bytes(b"")
    path.chmod(mode)
    for how in ({}, {"create": False}, {"create": False, "look_only": True}):
        with pytest.raises(LogError, match=r"rig-log\.sqlite: the file is empty, and was a log"):
            open_log(path, **how)
        assert path.stat().st_size == 0
    path.unlink()
    _make(path)


def test_another_programs_database_stays_as_it_is(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE recipe (name TEXT)")
        connection.commit()
    before = path.read_bytes()
    assert "belongs to another program (its tables: recipe)" in _refusal(path)
    assert path.read_bytes() == before


def test_a_log_of_a_newer_rig_is_not_touched(path: Path) -> None:
    _make(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0999'")
        connection.commit()
    before = path.read_bytes()
    assert "written by a newer rig (log revision 0999, this rig knows up to 0002)" in _refusal(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("keep", [100, 5_000])
def test_a_cut_off_file_is_said_to_be_damaged(path: Path, keep: int) -> None:
    _make(path)
    path.write_bytes(path.read_bytes()[:keep])
    assert "the file is damaged" in _refusal(path)


def test_a_file_that_lacks_any_part_of_its_last_page_is_said_to_be_damaged(path: Path) -> None:
    """SQLite takes what is missing of it for zeros."""
    _make(path)
    whole = path.read_bytes()
    for missing in range(1, 4096, 273):
        path.write_bytes(whole[:-missing])
        assert "the file is damaged (its end is cut off)" in _refusal(path)


@pytest.mark.parametrize(
    "changed",
    [
        """analysis SET raw = '{"falls": [{"squ'""",
        """analysis SET raw = '{"falls"' || x'0000'""",
        "verdict SET casualties = ''",
        "stage SET stage = 'fi\x1ced' WHERE stage = 'fired'",
        "stage SET fired = 'yep' WHERE stage = 'fired'",
    ],
)
def test_what_was_never_written_like_that_is_said_to_be_damaged(path: Path, changed: str) -> None:
    _make(path)
    with closing(sqlite3.connect(path)) as connection:
        for (trigger,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall():
            connection.execute(f"DROP TRIGGER {trigger}")
        connection.execute(f"UPDATE {changed}")
        connection.commit()
    with open_log(path) as log, pytest.raises(LogError, match="the file is damaged"):
        log.shots()


def test_overwritten_pages_are_said_to_be_damaged(path: Path) -> None:
    _make(path)
    data = path.read_bytes()
    path.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))
    assert "the file is damaged" in _refusal(path)


def test_a_log_locked_by_another_program_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _make(path)
    monkeypatch.setattr(_sqlite, "_BUSY_TIMEOUT_S", 0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other, open_log(path) as log:
        session_id = log.start_session(START)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LogError, match="another program has kept it locked"):
            log.begin_shot(session_id, PLAN)
        other.execute("ROLLBACK")
        log.begin_shot(session_id, PLAN)


def test_a_step_waits_for_another_writer_and_is_written_after_it(path: Path) -> None:
    """It reads before it writes: what it has read must not be old by then."""
    with (
        closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other,
        open_log(path) as log,
    ):
        shot_id = until(log, log.start_session(START), Stage.AIMED)
        other.execute("BEGIN IMMEDIATE")

        def write() -> None:
            other.execute("PRAGMA user_version = 1")
            other.execute("COMMIT")

        writer = threading.Timer(0.1, write)
        writer.start()
        log.reached(shot_id, Stage.COCKED)
        writer.join()
        assert log.shot(shot_id).stage is Stage.COCKED


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_log_that_must_not_be_written_says_so(path: Path) -> None:
    _make(path)
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        with (
            pytest.raises(LogError, match=r"the file cannot be opened for writing .*check its rights"),
            open_log(path),
        ):
            pytest.fail("a shot could be fired that no log keeps")
    finally:
        path.parent.chmod(0o755)


@pytest.mark.parametrize("name", ["rig-log.sqlite", "what? 100% sure.sqlite"])
def test_a_log_on_a_medium_that_is_read_only_can_be_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    shot_id = _make(tmp_path / name)
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    monkeypatch.setattr(os, "access", lambda *_: False)
    with open_log(tmp_path / name, create=False, look_only=True) as log:
        assert log.shot(shot_id).stage is Stage.DECIDED
        assert log.interrupted == ()
        with pytest.raises(LogError, match="cannot be opened for writing"):
            log.start_session(START)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before


def test_a_log_of_an_older_rig_on_a_medium_that_is_read_only_can_be_looked_at(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shot_id = _make(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE signature")
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
        connection.commit()
    before = path.read_bytes()
    real_access = os.access
    monkeypatch.setattr(
        os, "access", lambda place, mode: path.parent not in Path(place).parents and real_access(place, mode)
    )
    with open_log(path, create=False, look_only=True) as log:
        assert log.shot(shot_id).stage is Stage.DECIDED
        with pytest.raises(LogError, match="cannot be opened for writing"):
            log.start_session(START)
    assert path.read_bytes() == before


def test_a_log_that_is_being_written_is_seen_as_it_grows_by_who_must_not_write_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _make(path)
    with open_log(path) as firing:
        session_id = firing.start_session(START)
        monkeypatch.setattr(os, "access", lambda *_: False)
        with open_log(path, create=False, look_only=True) as looking:
            shot_id = until(firing, session_id, Stage.AIMED)
            assert looking.shot(shot_id).stage is Stage.AIMED


def test_only_one_rig_fires_with_a_log(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sqlite.SessionLock, "_PATIENCE_S", 0.05)
    with open_log(path) as one, open_log(path) as other:
        session_id = one.start_session(START)
        with pytest.raises(LogError, match="another rig is firing with this log"):
            other.start_session(START)
        one.end_session(session_id, "done")
        other.start_session(START)


def test_a_log_behind_a_link_is_one_log_while_a_rig_fires_with_it(path: Path, tmp_path: Path) -> None:
    """SQLite keeps what waits beside the file itself: looked for beside the link, a log in use was taken for cut off."""
    (tmp_path / "other disk").mkdir()
    real = tmp_path / "other disk" / "log.sqlite"
    path.symlink_to(real)
    with open_log(path) as log:
        until(log, log.start_session(START), Stage.JUDGED)
        with open_log(path, create=False, look_only=True) as looking:
            assert [shot.stage for shot in looking.shots()] == [Stage.DECIDED]
        with open_log(real) as other, pytest.raises(LogError, match="another rig is firing with this log"):
            other.start_session(START)


def test_a_link_that_leads_to_itself_is_no_log(path: Path) -> None:
    path.symlink_to(path)
    assert "cannot be opened as a log: " in _refusal(path)


def test_a_start_waits_for_whoever_only_looks_whether_a_rig_is_firing(path: Path) -> None:
    with open_log(path) as log:
        looking = _sqlite.SessionLock(path.with_name(path.name + ".lock"))
        assert looking.try_take()
        gone = threading.Timer(0.1, looking.release)
        gone.start()
        log.start_session(START)
        gone.join()


def test_a_session_that_cannot_be_written_keeps_nobody_from_firing(path: Path) -> None:
    with open_log(path) as one, open_log(path) as other:
        with pytest.raises(sa.exc.StatementError, match="not JSON serializable"):
            one.start_session(replace(START, settings={"port": object()}))
        other.start_session(START)


def full(connection: sa.Connection) -> None:
    if connection.get_execution_options().get("writes"):
        raise sqlite3.OperationalError("database or disk is full")


def test_who_only_looks_is_not_turned_away_by_a_full_disk(path: Path) -> None:
    """What a dead process left cannot be marked there; the next one that has room marks it."""
    with open_log(path) as log:
        left = until(log, log.start_session(START), Stage.SEEN)
    sa.event.listen(sa.Engine, "commit", full)
    try:
        with pytest.raises(LogError, match="disk is full"):
            open_log(path, create=False)
        with open_log(path, create=False, look_only=True) as log:
            assert log.interrupted == ()
            assert log.shot(left).stage is Stage.SEEN
    finally:
        sa.event.remove(sa.Engine, "commit", full)
    with open_log(path, create=False, look_only=True) as log:
        assert [shot.shot_id for shot in log.interrupted] == [left]


def test_a_session_that_the_disk_does_not_take_is_not_open(path: Path) -> None:
    with open_log(path) as log:
        engine = log._engine  # type: ignore[attr-defined]
        sa.event.listen(engine, "commit", full)
        with pytest.raises(LogError, match="disk is full"):
            log.start_session(START)
        sa.event.remove(engine, "commit", full)
        assert log.sessions() == ()
        log.end_session(log.start_session(START), "done")


def test_what_a_dead_process_left_is_told_until_the_log_is_closed(path: Path) -> None:
    """Whoever starts a session has opened the log before, and was told then."""
    with open_log(path) as log:
        left = until(log, log.start_session(START), Stage.ARMED)
    with open_log(path) as log:
        assert [shot.shot_id for shot in log.interrupted] == [left]
        log.start_session(START)
        assert [shot.shot_id for shot in log.interrupted] == [left]


def test_a_verdict_is_kept_with_the_reading_that_it_follows_from(path: Path) -> None:
    with open_log(path) as log:
        session_id = log.start_session(START)
        shot_id = until(log, session_id, Stage.JUDGED)
        log.analysed(shot_id, ANALYSIS, verdict=PENDING)
        log.decide(shot_id, "G", {"G-41": True}, final=FINAL)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT analysis_id FROM verdict ORDER BY verdict_id").fetchall() == [
            (1,),
            (2,),
            (2,),
        ]


def test_commanders_decide_while_the_rig_fires(path: Path) -> None:
    with open_log(path) as firing, open_log(path) as table:
        session_id = firing.start_session(START)
        shot_id = until(firing, session_id, Stage.RECORDED)
        table.abort(shot_id, "seen from the other process")
        assert firing.shot(shot_id).stage is Stage.ABORTED


def test_readers_see_whole_shots_while_the_rig_writes(path: Path) -> None:
    """Every reading is one moment of the log: stages only ever grow, and their rows come with them."""
    _make(path)
    done = threading.Event()
    wrong: list[str] = []
    readings: list[int] = []

    def read() -> None:
        with open_log(path, create=False) as log:
            stages_before = 0
            while not done.is_set():
                shots = log.shots()
                stages = sum(len(shot.history) for shot in shots)
                if stages < stages_before:
                    wrong.append(f"{stages_before} stages, then {stages}")
                stages_before = stages
                wrong.extend(
                    f"shot {shot.shot_id} has a verdict and no analysis"
                    for shot in shots
                    if shot.verdicts and not shot.analyses
                )
                readings.append(stages)

    reader = threading.Thread(target=read)
    reader.start()
    with open_log(path) as log:
        session_id = log.start_session(START)
        for _ in range(8):
            until(log, session_id, Stage.JUDGED)
    done.set()
    reader.join()
    assert not wrong
    assert len(readings) > 1


def test_rows_are_never_changed_or_deleted(path: Path) -> None:
    with open_log(path) as log:
        session_id = log.start_session(START)
        shot_id = until(log, session_id, Stage.JUDGED, verdict=PENDING)
        log.decide(shot_id, "G", {"G-41": True}, final=FINAL, signed={"G-41": Signature(name="Anna")})
        log.end_session(session_id, "done")
    with closing(sqlite3.connect(path)) as connection:
        for table in _tables.metadata.tables.values():
            column = next(iter(table.columns)).name
            assert connection.execute(f"SELECT count(*) FROM {table.name}").fetchone() != (0,), table.name
            for statement in (f"UPDATE {table.name} SET {column} = {column}", f"DELETE FROM {table.name}"):
                with pytest.raises(sqlite3.IntegrityError, match="rows of the log are never changed"):
                    connection.execute(statement)


def test_the_migrations_lead_to_the_tables_as_they_are(path: Path) -> None:
    engine = _sqlite.open_engine(path, _sqlite.SessionLock(None), create=True)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, _tables.metadata) == []
        assert context.get_current_revision() == _tables.HEAD
        tables = set(sa.inspect(connection).get_table_names()) - {"alembic_version"}
        triggers = set(
            connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type='trigger'").scalars()
        )
    engine.dispose()
    assert triggers == {f"{table}_no_{act}" for table in tables for act in ("update", "delete")}


def test_the_last_migration_is_the_revision_that_the_tables_name() -> None:
    migrations = Path(rig.log.__file__).with_name("migrations")
    assert ScriptDirectory(str(migrations)).get_heads() == [_tables.HEAD]


def test_a_log_of_the_first_revision_is_brought_on_and_its_decisions_stay_unsigned(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_log(path) as log:
        session_id = log.start_session(START)
        shot_id = until(log, session_id, Stage.JUDGED, verdict=PENDING)
        log.decide(shot_id, "G", {"G-41": True}, final=FINAL)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE signature")
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
        connection.commit()
    with open_log(path) as log:
        (doubt,) = log.shot(shot_id).doubts
    assert doubt.decision is not None
    assert (doubt.decision.leaves, doubt.decision.name, doubt.decision.cause) == (True, None, None)


def test_many_processes_may_open_a_new_log_at_once(path: Path) -> None:
    failures: list[BaseException] = []

    def open_it() -> None:
        try:
            open_log(path).close()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
