"""Draws the pictures of docs/build.md: ``python docs/drawings`` writes them anew.

Pins are read from the firmware's own table, lengths and angles from the defaults of the settings, so that a drawing
cannot say anything else than the code.
"""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path
from typing import Any

import schemdraw
import schemdraw.elements as elm
from schemdraw.segments import Segment, SegmentCircle

from game.montecassino import BOARD_FILES
from rig.settings import Settings

ROOT = Path(__file__).parents[2]
_PORTS = {"D": 0, "B": 8}
_FILTERED = ("ESTOP", "KEY", "LANE")  # their cables are long


def pins() -> dict[str, str]:
    """Give the Uno's name of each pin of firmware/avr/pins.h, as `{"ESTOP": "D2"}`."""
    found = re.findall(r"#define PIN_(\w+) P([BCD])(\d)", (ROOT / "firmware/avr/pins.h").read_text())
    return {name: f"A{bit}" if port == "C" else f"D{_PORTS[port] + int(bit)}" for name, port, bit in found}


def _drawing(unit: float = 2.0) -> Any:
    schemdraw.use("svg")
    drawing = schemdraw.Drawing(show=False, canvas="svg")
    drawing.config(unit=unit, fontsize=11, font="sans-serif", bgcolor="white", margin=0.3)
    return drawing


def _filter(d: Any, at: tuple[float, float]) -> None:
    """Draw what keeps sparks out of a long cable: a pull-up and a capacitor, near the pin."""
    (pull_up_x, y), capacitor_x = (at[0] - 0.7, at[1]), at[0] - 1.9
    here = d.here
    for x in (pull_up_x, capacitor_x):
        d += elm.Dot(radius=0.06).at((x, y))
    d += elm.Resistor().up().at((pull_up_x, y)).length(0.8).scale(0.6).label("1 k", "bottom", fontsize=9)
    d += elm.Label().at((pull_up_x, y + 0.82)).label("5 V", "top", fontsize=9)
    d += (
        elm.Capacitor()
        .down()
        .at((capacitor_x, y))
        .length(0.7)
        .scale(0.6)
        .label("100 n", "bottom", fontsize=9)
    )
    d += elm.Ground().scale(0.6)
    d.here = here


