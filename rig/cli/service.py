"""`rig service`: the lever brought to where the cannon can be lubricated, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rig.cli.application import RefusedError, app
from rig.cli.arguments.options import SETTINGS_FILE, PortOption, SettingsFile, settings_or_defaults
from rig.cli.terminal.sentences import echo

if TYPE_CHECKING:
    from rig.cannon import Cannon
    from rig.cli.terminal.answers import Answers

__all__ = ["service"]

_COMPANY_US = 1_000
_LAST_WORDS_US = 8_000_000


@app.command(rich_help_panel="Set up")
def service(
    port: PortOption = None,
    settings: SettingsFile = SETTINGS_FILE,
) -> None:
    """Lubricate: draw the lever, turn it to 180 degrees, and bring it back; step by step, nothing armed or fired."""
    from rig.cli.opening.line import on_port, open_cannon
    from rig.cli.terminal.answers import Answers
    from rig.link import wire

    chosen = on_port(settings_or_defaults(settings), port)
    answers = Answers()
    with open_cannon(chosen) as cannon:
        answers.company = lambda: cannon.wait(_COMPANY_US)
        if cannon.look().inputs & (wire.Input.GATE_FIRST_BLOCKED | wire.Input.GATE_SECOND_BLOCKED):
            raise RefusedError("something sits in the muzzle; take it out first, from the side")
        echo("Eyes protected, nobody before the muzzle, fingers out of the lever's way. The muzzle is empty.")
        _go_on(answers, "1 of 4: home. Every axis goes to its centre. Servo supply and key are on?")
        cannon.home()
        _go_on(
            answers,
            "2 of 4: draw. The lever goes to the charge position and turns down to 180 degrees. Have pad and jelly ready?",
        )
        cannon.service()
        _lubricate(cannon, answers, chosen.cannon.dwell_s)
        echo("4 of 4: the lever comes forward, slowly. Keep your fingers away.")
        cannon.let_down("lubricated")
    echo("done: the lever is at rest and the cannon safe; wipe off what is too much before the next shot")


def _go_on(answers: Answers, question: str) -> None:
    if not answers.yes(question):
        raise RefusedError("not confirmed, so it ends here: the lever is at rest and the cannon safe")


def _lubricate(cannon: Cannon, answers: Answers, dwell_s: float) -> None:
    """Wait for the person, and warn before the dwell is over."""
    from rig.cannon import DwellExpired

    warned = False

    def company() -> None:
        nonlocal warned
        cannon.wait(_COMPANY_US)
        if not warned and cannon.dwell_left_us() < _LAST_WORDS_US:
            warned = True
            echo(
                f"\n{_LAST_WORDS_US / 1e6:g} s left: take your hands away, the lever is about to come forward"
            )

    answers.company = company
    echo(
        "3 of 4: the lever stands at 180 degrees. A little white petroleum jelly (pharmacy quality) on a cotton pad, over "
        "the plunger in its channel, then through the bore; no more than a film."
    )
    left_s = cannon.dwell_left_us() / 1e6
    try:
        while not answers.yes(f"Lubricated, hands away? Within {left_s:.0f} s it comes forward by itself."):
            if answers.ended:
                break  # nobody is there to say more
            left_s = cannon.dwell_left_us() / 1e6
    except DwellExpired:
        raise RefusedError(
            f"the {dwell_s:g} s for which the lever may be drawn (dwell_s) are over: it was let down; "
            "run rig service again for the rest"
        ) from None
    answers.company = lambda: cannon.wait(_COMPANY_US)
