"""Drawing on a picture of the table: words stand apart and inside it, and are broken where they are too long."""

import numpy as np
import pytest
from overhead_view import straight_down

from rig.drawing.table_drawing import Drawing, fitting, text_width_px, told_time, wrapped


def test_words_are_placed_apart_and_inside_the_picture() -> None:
    drawing = Drawing(np.full((600, 1000, 3), 90, np.uint8), straight_down(), size_px=(600, 360))
    for k in range(12):
        drawing.label((180.0 + k, 405.0), 16.0, f"A-{k:02d} direct", (255, 255, 255))
    boxes = drawing.written
    assert len(boxes) == 12
    for k, a in enumerate(boxes):
        assert a[0] >= 0 and a[1] >= 0 and a[2] <= 600 and a[3] <= 360
        assert not any(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for b in boxes[k + 1 :])


@pytest.mark.parametrize("bold", [False, True])
def test_a_line_that_must_be_one_is_cut_where_it_is_too_wide(bold: bool) -> None:
    zone = "zone " + ",".join(f"A{number:02d}" for number in range(1, 72, 2))
    cut = fitting(zone, 14, 400, bold=bold)
    assert zone.startswith(cut.removesuffix("…"))
    assert cut.endswith("…")
    assert 360 < text_width_px(cut, 14, bold=bold) <= 400
    assert fitting("shot-7", 14, 400, bold=bold) == "shot-7"


def test_a_sentence_is_broken_where_it_is_too_wide() -> None:
    sentence = "the shot did not reach it; A-44 fell or slid against it, and it moved 106 ms after release"
    lines = wrapped(sentence, 13, 200)
    assert " ".join(lines) == sentence
    assert all(text_width_px(line, 13) <= 200 for line in lines)
    assert wrapped("unbreakable" * 9, 13, 50) == ["unbreakable" * 9]
    bold = wrapped(sentence, 19, 400, bold=True)
    assert " ".join(bold) == sentence
    assert all(text_width_px(line, 19, bold=True) <= 400 for line in bold)


def test_a_sentence_with_more_lines_than_there_is_room_for_ends_in_an_ellipsis_after_a_word() -> None:
    sentence = "clear; 13 soldiers of A, 12 of G; " + "; ".join(
        f"G-{k} is not where it was" for k in range(25, 40)
    )
    lines = wrapped(sentence, 19, 600, bold=True, most_lines=2)
    assert len(lines) == 2
    assert all(text_width_px(line, 19, bold=True) <= 600 for line in lines)
    kept = " ".join(lines).removesuffix(" …")
    assert kept != " ".join(lines)
    assert sentence.startswith(kept)
    assert sentence[len(kept)] in " ;,:"
    # What fits is whole.
    assert wrapped("clear; 13 soldiers of A", 19, 600, most_lines=2) == ["clear; 13 soldiers of A"]


@pytest.mark.parametrize(
    ("since_us", "said"), [(-300, "0 ms"), (300, "0 ms"), (-3_000, "−3 ms"), (2_000, "+2 ms")]
)
def test_the_moment_of_the_release_has_no_sign(since_us: float, said: str) -> None:
    assert told_time(since_us) == said