def signals() -> Any:
    """Draw every signal wire: inputs to the left, outputs to the right."""
    pin = pins()
    left = ["ESTOP", "KEY", "LANE", "LEVER_DRAWN", "LEVER_LATCHED", "GATE_FIRST", "GATE_SECOND"]
    right = ["TRAVERSE", "DRAW", "LATCH", "AZIMUTH", "ELEVATION", "TRIGGER", "LOADER", "LAMP"]
    d = _drawing()
    uno = elm.Ic(
        pins=[
            *(elm.IcPin(name=pin[each], side="left", slot=f"{8 - i}/8") for i, each in enumerate(left)),
            elm.IcPin(name="GND", side="left", slot="1/8"),
            *(elm.IcPin(name=pin[each], side="right", slot=f"{8 - i}/8") for i, each in enumerate(right)),
        ],
        pinspacing=1.7,
        edgepadW=1.3,
        edgepadH=0.5,
        leadlen=0.6,
    ).label("Arduino\nUno", "center")
    d += uno
    bus_x = -8.0
    contacts = {
        "ESTOP": (elm.Button(nc=True), "emergency stop, contact 1\n(normally closed)"),
        "KEY": (elm.Switch(), "arming key (closed: on)"),
        "LANE": (elm.Switch(), "lane (closed: clear)"),
        "LEVER_DRAWN": (elm.Button(), "lever at the breech"),
        "LEVER_LATCHED": (elm.Button(), "lever turned and held"),
    }
    for name in left:
        at = getattr(uno, pin[name])
        d += elm.Line().left().at(at).length(3.0)
        if name in _FILTERED:
            _filter(d, at)
        if name in contacts:
            contact, words = contacts[name]
            d += contact.left().length(2.2).label(words, "bottom", fontsize=9, ofst=0.3)
        else:
            words = f"gate, {'inner' if name == 'GATE_FIRST' else 'outer'} barrier: light closes it"
            d += elm.RBox().left().length(2.2).label(words, "bottom", fontsize=9, ofst=0.3)
        d += elm.Line().left().tox(bus_x)
        d += elm.Dot().at((bus_x, at[1]))
    d += elm.Line().left().at(uno.GND).tox(bus_x)
    d += elm.Line().at((bus_x, uno.GND[1])).to((bus_x, getattr(uno, pin["ESTOP"])[1]))
    d += elm.Ground().at((bus_x, uno.GND[1]))
    servo_x, rail_6v, rail_gnd = 8.6, 12.2, 13.4
    top = getattr(uno, pin["TRAVERSE"])[1] + 0.9
    for name in ("TRAVERSE", "DRAW", "LATCH", "AZIMUTH", "ELEVATION"):
        at = getattr(uno, pin[name])
        d += elm.Line().right().at(at).length(0.4)
        d += elm.Resistor().right().length(2).label("330", "top", fontsize=9)
        d += elm.Line().right().tox(servo_x)
        box = elm.Ic(
            pins=[elm.IcPin(anchorname="sig", side="left", slot="1/1")], size=(2.0, 1.0), leadlen=0.2
        ).label(f"{name.lower()}\nservo", "center", fontsize=9)
        d += box.anchor("sig").at((servo_x, at[1]))
        for rail_x, y in ((rail_6v, at[1] + 0.25), (rail_gnd, at[1] - 0.25)):
            d += elm.Line().at((servo_x + 2.2, y)).to((rail_x, y))
            d += elm.Dot(radius=0.06).at((rail_x, y))
        if name == "LATCH":
            d += elm.Dot(radius=0.06).at((servo_x - 0.9, at[1]))
            d += (
                elm.Resistor()
                .down()
                .at((servo_x - 0.9, at[1]))
                .length(1.1)
                .label("10 k", "bottom", fontsize=9)
            )
            d += elm.Ground().scale(0.6)
    bottom = getattr(uno, pin["ELEVATION"])[1] - 0.9
    for x, name in ((rail_6v, "6 V"), (rail_gnd, "GND")):
        d += elm.Line().at((x, bottom)).to((x, top))
        d += elm.Label().at((x, top + 0.15)).label(name, fontsize=10)
    for name, words in (
        ("TRIGGER", "to the trigger's 220 ohms (power)"),
        ("LOADER", "to the loader's 220 ohms (power)"),
    ):
        d += elm.Line().right().at(getattr(uno, pin[name])).length(0.4)
        d += elm.Tag(width=6.2, height=0.6).right().label(words, "center", fontsize=9)
    d += elm.Line().right().at(getattr(uno, pin["LAMP"])).length(0.4)
    d += elm.Resistor().right().length(2).label("470", "top", fontsize=9)
    d += elm.LED().right().length(1.6).label("armed lamp", "bottom", fontsize=9, ofst=0.3)
    d += elm.Line().right().length(0.6)
    d += elm.Ground().scale(0.8)
    return d


def power() -> Any:
    """Draw the supply, and one MOSFET with its coil."""
    pin = pins()
    d = _drawing()
    d += (
        supply := elm.BatteryCell().up().reverse().length(6).label("servo supply\n6 V, 6 A", "top", ofst=0.3)
    )
    d += elm.Fuse().right().length(3).label("7.5 A, slow")
    d += elm.Line().right().length(1.5)
    d += elm.Dot()
    d.push()
    d += elm.Capacitor2(polar=True).down().length(6).label("1000 uF\nnear the\ndraw servo", "bottom")
    d += elm.Dot()
    d.pop()
    d += elm.Line().right().length(3)
    d += elm.Dot()
    d.push()
    d += elm.Line(arrow="->").up().length(0.9)
    d += elm.Label().at(d.here).label("6 V to the servos", "top", fontsize=10)
    d.pop()
    d += elm.Line().right().length(2)
    d += (
        elm.Button(nc=True)
        .right()
        .length(3.5)
        .label("emergency stop,\ncontact 2 (normally closed)", "top", ofst=0.4)
    )
    d += (top := elm.Dot())
    d += elm.Inductor2(loops=3).down().length(2.6).label("trigger solenoid", "top", ofst=0.2)
    d += (drain := elm.Dot())
    d += elm.Line().right().at(top.center).length(1.8)
    d += elm.Diode().down().length(2.6).reverse().label("1N5819", "bottom", ofst=0.2)
    d += elm.Line().left().tox(drain.center)
    fet = elm.NFet(bulk=False).theta(0).reverse().anchor("drain").at(drain.center)
    d += fet
    d += elm.Label().at((fet.source[0] + 1.0, fet.gate[1])).label("logic-level\nMOSFET", "center", fontsize=9)
    d += elm.Line().at(fet.source).down().toy(supply.start)
    d += elm.Dot()
    d += elm.Line().left().at(fet.gate).length(1.2)
    d += (gate := elm.Dot())
    d += elm.Resistor().down().at(gate.center).toy(supply.start).label("10 k", "bottom")
    d += elm.Dot()
    d += elm.Resistor().left().at(gate.center).length(2).label("220", "top")
    d += elm.Label().at(d.here).label(pin["TRIGGER"], "left")
    d += elm.Line().at(supply.start).to((fet.source[0], supply.start[1]))
    d += elm.Ground().at(supply.start)
    d += (
        elm.Label()
        .at((0, supply.start[1] - 1.3))
        .label(
            f"One point, at the supply, joins its minus and the Uno's GND. The loader ({pin['LOADER']}) has the same MOSFET,\n"
            "resistors and diode, at 6 V without the emergency stop's contact. The Uno itself is fed by USB.",
            "right",
            fontsize=10,
            halign="left",
            valign="top",
        )
    )
    return d


