"""The report as a page: of no shot, and of what was written by people and is no markup."""

from __future__ import annotations

from pathlib import Path

from rig.report.page import ShotPage, write_report

HOSTILE = "<script>alert('x')</script> & \"Co\""


def written(path: Path, *shots: ShotPage) -> str:
    write_report(path, title=HOSTILE, summary=[HOSTILE], shots=shots)
    return path.read_text()


def test_what_people_wrote_is_text_wherever_it_stands(tmp_path: Path) -> None:
    shot = ShotPage(
        number=1,
        target=HOSTILE,
        side=HOSTILE,
        option=HOSTILE,
        zone=HOSTILE,
        facts=[(HOSTILE, HOSTILE)],
        falls=[
            dict.fromkeys(("square", "side", "cause", "confidence", "evidence", "verdict", "truth"), HOSTILE)
        ],
        casualties=[HOSTILE],
        put_back={HOSTILE: HOSTILE},
        doubts=[HOSTILE],
        before_svg="<svg>before</svg>",
        after_svg="<svg>after</svg>",
        truth_known=True,
    )
    text = written(tmp_path / "report.html", shot)
    assert "<script" not in text
    assert text.count("&lt;script&gt;") >= 15
    assert "<svg>before</svg><svg>after</svg>" in text, "a drawing is drawn"


def test_a_report_of_no_shot_is_a_page_all_the_same(tmp_path: Path) -> None:
    text = written(tmp_path / "a folder" / "report.html")
    assert text.startswith("<!doctype html>")
    assert text.rstrip().endswith("</html>")
