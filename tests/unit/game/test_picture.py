"""The picture of a position: whole, with everybody in it, and marks only where they were asked for."""

import re
from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from montecassino_strategies import ONE_OR_TWO, positions

from game.montecassino import (
    Position,
    Side,
    Square,
    Turn,
    all_squares,
    draw_position,
    parse_squares,
    proposed_zone,
)

SVG = "{http://www.w3.org/2000/svg}"
BATTLE = Position.parse("A A01-A03,G40 A30,G30-G34 0/0 2/1 -")
CASUALTY, PUT_BACK, PRISONER, DOUBT = "#c4161c", "#1f5fa8", "#e8590c", "?"


def drawn(**marks: object) -> ET.Element:
    return ET.fromstring(draw_position(BATTLE.soldiers, **marks))  # type: ignore[arg-type]


def on_board(picture: ET.Element) -> Iterator[ET.Element]:
    """Everything but what the marks mean."""
    legend = {part for group in legend_of(picture) for part in group.iter()}
    return (element for element in picture.iter() if element not in legend)


def legend_of(picture: ET.Element) -> list[ET.Element]:
    return [element for element in picture.iter() if element.get("class") == "meaning"]


def meanings(picture: ET.Element) -> list[str]:
    return ["".join(group.itertext()).strip("+?") for group in legend_of(picture)]


def ways_on(picture: ET.Element) -> list[ET.Element]:
    return [element for element in on_board(picture) if element.get("class") == "way"]


def letters(picture: ET.Element) -> Iterator[tuple[str, float, float]]:
    for text in on_board(picture):
        if text.tag == f"{SVG}text":
            yield text.text or "", float(text.attrib["x"]), float(text.attrib["y"])


def stroked(picture: ET.Element, colour: str) -> list[ET.Element]:
    return [element for element in on_board(picture) if element.get("stroke") == colour]


def height_of(picture: ET.Element) -> float:
    return float(picture.attrib["viewBox"].split()[3])


def width_of(picture: ET.Element) -> float:
    return float(picture.attrib["viewBox"].split()[2])


@given(positions(ONE_OR_TWO))
@hypothesis_settings(max_examples=15)
def test_every_soldier_of_any_position_is_drawn_once(position):
    picture = ET.fromstring(draw_position(position.soldiers, boards=position.boards))
    shown = Counter(letter for letter, _, _ in letters(picture) if letter in set(Side))
    assert shown == Counter(map(str, position.soldiers.values()))


def test_b1_every_square_has_its_number():
    shown = Counter(letter for letter, _, _ in letters(drawn()) if letter.isdigit())
    assert shown == {str(number): 2 for number in range(1, 73)}


def test_s3_two_boards_stand_side_by_side():
    position = Position.start(Side.A, shots=0, boards=2)
    picture = ET.fromstring(draw_position(position.soldiers))
    shown = Counter(letter for letter, _, _ in letters(picture) if letter.isdigit())
    assert shown == {str(number): 4 for number in range(1, 73)}
    one = drawn()
    assert width_of(picture) == width_of(one) + 8 * 40
    assert height_of(picture) == height_of(one)
    places = {(letter, y): [] for letter, _, y in letters(picture)}
    for letter, x, y in letters(picture):
        places[letter, y].append(x)
    assert any(max(xs) - min(xs) == 8 * 40 for (letter, _), xs in places.items() if letter == "1")


def test_s3_the_zone_or_the_caller_tells_two_boards_where_nobody_stands():
    wide = width_of(ET.fromstring(draw_position({}, boards=2)))
    assert width_of(ET.fromstring(draw_position({}, zone=proposed_zone(Side.A, 2)))) == wide
    assert width_of(ET.fromstring(draw_position({}))) < wide


def test_b3_soldiers_stand_on_their_squares_as_the_allies_see_them():
    numbers = {}
    soldiers = {}
    for letter, x, y in letters(drawn()):
        (numbers if letter.isdigit() else soldiers)[x, y] = letter
    assert len(soldiers) == len(BATTLE.soldiers)
    # A number stands in the upper left corner of its square, a soldier's letter in the middle.
    found = []
    for (x, y), side in soldiers.items():
        corner = min(numbers, key=lambda place: abs(place[0] + 17 - x) + abs(place[1] + 14 - y))
        field = Side.A if y > height_of(drawn()) / 2 else Side.G
        found.append((Square(field, int(numbers[corner])), side))
    assert sorted(found) == list(BATTLE.soldiers.items())


def test_marks_stand_where_they_are_told_and_nowhere_else():
    plain = drawn()
    assert not stroked(plain, CASUALTY) and not stroked(plain, PUT_BACK)
    assert DOUBT not in {letter for letter, _, _ in letters(plain)}

    marked = drawn(
        casualties=parse_squares("G30,G31"),
        put_back=parse_squares("G32"),
        doubts=parse_squares("G33,G34,A30"),
    )
    assert len(stroked(marked, CASUALTY)) == 2
    (ring,) = stroked(marked, PUT_BACK)
    soldiers = {(x, y - 4) for letter, x, y in letters(marked) if letter == "G"}
    assert (float(ring.attrib["cx"]), float(ring.attrib["cy"])) in soldiers
    assert sum(letter == DOUBT for letter, _, _ in letters(marked)) == 3


