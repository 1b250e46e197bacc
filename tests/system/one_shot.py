"""A rig on a small twin, and an order for one shot there."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from small_twin import SMALL_TWIN

from game.montecassino import Option, Position, Square
from rig.cli.arguments.orders import zone_of
from rig.cli.opening.rig import OpenRig, open_rig
from rig.hands import PromptedHands
from rig.match import Order
from rig.settings import read_settings


@contextmanager
def rig_on(folder: Path, extra: str = "", seed: int = 3) -> Iterator[tuple[OpenRig, Position]]:
    """A rig on a twin in a folder; `extra` is added to its rig.toml."""
    (folder / "rig.toml").write_text(SMALL_TWIN.format(seed=seed) + extra, encoding="utf-8")
    settings = read_settings(folder / "rig.toml")
    position = Position.parse(settings.game.position)
    with open_rig(settings, position, PromptedHands(print, print), progress=lambda words: None) as rig:
        yield rig, position


def order(rig: OpenRig, position: Position) -> Order:
    """A shot at a soldier who is easily hit."""
    return Order(Square.parse("G-61"), position, zone_of(rig.settings, position.turn), Option.I)
