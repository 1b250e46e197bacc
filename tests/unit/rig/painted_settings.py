"""The settings of a rig whose camera hangs over the painted table."""

from __future__ import annotations

from pathlib import Path

from painted_table import MARKERS

from rig.settings import Settings
from vision import BoardView

__all__ = ["settings_of"]


def settings_of(view: BoardView, *, recordings: Path = Path("recordings"), **camera: object) -> Settings:
    """Return the settings of that camera over that table; further keyword arguments are keys of `[camera]`."""
    matrix = view.camera_matrix
    return Settings.model_validate(
        {
            "camera": {
                "width_px": view.width_px,
                "height_px": view.height_px,
                "intrinsics_px": (matrix[0, 0], matrix[1, 1], matrix[0, 2], matrix[1, 2]),
                **camera,
            },
            "board": {
                "marker_dictionary": MARKERS.dictionary,
                "marker_size_mm": MARKERS.size_mm,
                "marker_centres_mm": {str(n): tuple(map(float, at)) for n, at in MARKERS.centres_mm.items()},
            },
            "log": {"recordings": str(recordings)},
        }
    )