def frame() -> Any:
    """Draw the mechanical frame: from above and from the side, to scale, in mm."""
    settings = Settings()
    cannon, square = settings.cannon, settings.board.square_mm
    width = BOARD_FILES * square
    d = _drawing()
    per = 1 / 25  # drawing units a millimetre
    grey = {"color": "#888888", "lw": 1}

    def line(*points: tuple[float, float], shift: tuple[float, float] = (0, 0), **style: Any) -> None:
        placed = [((x + shift[0]) * per, (y + shift[1]) * per) for x, y in points]
        element = elm.Element()
        element.segments.append(Segment(placed, **{"lw": 1.5, **style}))
        d.add(element.at((0, 0)).right())

    def ring(x: float, y: float, radius: float, shift: tuple[float, float] = (0, 0), **style: Any) -> None:
        element = elm.Element()
        centre = ((x + shift[0]) * per, (y + shift[1]) * per)
        element.segments.append(SegmentCircle(centre, radius * per, **style))
        d.add(element.at((0, 0)).right())

    def words(x: float, y: float, text: str, shift: tuple[float, float] = (0, 0), **style: Any) -> None:
        here = ((x + shift[0]) * per, (y + shift[1]) * per)
        d.add(elm.Label().at(here).label(text, "center", **{"fontsize": 9, **style}))

    def size(
        a: tuple[float, float],
        b: tuple[float, float],
        text: str,
        shift: tuple[float, float] = (0, 0),
        **style: Any,
    ) -> None:
        ends = [((x + shift[0]) * per, (y + shift[1]) * per) for x, y in (a, b)]
        d.add(elm.Line(arrow="<->").at(ends[0]).to(ends[1]).linewidth(0.8))
        middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
        dx, dy = style.pop("by", (0, 9))
        words(middle[0] + dx, middle[1] + dy, text, shift, **style)

    # From above, as the Allies see it: x to the right, y away.
    ranks = 3
    for i in range(BOARD_FILES + 1):
        line((i * square, 0), (i * square, ranks * square), **grey)
    for j in range(ranks + 1):
        line((0, j * square), (width, j * square), **grey)
    words(square / 2, square / 2, "A-1")
    words(width - square / 2, square / 2, "A-8")
    pivot = (cannon.traverse.centre_mm, -cannon.strip_offset_mm)
    left, right = cannon.traverse.ends_mm()
    line((0, -80), (width, -80), **grey)
    line((0, -80), (0, 0), **grey)
    line((width, -80), (width, 0), **grey)
    line((left, pivot[1]), (right, pivot[1]), color="#0050a0", lw=2)
    ring(*pivot, 4, fill="black")
    line(pivot, (pivot[0], pivot[1] + cannon.barrel_length_mm), lw=4)
    reach = (cannon.azimuth.max_us - cannon.azimuth.centre_us) / abs(cannon.azimuth.us_per_rad)
    for sign in (-1, 1):
        tip = (pivot[0] + sign * 150 * math.sin(reach), pivot[1] + 150 * math.cos(reach))
        line(pivot, tip, ls="--", color="#0050a0", lw=1)
    words(pivot[0] + 62, 118, f"azimuth ±{math.degrees(reach):.0f}°", color="#0050a0")
    size(
        (left, -98), (right, -98), f"traverse {left:.0f} to {right:.0f}; home at {pivot[0]:.0f}", by=(0, -11)
    )
    line((left, pivot[1]), (left, -104), **grey)
    line((right, pivot[1]), (right, -104), **grey)
    size((width + 14, pivot[1]), (width + 14, 0), f"{cannon.strip_offset_mm:g}", by=(14, 0))
    line(pivot, (width + 20, pivot[1]), **grey)
    line((width, 0), (width + 20, 0), **grey)
    size((0, ranks * square + 14), (width, ranks * square + 14), f"{width:g}: 8 squares of {square:g}")
    size(
        (pivot[0] - 16, pivot[1]),
        (pivot[0] - 16, pivot[1] + cannon.barrel_length_mm),
        f"{cannon.barrel_length_mm:g}",
        by=(-12, 6),
    )
    line((0, 0), (0, 42), color="#b00000", lw=2, arrow="->", arrowwidth=0.2, arrowlength=0.3)
    line((0, 0), (42, 0), color="#b00000", lw=2, arrow="->", arrowwidth=0.2, arrowlength=0.3)
    words(50, -8, "x", color="#b00000")
    words(-9, 40, "y", color="#b00000")
    words(-18, -10, "origin", color="#b00000")
    words(
        width / 2,
        ranks * square + 44,
        "From above (mm). The cannon of the Allies; that of the Germans stands turned by half a turn.",
        fontsize=11,
    )
    # From the side: y to the right, z up.
    shift = (470, 0)
    height = cannon.muzzle_height_mm
    line((-80, 0), (190, 0), shift=shift)
    words(120, -9, "first line, second line ...", shift)
    line((0, -5), (0, 5), shift=shift)
    foot = (pivot[1], height)
    line((foot[0], 0), foot, shift=shift, **grey)
    ring(*foot, 4, shift, fill="black")
    elevation = cannon.elevation
    down, up = elevation.ends_rad()

    def along(angle_rad: float, length: float) -> tuple[float, float]:
        return (foot[0] + length * math.cos(angle_rad), foot[1] + length * math.sin(angle_rad))

    for angle in (up, down):
        line(foot, along(angle, 110), shift=shift, ls="--", color="#0050a0", lw=1)
        words(*along(angle, 124), f"{math.degrees(angle):.0f}°", shift, color="#0050a0")
    line(foot, along(0, 150), shift=shift, ls=":", color="#888888", lw=1)
    words(*along(0, 166), "level", shift)
    line(foot, along(elevation.centre_rad, cannon.barrel_length_mm), shift=shift, lw=4)
    inner = cannon.barrel_length_mm - 3  # the shot sits in the mouth, and half of it shows
    outer = inner + cannon.gate_spacing_mm
    line(
        along(elevation.centre_rad, inner),
        along(elevation.centre_rad, outer),
        shift=shift,
        color="#b00000",
        lw=1,
    )
    for length in (outer, inner):
        ring(*along(elevation.centre_rad, length), 3.2, shift, color="#b00000", fill="white")
    middle = along(elevation.centre_rad, (outer + inner) / 2)
    line((middle[0] + 3, middle[1] + 5), (foot[0] + 122, height + 52), shift=shift, color="#b00000", lw=0.8)
    text = f"muzzle gate: inner and outer\nbarrier {cannon.gate_spacing_mm:g} apart"
    words(foot[0] + 178, height + 52, text, shift, color="#b00000")
    words(*along(0.2, 112), f"home {math.degrees(elevation.centre_rad):.0f}°", shift)
    size((foot[0] - 22, 0), (foot[0] - 22, height), f"{height:g}", shift, by=(-12, 0))
    line(foot, (foot[0] - 28, height), shift=shift, **grey)
    size((foot[0], -26), (0, -26), f"{cannon.strip_offset_mm:g}", shift, by=(0, -10))
    line((foot[0], 0), (foot[0], -32), shift=shift, **grey)
    line((0, 0), (0, -32), shift=shift, **grey)
    words(50, ranks * square + 44, "From the side (mm)", shift, fontsize=11)
    return d


DRAWINGS = {"wiring-signals.svg": signals, "wiring-power.svg": power, "frame.svg": frame}


def main(folder: Path) -> None:
    """Write every drawing into a folder."""
    for name, draw in DRAWINGS.items():
        (folder / name).write_bytes(draw().get_imagedata("svg") + b"\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
