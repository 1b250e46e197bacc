"""What docs/link.md shows is what the programs say."""

import re
from pathlib import Path

from rig.link.transcript import read_transcript, tell
from rig.sequence import diagram

_ROOT = Path(__file__).parents[4]
_TEXT = (_ROOT / "docs/link.md").read_text()


def test_the_diagram_is_drawn_from_the_table():
    assert f"```mermaid\n{diagram()}```" in _TEXT


def test_the_transcript_shown_is_what_rig_transcript_prints():
    shown = re.search(r"\$ rig transcript (\S+) \| sed -n (\d+),(\d+)p\n(.*?)\n```", _TEXT, re.DOTALL)
    assert shown is not None
    file, first, last, text = shown.groups()
    told = list(tell(read_transcript(_ROOT / file)))
    assert text.splitlines() == told[int(first) - 1 : int(last)]
