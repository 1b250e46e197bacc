"""The report: one HTML file with everything in it, to open in a browser, send by mail, or print."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from rig.files.html_page import html_page
from rig.files.whole_file import write_whole

__all__ = ["Picture", "ShotPage", "write_report"]

_JPEG_QUALITY = 82


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A camera picture with a sentence below it."""

    image: NDArray[np.uint8]
    """BGR or grey."""
    caption: str

    @property
    def data_uri(self) -> str:
        """The picture as it stands inside the page."""
        _, jpeg = cv2.imencode(".jpg", self.image, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
        return "data:image/jpeg;base64," + base64.b64encode(jpeg.tobytes()).decode("ascii")


@dataclass(frozen=True, slots=True)
class ShotPage:
    """All that the report says of one shot, in words and pictures."""

    number: int
    target: str
    side: str
    option: str
    zone: str
    facts: Sequence[tuple[str, str]]
    """Name and value: aim, muzzle speed, times."""
    falls: Sequence[dict[str, str]]
    """`square`, `side`, `cause`, `confidence`, `evidence`, `verdict` of each fall; on the twin `truth`, and `wrong` is not empty
    where the cause is another."""
    casualties: Sequence[str]
    put_back: Mapping[str, str]
    """Who is put back, and why."""
    doubts: Sequence[str]
    """A sentence each."""
    before_svg: str
    after_svg: str
    pictures: Sequence[Picture] = ()
    truth_known: bool = False
    """Whether the column "truth" is shown."""


def write_report(path: Path, *, title: str, summary: Sequence[str], shots: Sequence[ShotPage]) -> None:
    """Write the page.

    Parameters
    ----------
    path
        The HTML file to write.
    title
        Its heading.
    summary
        Sentences that stand at the top.
    shots
        In the order fired.
    """
    text = html_page(
        "rig.report",
        "report.html.j2",
        {"title": title, "summary": summary, "shots": shots},
        filters={"drawing": Markup},
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)
