"""Constants of nature that several modules need."""

__all__ = ["STANDARD_GRAVITY_MPS2"]

STANDARD_GRAVITY_MPS2 = 9.80665
"""Standard acceleration of free fall (3rd CGPM, 1901)."""
