"""The link over pyserial's network ports, with the real firmware core at the other end. Here time is the wall's."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
import serial
import serial.rfc2217
from table_top import TableTop

from rig.link import messages, wire
from rig.link.link import Link
from rig.link.messages import StateChanged
from rig.link.serial_port import SerialPort, WallClock


class _Connection:
    """What pyserial's server writes its own part of the conversation to."""

    def __init__(self, peer: socket.socket) -> None:
        self.write = peer.sendall


def _serve(server: socket.socket, *, rfc2217: bool) -> None:
    peer, _ = server.accept()
    table = TableTop()
    table.run(10_000)
    received: Callable[[bytes], bytes] = bytes
    sent: Callable[[bytes], bytes] = bytes
    if rfc2217:
        manager = serial.rfc2217.PortManager(serial.serial_for_url("loop://"), _Connection(peer))

        def received(data: bytes) -> bytes:
            return b"".join(manager.filter(data))

        def sent(data: bytes) -> bytes:
            return b"".join(manager.escape(data))

    with peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.settimeout(0.002)
        while True:
            try:
                data = peer.recv(1024)
                if not data:
                    return
                table.write(received(data))
            except TimeoutError:
                pass
            except OSError:
                return
            answer = table.read(2_000)
            if answer:
                peer.sendall(sent(answer))


@pytest.fixture(params=["socket", "rfc2217"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        serving = threading.Thread(
            target=_serve, args=(server,), kwargs={"rfc2217": request.param == "rfc2217"}, daemon=True
        )
        serving.start()
        yield f"{request.param}://127.0.0.1:{server.getsockname()[1]}"
        serving.join(timeout=10)


# pyserial's rfc2217:// sets up its thread in a way that Python is giving up.
@pytest.mark.filterwarnings("ignore:set(Daemon|Name):DeprecationWarning")
def test_a_cannon_is_found_and_spoken_with(url):
    with closing(Link(SerialPort(url, baud=wire.BAUD), WallClock())) as link:
        assert link.identify().wire_version == wire.WIRE_VERSION
        assert link.ask(messages.Home()).expected_ms > 0
        state = None
        while state is None:
            events = link.wait(5_000_000)
            assert events
            state = next((event.state for event in events if isinstance(event, StateChanged)), None)
        assert state is wire.State.HOMING
        link.stop()
        assert link.ask(messages.ReadStatus()).state is wire.State.SAFE
