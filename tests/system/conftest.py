"""What several modules read."""

import pytest

from twin.clips import Clip, film


@pytest.fixture(scope="session")
def plain() -> Clip:
    """A shot of the Allies at 11.7 m/s that many pictures show, 200 a second; to film it takes as long as to read it ten times."""
    return film(300_013)
