"""A file is written whole, in its own place."""

from pathlib import Path

import pytest

from rig.whole_file import write_whole


def test_a_link_that_leads_to_itself_is_refused_and_left(tmp_path: Path) -> None:
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        write_whole(circle, "text")
    assert circle.is_symlink()
    assert list(tmp_path.iterdir()) == [circle]
