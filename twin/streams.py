"""Random streams: one seed, and a stream of its own for every purpose.

A purpose draws from its own stream, so that asking for a picture, or switching a misbehaviour on, never changes
what another purpose draws.
"""

from __future__ import annotations

import zlib

import numpy as np


def stream(seed: int, purpose: str, *index: int) -> np.random.Generator:
    """Return the generator of one purpose.

    Parameters
    ----------
    seed : int
        The seed of the whole twin, 0 or more.
    purpose : str
        What the numbers are for, such as ``"placement"``.
    *index : int
        Which of many, such as the number of a frame.
    """
    return np.random.default_rng([seed, zlib.crc32(purpose.encode()), *index])
