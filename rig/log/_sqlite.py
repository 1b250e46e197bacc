"""Open an SQLite file as a log: is it ours, is it sound, is it of this version, and who writes to it.

A file is WAL with `synchronous=FULL`: a commit is on the disk when it returns, and readers are never held up by the
writer. One lock file beside it (`<log>.lock`; of a link, beside the file that it leads to) is held by the process that fires.
The kernel lets go of it when that process ends, in whatever way, so a shot left unfinished while nobody holds the lock is known
to be interrupted. It holds a few bytes once a whole log stood beside it, by which one that was emptied is told from one that is
just being made.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import sqlalchemy as sa

from rig.files.file_lock import LockTaken, take_lock
from rig.files.real_path import real_path
from rig.log._tables import APPLICATION_ID, HEAD
from rig.log.errors import LogError

__all__ = ["SessionLock", "open_engine", "spoken_errors"]

_BUSY_TIMEOUT_S = 5.0
_LOG_STANDS = b"beside a log\n"
_EMPTIED = "the file is empty, and was a log; put back a copy of it, or delete it, and the next shot begins a new one"
_ROOM_BYTES = 2_000_000  # with less no shot is begun: `rig.recording.BESIDE_BYTES`
_NO_LOG = "this is no log, nor any other SQLite file; name another file under [log] path"


def open_engine(path: Path | None, lock: SessionLock, *, create: bool, look_only: bool = False) -> sa.Engine:
    """Give an engine on a log that is ours, and stands at the present revision.

    Parameters
    ----------
    path : Path or None
        The file; None: a log in memory, which ends with the engine.
    lock : SessionLock
        Held for as long as a new log is made, or an old one brought to the present revision.
    create : bool
        Whether to make a new log where there is no file.
    look_only : bool
        Whether one that must not be written, as on a medium that is read only, will do.

    Raises
    ------
    LogError
        The file is missing, no log, damaged, of a newer rig, locked, or must not be read or written.
    """
    name = str(path) if path is not None else "the log in memory"
    emptied = False
    if path is not None:
        _check_file(path, create=create)
        emptied = path.exists() and not path.stat().st_size and lock.has_seen_a_log
    # Not put together as text: a ? or % in the path would mean something else there.
    url = sa.URL.create("sqlite", database=str(path) if path is not None else None)
    only_read = path is not None and look_only and not _may_be_written(path)
    if path is not None and only_read:
        url = sa.URL.create("sqlite", database=_read_only_uri(path), query={"uri": "true"})
    engine = _engine_on(url, in_memory=path is None)
    try:
        with spoken_errors(name):
            if path is not None:
                _refuse_cut_short(engine, path)
            if emptied and not _stands_at_head(engine, name):
                # SQLite takes it for a new one.
                raise LogError(f"{name}: {_EMPTIED}")
            if only_read and not _stands_at_head(engine, name):
                engine = _copied_into_memory(engine, name)
            else:
                _bring_to_head(engine, name, lock)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _engine_on(url: sa.URL, *, in_memory: bool) -> sa.Engine:
    engine = sa.create_engine(
        url,
        connect_args={"timeout": _BUSY_TIMEOUT_S, "check_same_thread": False},
        poolclass=sa.StaticPool if in_memory else None,
    )
    sa.event.listen(engine, "connect", _prepare)
    sa.event.listen(engine, "begin", _begin)
    return engine


def _copied_into_memory(old: sa.Engine, name: str) -> sa.Engine:
    """Give a copy of an older rig's log at the present revision, to look at where the file itself cannot be brought on."""
    engine = _engine_on(sa.URL.create("sqlite"), in_memory=True)
    with contextlib.closing(engine.raw_connection()) as copy:
        with contextlib.closing(old.raw_connection()) as raw:
            cast(sqlite3.Connection, raw.driver_connection).backup(
                cast(sqlite3.Connection, copy.driver_connection)
            )
        old.dispose()
        _bring_to_head(engine, name, SessionLock(None))
        copy.cursor().execute("PRAGMA query_only=ON")
    return engine


