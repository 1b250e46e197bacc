"""Where a smear lies, over a printed board: issue 5, point 4."""

import numpy as np
import pytest

from vision.shot.smear import SmearFitter

TIMES_US = [0, 8333, 16667]
SHOT = np.array([60.0, 200.0, 230.0])
WAY = np.array([14.0, 6.0])
DIAMETER_PX = 8.0


def board(rng: np.random.Generator) -> np.ndarray:
    """A board with dark rings and a light square, with noise."""
    v, u = np.mgrid[:80, :120]
    rings = np.hypot(u - 66, v - 38)
    picture = np.full((80, 120, 3), (120.0, 150.0, 165.0))
    picture[(rings < 9) & (rings > 5)] = (40.0, 50.0, 60.0)
    picture[:, 75:90] = (190.0, 200.0, 205.0)
    return picture + rng.normal(0, 1.5, picture.shape)


def film(place: tuple[float, float] | None, *, sees: float = 1.0, seed: int = 0) -> list[np.ndarray]:
    """Three pictures, the shot in the middle one, seen through at `1 - sees`."""
    rng = np.random.default_rng(seed)
    pictures = [board(rng) for _ in TIMES_US]
    if place is not None:
        v, u = np.mgrid[:80, :120]
        cover = np.zeros((80, 120))
        for along in np.linspace(-0.5, 0.5, 60):
            off = np.hypot(u - place[0] - along * WAY[0], v - place[1] - along * WAY[1])
            cover += np.clip(DIAMETER_PX / 2 + 0.5 - off, 0, 1) / 60
        pictures[1] += sees * cover[..., None] * (SHOT - pictures[1])
    return [np.clip(np.round(p), 0, 255).astype(np.uint8) for p in pictures]


def fitter(frames: list[np.ndarray], *, grey: bool = False) -> SmearFitter:
    """One that has learnt the shot's colour from a smear on the bare board."""
    plain = film((30.0, 55.0))
    if grey:
        plain = [p.mean(axis=2).astype(np.uint8) for p in plain]
    found = SmearFitter([*plain, *frames], [*TIMES_US, *(t + 100_000 for t in TIMES_US)], DIAMETER_PX)
    found.learn([(1, np.array([30.0, 55.0]), WAY)])
    return found


@pytest.mark.parametrize("place", [(62.3, 37.6), (74.8, 40.2), (30.5, 20.0)])
@pytest.mark.parametrize("grey", [False, True], ids=["in colour", "in grey"])
def test_middle_of_a_smear_is_found_whatever_is_printed_below(place: tuple[float, float], grey: bool) -> None:
    frames = film(place)
    if grey:
        frames = [p.mean(axis=2).astype(np.uint8) for p in frames]
    smear = fitter(frames, grey=grey).fit(4, np.array(place) + np.array([3.0, -2.0]), WAY)
    assert smear is not None
    assert np.abs(smear.place_px - place).max() < 0.6
    assert smear.gain > 1000


def test_stated_error_covers_the_errors() -> None:
    off = []
    for seed in range(20):
        place = np.array([40.0 + 1.7 * seed, 30.0 + 0.6 * seed])
        smear = fitter(film((float(place[0]), float(place[1])), seed=seed)).fit(4, place + 1.3, WAY)
        assert smear is not None
        along = WAY / np.hypot(*WAY)
        miss = smear.place_px - place
        off.append(
            [
                (miss @ along) / smear.sigmas_px[0],
                (along[0] * miss[1] - along[1] * miss[0]) / smear.sigmas_px[1],
            ]
        )
    assert float(np.sqrt(np.mean(np.square(off)))) < 2.0


def test_nothing_is_found_where_nothing_is() -> None:
    smear = fitter(film(None)).fit(4, np.array([62.0, 37.0]), WAY)
    assert smear is None or smear.gain < 20


def test_at_the_rim_and_without_neighbours_it_cannot_be_told() -> None:
    found = fitter(film((62.0, 37.0)))
    assert found.fit(4, np.array([-40.0, 37.0]), WAY) is None
    assert found.fit(0, np.array([62.0, 37.0]), WAY) is None


@pytest.mark.parametrize("way", [(1e9, 3.0), (2.0, -np.inf), (np.nan, 1.0)], ids=str)
def test_what_passes_right_before_the_lens_is_no_smear(way: tuple[float, float]) -> None:
    assert fitter(film((62.3, 37.6))).fit(4, np.array([62.3, 37.6]), np.array(way)) is None


@pytest.mark.parametrize("beyond", [(-12.0, 40.0), (60.0, -12.0), (150.0, 40.0), (60.0, 120.0)])
def test_nothing_is_found_for_a_place_beyond_the_picture(beyond: tuple[float, float]) -> None:
    assert fitter(film((10.0, 10.0))).fit(4, np.array(beyond), WAY) is None


@pytest.mark.filterwarnings("error")
def test_a_smear_far_thinner_than_a_pixel_tells_no_colour() -> None:
    """A board said to be ten times its size makes the shot so thin; nothing is told of it, and nobody is warned of a nought."""
    thin = SmearFitter(film((30.0, 55.0)), TIMES_US, 0.001)
    thin.learn([(1, np.array([30.4, 55.4]), WAY)])
    assert thin.fit(1, np.array([30.4, 55.4]), WAY) is None
