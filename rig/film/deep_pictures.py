"""Pictures of more than 8 bits: how many of the 16 that a file has for each value the camera filled, and what is seen of them.

A camera of 10, 12 or 14 bits leaves the others empty, and no file says so: taken for pictures of 16 bits its own are nearly black.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

__all__ = ["bits_of", "in_eight_bits"]

_BITS = (8, 10, 12, 14, 16)  # that cameras have


def bits_of(pictures: Iterable[NDArray[np.uint8] | NDArray[np.uint16]]) -> int:
    """How many bits the pictures of one film have, by the highest value in any; no more are looked at than it takes.

    Examples
    --------
    >>> bits_of([np.array([[0, 900]], dtype=np.uint16), np.array([[4095, 17]], dtype=np.uint16)])
    12
    """
    bits = _BITS[0]
    for picture in pictures:
        filled = int(picture.max()).bit_length()
        bits = max(bits, next(each for each in _BITS if each >= filled))
        if bits == _BITS[-1]:
            break
    return bits


def in_eight_bits(picture: NDArray[np.uint8] | NDArray[np.uint16], bits: int) -> NDArray[np.uint8]:
    """Give the 8 highest of the bits that a picture has; one of 8 bits as it is.

    Examples
    --------
    >>> in_eight_bits(np.array([[0, 2048, 4095]], dtype=np.uint16), 12)
    array([[  0, 128, 255]], dtype=uint8)
    """
    if picture.dtype == np.uint8:
        return np.asarray(picture, dtype=np.uint8)
    return (picture >> (bits - 8)).astype(np.uint8)
