"""A value of `rig.toml` changed: the rest stays as somebody wrote it, and what cannot be used is never written."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as house
from hypothesis import strategies as st

from rig import settings_change
from rig.settings import Settings, SettingsError, read_settings
from rig.settings_change import change_settings
from rig.settings_text import settings_text

MIN_US = ("cannon", "azimuth", "min_us")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# mine\n[port]  # here\nurl = 'twin'\n",
        "[cannon]\ndwell_s = 20.0 # short\n",
        "[cannon.azimuth]\nmin_us=1100# close\n",
        "cannon = { azimuth = { min_us = 1100 } }\n",
        "cannon.azimuth.min_us = 1100\n",
        "[cannon.elevation]\r\nmin_us = 1100\r\n",
    ],
)
def test_however_it_was_written_the_value_is_changed_and_the_comments_stay(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rig.toml"
    path.write_bytes(text.encode())
    before = read_settings(path)
    change_settings(path, {MIN_US: 1234})
    after = read_settings(path)
    assert after.cannon.azimuth.min_us == 1234
    azimuth = before.cannon.azimuth.model_copy(update={"min_us": 1234})
    assert after == before.model_copy(
        update={"cannon": before.cannon.model_copy(update={"azimuth": azimuth})}
    )
    for comment in ("# mine", "# here", "# short", "# close"):
        assert (comment in text) == (comment in path.read_text())


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_lines_end_and_the_file_begins_as_before(tmp_path: Path, ending: str, encoding: str) -> None:
    path = tmp_path / "rig.toml"
    text = f"[cannon]{ending}dwell_s = 20.0{ending}"
    path.write_bytes(text.encode(encoding))
    change_settings(path, {("cannon", "dwell_s"): 25.0, MIN_US: 1234})
    kept = ending.join(["[cannon]", "dwell_s = 25.0", "", "[cannon.azimuth]", "min_us = 1234", ""])
    assert path.read_bytes() == kept.encode(encoding)


@given(st.integers(500, 1499), st.integers(1501, 2500))
@house(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
def test_changing_a_value_and_back_gives_the_same_file(tmp_path: Path, low: int, high: int) -> None:
    path = tmp_path / "rig.toml"
    text = settings_text(Settings())
    path.write_text(text)
    change_settings(path, {MIN_US: low, ("cannon", "azimuth", "max_us"): high})
    assert read_settings(path).cannon.azimuth.max_us == high
    change_settings(path, {MIN_US: 1000, ("cannon", "azimuth", "max_us"): 2000})
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("[port]\n", {MIN_US: 1900}),
        ("[port]\n", {MIN_US: 1200, ("cannon", "azimuth", "max_us"): 9999}),
        ("[port\n", {MIN_US: 1200}),
        ("[port]\nurl = 1\n", {MIN_US: 1200}),
    ],
)
def test_what_could_not_be_used_is_not_written(
    tmp_path: Path, text: str, changes: dict[tuple[str, ...], int]
) -> None:
    path = tmp_path / "rig.toml"
    path.write_text(text)
    with pytest.raises(SettingsError):
        change_settings(path, changes)
    assert path.read_text() == text
    assert list(tmp_path.iterdir()) == [path]


def test_two_programs_that_change_values_at_once_keep_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rig.toml"
    path.write_text("[port]\n")
    write = settings_change.write_changed
    other = Thread(target=change_settings, args=(path, {("cannon", "azimuth", "max_us"): 1900}))

    def write_late(file: Path, text: str) -> None:
        monkeypatch.setattr(settings_change, "write_changed", write)
        other.start()
        other.join(timeout=0.3)  # long enough for one who does not wait for this one to be done
        write(file, text)

    monkeypatch.setattr(settings_change, "write_changed", write_late)
    change_settings(path, {MIN_US: 1200})
    other.join()
    azimuth = read_settings(path).cannon.azimuth
    assert (azimuth.min_us, azimuth.max_us) == (1200, 1900)


def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="rig init"):
        change_settings(tmp_path / "rig.toml", {MIN_US: 1200})
    assert not list(tmp_path.iterdir())