def _check_file(path: Path, *, create: bool) -> None:
    # Its content is SQLite's to judge. Were the file opened and closed here, the process would lose every lock that
    # another log of it holds on the same file (sqlite.org/howtocorrupt.html, 2.2).
    try:
        if not path.exists():
            if not create:
                raise LogError(f"{path}: there is no log here; the first shot makes one")
            path.parent.mkdir(parents=True, exist_ok=True)
            return
        if not path.is_file():
            found = "a folder" if path.is_dir() else "a device or a pipe"
            raise LogError(f"{path}: found {found}, expected a log file")
    except OSError as error:
        raise LogError(f"{path}: cannot be opened as a log: {error.strerror}") from error


def _may_be_written(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _read_only_uri(path: Path) -> str:
    """Name a log that is only read, so that SQLite makes no file beside it (sqlite.org/uri.html)."""
    # Where somebody has it open, or died with it, its write-ahead log stands there; else the file is all, and stays as it is.
    alone = not _write_ahead_log(path).exists()
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if alone else ''}"


def _write_ahead_log(path: Path) -> Path:
    """Return where SQLite keeps a log's write-ahead log: beside the file that a link leads to."""
    real = real_path(path)
    return real.with_name(f"{real.name}-wal")


def _refuse_cut_short(engine: sa.Engine, path: Path) -> None:
    """Refuse a file of which half a page is left: SQLite notices none but whole pages that are gone, and takes one byte for none.

    While pages still wait in the write-ahead log, or where more was begun than was kept, the file may end within a page too.
    """
    with engine.begin() as connection:
        connection.exec_driver_sql("SELECT 1 FROM sqlite_master")  # says what is no SQLite file at all
        page_bytes = connection.exec_driver_sql("PRAGMA page_size").scalar_one()
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
    waiting = _write_ahead_log(path)
    if waiting.exists() and waiting.stat().st_size:
        return
    size_bytes = path.stat().st_size
    if not pages and size_bytes == 1:
        raise LogError(f"{path}: {_NO_LOG}")
    if size_bytes < pages * page_bytes:
        raise LogError(f"{path}: {_damaged('its end is cut off')}")


def _damaged(how: object) -> str:
    return f"the file is damaged ({how}); put back a copy of it, or name another file under [log] path"


def _prepare(connection: Any, _record: Any) -> None:
    # Transactions begin where we say (`_begin`), not where the driver guesses.
    connection.isolation_level = None
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA synchronous=FULL")


def _begin(connection: sa.Connection) -> None:
    # A writer takes its place at once. Two that both read first and then wanted to write would lock each other out.
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _bring_to_head(engine: sa.Engine, name: str, lock: SessionLock) -> None:
    if _stands_at_head(engine, name):
        return
    # One process at a time: SQLite lets nobody wait for a file that another is just turning into a WAL one.
    if not lock.try_take(patient=True):
        raise LogError(f"{name}: another rig is firing with this log, or just making it; try again after it")
    try:
        if _stands_at_head(engine, name):
            return
        with contextlib.closing(engine.raw_connection()) as raw:
            # Cannot be set inside a transaction, and stays with the file.
            raw.cursor().execute("PRAGMA journal_mode=WAL")
        with engine.execution_options(writes=True).begin() as connection:
            _migrate(connection)
            connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION_ID}")
    finally:
        lock.release()


def _stands_at_head(engine: sa.Engine, name: str) -> bool:
    with engine.begin() as connection:
        return _revision(connection, name) == HEAD


def _revision(connection: sa.Connection, name: str) -> str | None:
    tables = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type='table'").scalars().all()
    if not tables:
        return None
    application_id = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
    if application_id != APPLICATION_ID or "alembic_version" not in tables:
        raise LogError(
            f"{name}: this SQLite file belongs to another program (its tables: {', '.join(sorted(tables)[:3])});"
            " name another file under [log] path"
        )
    revision: str | None = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    if revision is None or revision not in _known_revisions():
        raise LogError(
            f"{name}: written by a newer rig (log revision {revision}, this rig knows up to {HEAD});"
            " update the rig, or name another file under [log] path"
        )
    return revision


