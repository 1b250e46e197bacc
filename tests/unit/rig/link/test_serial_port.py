"""Any pyserial URL works, and one that does not says why in a sentence."""

import contextlib
import errno
import os
import socket
import stat
import time
import tty

import pytest
import serial

from rig.link.errors import PortBusy, PortError, PortForbidden, PortGone, PortMissing
from rig.link.port import Clock, Port
from rig.link.serial_port import SerialPort, WallClock


@pytest.fixture
def pty():
    ours, theirs = os.openpty()
    tty.setraw(ours)
    yield ours, theirs
    for end in (ours, theirs):
        with contextlib.suppress(OSError):
            os.close(end)


def test_a_device_carries_bytes_both_ways(pty):
    ours, theirs = pty
    port: Port = SerialPort(os.ttyname(theirs), baud=115200)
    os.write(ours, b"\x00\x18\x7e\xff")
    assert port.read(1_000_000) == b"\x00\x18\x7e\xff"
    port.write(b"\x7e\x18\x03")
    assert os.read(ours, 10) == b"\x7e\x18\x03"
    port.close()
    port.close()


def test_loop_reads_nothing_after_its_time_and_what_was_written_before():
    port = SerialPort("loop://", baud=115200)
    assert port.read(0) == b""
    begun_ns = time.monotonic_ns()
    assert port.read(20_000) == b""
    assert time.monotonic_ns() - begun_ns >= 20_000_000
    port.write(b"abc")
    assert port.read(1_000_000) == b"abc"
    port.close()


def test_a_socket_carries_bytes_both_ways_and_says_when_it_is_gone():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = SerialPort(f"socket://127.0.0.1:{server.getsockname()[1]}", baud=115200)
        other, _ = server.accept()
        other.sendall(b"x" * 300)
        got = b""
        while len(got) < 300:
            got += port.read(1_000_000)
        port.write(b"back")
        assert other.recv(10) == b"back"
        other.close()
        with pytest.raises(PortGone, match="vanished"):
            port.read(1_000_000)
        port.close()


def test_a_port_that_is_not_there_is_named_with_those_that_are(tmp_path):
    with pytest.raises(PortMissing, match=r"ttyNone: there is no such port; the ports of this computer: "):
        SerialPort(str(tmp_path / "ttyNone"), baud=115200)


def test_a_port_that_vanishes_is_gone_for_reading_and_for_writing(pty):
    ours, theirs = pty
    port = SerialPort(os.ttyname(theirs), baud=115200)
    os.close(ours)
    os.close(theirs)
    with pytest.raises(PortGone):
        port.read(1_000)
    with pytest.raises(PortGone):
        port.write(b"x")
    port.close()


def test_a_port_in_use_is_busy_until_it_is_let_go(pty):
    name = os.ttyname(pty[1])
    port = SerialPort(name, baud=115200)
    with pytest.raises(PortBusy, match="another program"):
        SerialPort(name, baud=115200)
    port.close()
    SerialPort(name, baud=115200).close()


def test_a_port_that_may_not_be_opened_names_the_group_that_may(monkeypatch, tmp_path):
    device = tmp_path / "ttyACM0"
    device.touch()
    device.chmod(stat.S_IRUSR)

    def refuse(*_args, **_kwargs):
        raise serial.SerialException(13, "could not open port: [Errno 13] Permission denied")

    monkeypatch.setattr(serial, "serial_for_url", refuse)
    with pytest.raises(
        PortForbidden, match=rf"the group {device.group()} may: sudo usermod -aG {device.group()}"
    ):
        SerialPort(str(device), baud=115200)


@pytest.mark.parametrize("number", [errno.ENXIO, errno.ENODEV, errno.EIO])
def test_a_name_without_a_device_is_told_as_that(monkeypatch, number):
    """As of a serial port that the mainboard has no socket for."""

    def refuse(*_args, **_kwargs):
        raise serial.SerialException(number, f"could not configure port: {os.strerror(number)}")

    monkeypatch.setattr(serial, "serial_for_url", refuse)
    with pytest.raises(PortMissing, match="ttyS3: the name is there but no device behind it"):
        SerialPort("/dev/ttyS3", baud=115200)


@pytest.mark.parametrize("scheme", ["socket", "rfc2217"])
def test_a_network_port_where_nobody_listens_is_missing(scheme):
    with socket.create_server(("127.0.0.1", 0)) as server:
        number = server.getsockname()[1]
    with pytest.raises(PortMissing, match="nobody answers there"):
        SerialPort(f"{scheme}://127.0.0.1:{number}", baud=115200)


@pytest.mark.parametrize(
    "url", ["/dev/null", "nosuch://x", "socket://", "/tmp", "loop://?logging=bad", "hwgrep://("]
)
def test_what_is_no_serial_port_is_refused_in_one_line(url):
    with pytest.raises(PortError, match="cannot be opened as a serial port") as error:
        SerialPort(url, baud=115200)
    assert error.value.port == url
    assert "\n" not in str(error.value)


def test_the_wall_clock_is_the_computers_monotonic_one_in_microseconds():
    clock: Clock = WallClock()
    before_ns = time.monotonic_ns()
    now_us = clock.now_us()
    assert isinstance(now_us, int)
    assert before_ns // 1000 <= now_us <= time.monotonic_ns() // 1000
