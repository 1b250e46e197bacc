"""What can go wrong between the controller and the cannon, split by what the caller does next.

LinkError
├── PortError              the line itself: tell the person which wire or right is missing
│   ├── PortMissing        there is no such port, or nobody listens there
│   ├── PortBusy           another program has it
│   ├── PortForbidden      the user may not open it
│   └── PortGone           it was there, and has vanished
├── NoAnswer               the line is open and no cannon speaks at its end
├── WrongWireVersion       a cannon speaks, in another version of the wire: flash it
├── LinkLost               the cannon was there and is silent: it makes itself safe; start over
│   └── BoardReset         the chip restarted: it is safe and knows nothing of this session
├── Refused                the cannon heard a command and will not: nothing was done; say why
└── NotDone                the cannon took a command, and the end of the work did not come in time
"""

from rig.counted import counted
from rig.link import wire
from rig.link.words import name_of

__all__ = [
    "BoardReset",
    "LinkError",
    "LinkLost",
    "NoAnswer",
    "NotDone",
    "PortBusy",
    "PortError",
    "PortForbidden",
    "PortGone",
    "PortMissing",
    "Refused",
    "WrongWireVersion",
]


class LinkError(Exception):
    """Something is wrong between the controller and the cannon."""


class PortError(LinkError):
    """The port cannot be opened or used."""

    def __init__(self, port: str, what: str) -> None:
        self.port = port
        super().__init__(f"port {port}: {what}")


class PortMissing(PortError):
    """There is no such port, or nobody listens there."""


class PortBusy(PortError):
    """Another program has the port."""


class PortForbidden(PortError):
    """The user may not open the port."""


class PortGone(PortError):
    """The port was open and has vanished."""


class NoAnswer(LinkError):
    """Nobody identified itself within `waited_us`; `heard` bytes came that said nothing."""

    def __init__(self, waited_us: int, heard: int) -> None:
        self.waited_us = waited_us
        self.heard = heard
        noise = (
            f"{counted(heard, 'byte')} came that {'is' if heard == 1 else 'are'} none of its frames "
            "(another baud rate, or another device?)"
            if heard
            else "not one byte came (is it powered, is it the right port?)"
        )
        super().__init__(f"no cannon answered within {waited_us / 1e6:.1f} s; {noise}")


class WrongWireVersion(LinkError):
    """The cannon speaks wire version `found`; this controller speaks `expected`."""

    def __init__(self, found: int, expected: int, firmware: str) -> None:
        self.found = found
        self.expected = expected
        self.firmware = firmware
        super().__init__(
            f"the cannon's firmware {firmware} speaks wire version {found}, this controller {expected}; "
            "flash the firmware that came with this controller"
        )


class LinkLost(LinkError):
    """The cannon was heard before and is silent now."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}; the cannon makes itself safe")


class BoardReset(LinkLost):
    """The chip restarted in the middle of the session; `cause` is why, where it said so."""

    def __init__(self, cause: wire.ResetCause | None) -> None:
        self.cause = cause
        why = wire.says(cause) if cause is not None else "it knows nothing of this session"
        super().__init__(f"the cannon's chip has restarted ({why})")


class Refused(LinkError):
    """The cannon refused `command` for `reason`; `detail` is what the reason is about, where there is such a thing."""

    def __init__(self, command: wire.Command, reason: wire.Refusal, detail: int) -> None:
        self.command = command
        self.reason = reason
        self.detail = detail
        super().__init__(f"the cannon refused the command {name_of(command)}: {wire.says(reason)}")


class NotDone(LinkError):
    """`what` was begun and did not end within `waited_us`."""

    def __init__(self, what: str, waited_us: int) -> None:
        self.what = what
        self.waited_us = waited_us
        super().__init__(f"{what} did not end within {waited_us / 1e6:.1f} s")
