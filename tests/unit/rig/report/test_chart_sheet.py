"""The printed combat chart: real text in the booklet's words, every row on some page, the same bytes for the same chart."""

from __future__ import annotations

import datetime
import io

import pytest
from pypdf import PageObject, PdfReader

from game.montecassino import (
    LONGEST_NAME,
    Abandon,
    Agreement,
    Battle,
    Chart,
    Commanders,
    Language,
    Retreat,
    Shot,
    Side,
    Square,
    Turn,
    UnreadRow,
    chart_of,
    read_chart,
)
from game.montecassino.chart_words import WORDS, TitleLine
from rig.report.chart_sheet import draw_chart

PLAYERS = {
    Side.A: Commanders("Władysław Ñandú", "Zoë Grünwald"),
    Side.G: Commanders("Αλέξανδρος Михаил"),
}
SAMPLE = read_chart(
    '34\tX\t\tG-68\tG-69\t-----\t-----\t-----\t10\n"\tX\t\tG-63\tG-55\t-----\t-----\t-----\t10'
).chart


def pages_of(pdf: bytes) -> list[PageObject]:
    return list(PdfReader(io.BytesIO(pdf)).pages)


def text_of(page: PageObject) -> str:
    return " ".join(page.extract_text().split())


def there_and_back(rounds: int) -> Battle:
    """A battle of four turns a round, that nobody wins."""
    battle = Battle.begin(Agreement(Side.A, players=PLAYERS), began=datetime.date(1944, 5, 18))
    for turn in [
        "A-17>A-25;A-18>A-26",
        "G-17>G-25",
        *["A-25>A-33", "G-25>G-33", "A-33>A-25", "G-33>G-25"] * rounds,
    ]:
        battle = battle.play(Turn.parse(turn))
    return battle


LONG = there_and_back(50)


@pytest.mark.parametrize("language", Language)
def test_every_page_has_the_heads_in_the_language_and_its_number(language):
    pages = pages_of(draw_chart(chart_of(LONG), language, LONG))
    words = WORDS[language]
    assert len(pages) > 4
    for number, page in enumerate(pages, 1):
        text = text_of(page)
        for head in [*words.heads.values(), words.movements, words.prisoner, words.chart]:
            assert head in text, head
        assert all(f"{sign}: {meaning}" in text for sign, meaning in words.signs.items())
        assert words.page.format(page=number, pages=len(pages)) in text
        assert (float(page.mediabox.width), float(page.mediabox.height)) == pytest.approx((595.28, 841.89))


def test_every_row_stands_on_a_page_in_order():
    chart = chart_of(LONG)
    lines = [
        line.split()
        for page in pages_of(draw_chart(chart, Language.ENGLISH, LONG))
        for line in page.extract_text().splitlines()
    ]
    read = " ".join(word for line in lines for word in line)
    at = 0
    for row in chart.rows:
        at = read.index(" ".join(filter(None, row.cells)), at) + 1


def test_the_title_has_players_in_any_script_and_what_was_agreed():
    first, *_, last = (text_of(page) for page in pages_of(draw_chart(chart_of(LONG), Language.SPANISH)))
    for said in ("Władysław Ñandú", "Zoë Grünwald", "Αλέξανδρος Михаил", "1944-05-18", "G25-G72", "A25-A72"):
        assert said in first
    labels = WORDS[Language.SPANISH].title
    assert all(labels[line] in first for line in TitleLine if line is not TitleLine.START)
    assert "Władysław Ñandú, Zoë Grünwald – Αλέξανδρος Михаил" in last


@pytest.mark.parametrize(
    ("language", "said", "points"),
    [
        (Language.ENGLISH, "The Germans have won: the enemy has abandoned the battle", "Points, Allies ½ Points, Germans 1½"),
        (Language.SPANISH, "Ganan los Germanos: el enemigo abandona el combate", "Puntos, Aliados ½ Puntos, Germanos 1½"),
        (Language.ITALIAN, "Vincono i Tedeschi: il nemico abbandona", "Punti, Alleati ½ Punti, Tedeschi 1½"),
    ],
)  # fmt: skip
def test_v6_result_and_points_stand_at_the_end(language, said, points):
    battle = there_and_back(0)
    for entry in (Retreat(), Retreat(), Abandon()):
        battle = battle.play(entry)
    (page,) = pages_of(draw_chart(chart_of(battle), language, battle))
    assert said in text_of(page)
    assert points in text_of(page)


def test_result_and_points_stay_open_while_the_battle_goes_on():
    (page,) = pages_of(draw_chart(chart_of(there_and_back(0)), Language.ENGLISH, there_and_back(0)))
    assert "Result Points, Allies Points, Germans A: field" in text_of(page)


@pytest.mark.parametrize("language", Language)
def test_an_empty_sheet_has_labels_heads_and_no_values(language):
    (page,) = pages_of(draw_chart(Chart(()), language))
    words, text = WORDS[language], text_of(page)
    assert all(words.title[line] in text for line in TitleLine if line is not TitleLine.START)
    assert "-----" not in text
    assert page.get_contents().get_data().count(b" re") > 25 * 9  # ruled cells to write in


def test_the_same_chart_is_the_same_file_whenever_it_is_printed():
    once = draw_chart(chart_of(LONG), Language.ENGLISH)
    assert draw_chart(chart_of(LONG), Language.ENGLISH) == once
    metadata = PdfReader(io.BytesIO(once)).metadata
    assert metadata is not None
    assert metadata.creation_date == datetime.datetime(1944, 5, 18, tzinfo=datetime.UTC)
    assert metadata.modification_date is None


def test_a_shot_of_many_losses_has_a_higher_row_and_loses_none():
    hit = tuple(Square(Side.G, number) for number in range(25, 45))
    chart = read_chart("1\t\tX\t-----\t-----\t-----\t-----\t" + " ".join(map(str, hit)) + "\t4").chart
    (page,) = pages_of(draw_chart(chart, Language.ENGLISH))
    assert " ".join(map(str, hit)) in text_of(page)


def test_a_line_that_could_not_be_read_is_printed_as_it_was():
    chart = Chart((*SAMPLE.rows, UnreadRow(("they argued", "for an hour"))))
    (page,) = pages_of(draw_chart(chart, Language.ENGLISH))
    assert "they argued | for an hour" in text_of(page)


def test_nothing_however_long_leaves_the_page_and_unknown_signs_do_not_vanish():
    players = {Side.A: Commanders("W" * LONGEST_NAME, "M" * LONGEST_NAME), Side.G: Commanders("\u5f35" * 3)}
    zones = {Side.A: tuple(Square(side, number) for side in Side for number in range(1, 73, 2))}
    rows = (UnreadRow(("z" * 9000,)), *SAMPLE.rows)
    pages = pages_of(
        draw_chart(Chart(rows, Agreement(Side.A, players=players, zones=zones)), Language.ENGLISH)
    )
    first = text_of(pages[0])
    assert "\ufffd\ufffd\ufffd" in first
    assert "WW…" in first
    assert "G71" in first
    for page in pages:
        heights: list[float] = []
        page.extract_text(
            visitor_text=lambda text, cm, tm, *_, into=heights: into.append(tm[5]) if text.strip() else None
        )
        assert min(heights) > 20


def test_a_shot_and_a_miss_are_told_apart():
    battle = there_and_back(0).play(Shot((Square(Side.G, 25),))).play(Shot())
    (page,) = pages_of(draw_chart(chart_of(battle), Language.ENGLISH, battle))
    assert "3 X ----- ----- ----- ----- G-25 23 4 X ----- ----- ----- ----- ----- 24" in text_of(page)