def _known_revisions() -> frozenset[str]:
    return frozenset(f"{number:04d}" for number in range(1, int(HEAD) + 1))


def _migrate(connection: sa.Connection) -> None:
    # Imported here: a log that needs no migration, the usual one, is open before this import is done.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    migrations = str(Path(__file__).with_name("migrations"))
    config.set_main_option("script_location", migrations.replace("%", "%%"))  # as configparser has it
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


class GarbledError(Exception):
    """A row holds what is never written there; the text says what."""


@contextlib.contextmanager
def spoken_errors(name: str) -> Iterator[None]:
    """Turn what the database says into one sentence of ours."""
    try:
        yield
    except OverflowError as error:
        raise LogError(f"{name}: no number in it is as large as that") from error
    except UnicodeEncodeError as error:
        found = f"found {error.object!a}, which is not UTF-8"
        raise LogError(f"{name}: {found}, expected a name that is; give file or folder another") from error
    except (json.JSONDecodeError, UnicodeDecodeError, GarbledError) as error:
        raise LogError(f"{name}: {_damaged(error)}") from error
    except (sa.exc.DBAPIError, sqlite3.Error) as error:
        cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
        code = getattr(cause, "sqlite_errorcode", None)
        primary = code & 0xFF if code is not None else None
        if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            sentence = (
                f"another program has kept it locked for more than {_BUSY_TIMEOUT_S:.0f} s; close that first"
            )
        elif primary == sqlite3.SQLITE_NOTADB:
            sentence = _NO_LOG
        elif primary == sqlite3.SQLITE_CORRUPT:
            sentence = _damaged(cause)
        elif primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            sentence = (
                f"the file cannot be opened for writing ({cause}); check its rights and those of its folder"
            )
        elif primary in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            sentence = f"the disk did not take it ({cause}){_room(real_path(Path(name)).parent)}; what the log had is in it still"
        else:
            sentence = f"the database refused ({cause})"
        raise LogError(f"{name}: {sentence}") from error


def _room(folder: Path) -> str:
    """Say what room a disk has and should have, or that room is not what it lacks; nothing where it is not there any more."""
    try:
        free_bytes = shutil.disk_usage(folder).free
    except OSError:
        return ""
    if free_bytes < _ROOM_BYTES:
        return f": it has {free_bytes / 1e6:.1f} MB left, and a shot takes up to {_ROOM_BYTES / 1e6:.0f} MB there; make room"
    return f", though it has {free_bytes / 1e6:.0f} MB left: it fails, or no more of it is yours; see to it"


class SessionLock:
    """Held by the one process that fires with this log.

    Parameters
    ----------
    path : Path or None
        The lock file; None, for a log in memory: nobody else can reach it, so it is always free.
    """

    # Whoever opens the log looks whether the lock is free by taking it for a moment. That must not stop a start.
    _PATIENCE_S = 2.0
    _RETRY_S = 0.02

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._descriptor: int | None = None

    @property
    def has_seen_a_log(self) -> bool:
        """Whether a whole log ever stood beside it."""
        return self._path is not None and self._path.exists() and self._path.stat().st_size > 0

    def note_log(self) -> None:
        """Keep for later that a whole log stands beside it. Whoever calls holds it."""
        if self._descriptor is not None and not self.has_seen_a_log:
            with contextlib.suppress(OSError):  # a full disk takes it another time
                os.write(self._descriptor, _LOG_STANDS)

    def try_take(self, *, patient: bool = False) -> bool:
        """Take the lock if it is free, and say whether it is held now."""
        if self._path is None or self._descriptor is not None:
            return True
        give_up_s = time.monotonic() + (self._PATIENCE_S if patient else 0.0)
        while True:
            try:
                self._descriptor = take_lock(self._path, wait=False)
                return True
            except LockTaken:
                if time.monotonic() >= give_up_s:
                    return False
                time.sleep(self._RETRY_S)
            except OSError as error:
                raise LogError(f"{self._path}: cannot make the log's lock file: {error.strerror}") from error

    def release(self) -> None:
        """Let go; harmless where it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
