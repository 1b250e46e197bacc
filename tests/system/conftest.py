"""What several modules read, and when what they interrupt happens."""

import pytest
from one_shot import order, rig_on

from twin.clips import Clip, film


@pytest.fixture(scope="session")
def plain() -> Clip:
    """A shot of the Allies at 11.7 m/s that many pictures show, 200 a second; to film it takes as long as to read it ten times."""
    return film(300_013)


@pytest.fixture(scope="session")
def left_us(tmp_path_factory: pytest.TempPathFactory) -> int:
    """When the shot of the small twin's usual seed leaves the cannon; every rig has the same until something goes wrong."""
    with rig_on(tmp_path_factory.mktemp("left")) as (rig, position):
        left_us = rig.match.shoot(order(rig, position)).fired.left_us
    assert left_us is not None
    return left_us