def test_c4_the_zone_is_tinted_and_has_four_banners():
    zone = proposed_zone(Side.A)
    picture = drawn(zone=zone)
    tinted = [element for element in on_board(picture) if element.get("fill-opacity")]
    flags = [element for element in on_board(picture) if element.get("fill") == CASUALTY]
    assert (len(tinted), len(flags)) == (len(zone), 4)
    everywhere = [element for element in picture.iter() if element.get("fill-opacity")]
    assert len(everywhere) == len(zone) + 1, "the legend shows the tint as it is on the board"
    assert len({(element.get("fill"), element.get("fill-opacity")) for element in everywhere}) == 1


def test_a_title_is_text_whatever_stands_in_it():
    title = 'A < G & "both"'
    picture = drawn(title=title)
    assert picture.findtext(f"{SVG}title") == title
    assert title in {letter for letter, _, _ in letters(picture)}


def test_the_square_aimed_at_has_its_own_mark():
    assert len(list(drawn(target=Square(Side.G, 49)).iter())) > len(list(drawn().iter()))


@pytest.mark.parametrize(
    ("turn", "ways", "prisoners", "freed"),
    [
        ("A-01>A-09", 1, 0, []),
        ("A-01>A-09;A-02>A-10;A-03>A-11", 3, 0, []),
        ("A-21xA-30", 1, 1, []),
        ("A-01>A-09;G-25>G-17+2", 2, 0, ["+2"]),
    ],
)
def test_the_last_turn_has_an_arrow_for_each_soldier(turn, ways, prisoners, freed):
    picture = drawn(last=Turn.parse(turn))
    assert len(ways_on(picture)) == ways
    assert len(stroked(picture, PRISONER)) == prisoners
    assert [letter for letter, _, _ in letters(picture) if letter.startswith("+")] == freed
    numbered = [text.text for way in ways_on(picture) for text in way.iter(f"{SVG}text")]
    assert numbered == ([] if ways == 1 else [str(number + 1) for number in range(ways)])


def test_an_arrow_leads_from_where_the_soldier_was_to_where_it_is():
    (way,) = ways_on(drawn(last=Turn.parse("A-20>A-28>A-29")))
    line, head, start = way
    corners = [tuple(map(float, at.split())) for at in re.split("[ML]", line.attrib["d"])[1:]]
    begins = float(start.attrib["cx"]), float(start.attrib["cy"])
    assert corners[0] == begins
    assert corners[1] == (begins[0], begins[1] - 40)
    # To the right, and short of the middle of A-29.
    tip_x, tip_y = map(float, head.attrib["d"].removeprefix("M").partition("L")[0].split())
    assert tip_y == corners[1][1]
    assert begins[0] + 20 < tip_x < begins[0] + 40


def test_the_legend_says_what_the_marks_mean_that_are_used():
    assert meanings(drawn()) == []
    assert meanings(drawn(zone=parse_squares("G25"), put_back=parse_squares("G30"))) == ["zone", "put back"]
    picture = drawn(
        zone=parse_squares("G25-G72"),
        last=Turn.parse("A-21xA-30;G-25>G-17+1"),
        casualties=parse_squares("G30"),
        put_back=parse_squares("G31"),
        doubts=parse_squares("G32"),
        target=Square(Side.G, 30),
    )
    assert meanings(picture) == [
        "zone",
        "last turn",
        "prisoner taken",
        "comrades freed",
        "aimed at",
        "casualty",
        "put back",
        "in doubt",
    ]
    lowest = max(float(text.attrib["y"]) for text in picture.iter(f"{SVG}text") if "y" in text.attrib)
    assert lowest < height_of(picture)


@given(st.text(max_size=400) | st.just("shot " * 5_000), st.sampled_from(ONE_OR_TWO))
@hypothesis_settings(max_examples=60)
def test_any_title_fits_above_the_board(title, boards):
    picture = ET.fromstring(draw_position({}, title=title, boards=boards))
    board_top = min(float(rect.attrib["y"]) for rect in picture.iter(f"{SVG}rect") if "y" in rect.attrib)
    lines = [text for text in picture.iter(f"{SVG}text") if text.get("font-size") == "14"]
    assert all(float(line.attrib["y"]) < board_top for line in lines)
    assert all(len(line.text or "") * 14 * 0.5 <= width_of(picture) for line in lines)
    # All of it is there, but for what cannot be printed.
    shown = "".join("".join(line.text or "" for line in lines).split())
    assert shown == "".join(sign for sign in title if sign.isprintable() and not sign.isspace())


def test_a_title_keeps_squares_whole():
    picture = drawn(title=f"{'x' * 41} G-43 and what came of it")
    assert any((letter or "").startswith("G-43") for letter, _, _ in letters(picture))


def test_every_square_has_its_place():
    corners = {
        (x, y) for letter, x, y in letters(ET.fromstring(draw_position({}, boards=2))) if letter.isdigit()
    }
    assert len(corners) == len(all_squares(2))
