"""The picture of a position: whole, with everybody in it, and marks only where they were asked for."""

from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from montecassino_strategies import positions

from game.montecassino import Position, Side, Square, draw_position, parse_squares, proposed_zone

SVG = "{http://www.w3.org/2000/svg}"
BATTLE = Position.parse("A A01-A03,G40 A30,G30-G34 0/0 2/1 -")
CASUALTY, PUT_BACK, DOUBT = "#c4161c", "#1f5fa8", "?"


def drawn(**marks: object) -> ET.Element:
    return ET.fromstring(draw_position(BATTLE.soldiers, **marks))  # type: ignore[arg-type]


def letters(picture: ET.Element) -> Iterator[tuple[str, float, float]]:
    for text in picture.iter(f"{SVG}text"):
        yield text.text or "", float(text.attrib["x"]), float(text.attrib["y"])


def stroked(picture: ET.Element, colour: str) -> list[ET.Element]:
    return [element for element in picture.iter() if element.get("stroke") == colour]


def height_of(picture: ET.Element) -> float:
    return float(picture.attrib["viewBox"].split()[3])


@given(positions())
@hypothesis_settings(max_examples=15)
def test_every_soldier_of_any_position_is_drawn_once(position):
    picture = ET.fromstring(draw_position(position.soldiers))
    shown = Counter(letter for letter, _, _ in letters(picture) if letter in set(Side))
    assert shown == Counter(map(str, position.soldiers.values()))


def test_b1_every_square_has_its_number():
    shown = Counter(letter for letter, _, _ in letters(drawn()) if letter.isdigit())
    assert shown == {str(number): 2 for number in range(1, 73)}


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
    tinted = [element for element in picture.iter(f"{SVG}rect") if element.get("fill-opacity")]
    flags = [element for element in picture.iter(f"{SVG}path") if element.get("fill") == CASUALTY]
    assert (len(tinted), len(flags)) == (len(zone), 4)


def test_a_title_is_text_whatever_stands_in_it():
    title = 'A < G & "both"'
    picture = drawn(title=title)
    assert picture.findtext(f"{SVG}title") == title
    assert title in {letter for letter, _, _ in letters(picture)}


def test_the_square_aimed_at_has_its_own_mark():
    assert len(list(drawn(target=Square(Side.G, 49)).iter())) > len(list(drawn().iter()))
