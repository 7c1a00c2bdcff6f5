"""Finding and opening the port of a board, and what is said when that fails."""

import errno
import os
import pty
import socket
import time
from types import SimpleNamespace

import pytest
import serial

from companion.errors import LinkError, SourceError
from companion.rules import Layout
from companion.tiles import ports, wire
from companion.tiles.link import open_tiles
from companion.tiles.ports import PortFinder, SerialPort, advice, lasting_name, usual_name
from companion.tiles.virtual import VirtualBoard, VirtualPort


class World:
    """A machine with ports, some with a board behind them, and a clock that moves when one waits."""

    def __init__(self, **ports):
        self.now = 0.0
        self.ports = ports
        self.opened = []

    def clock(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds

    def listing(self):
        return [SimpleNamespace(device=name, vid=vid) for name, (vid, _) in self.ports.items()]

    def opener(self, name):
        self.opened.append(name)
        if name not in self.ports:
            raise SourceError(f"{name}: there is no such port")
        made = self.ports[name][1](self)
        if made is None:
            raise SourceError(f"{name}: another program has this port open")
        return made

    def finder(self, wanted, *others, **more):
        return PortFinder(wanted, self.clock, others=others, opener=self.opener, listing=self.listing, **more)


def tile_board(world):
    return VirtualPort(VirtualBoard(16, world.clock), world.wait)


def older_board(world):
    board = VirtualBoard(16, world.clock)
    board.reset()
    return VirtualPort(board, world.wait)


def something_else(world):
    port = tile_board(world)
    port.receive = lambda: (world.wait(0.05), b"42 degrees\r\n")[1]
    return port


def newer_board(world):
    port = tile_board(world)
    hello = wire.frame("HELLO,0,5,mijnlieff-board,2,3.0.0,nano-1,16,P,4,0")
    port.receive = lambda: (world.wait(0.05), hello)[1]
    return port


def busy(world):
    return None


CH340, FTDI, GPS = 0x1A86, 0x0403, 0x1546


def test_a_port_that_is_named_is_opened_and_no_other():
    world = World(COM3=(CH340, tile_board), COM4=(CH340, tile_board))
    world.finder("com4")()
    assert world.opened == ["COM4"]


def test_auto_takes_the_first_port_that_says_hello_and_opens_none_that_is_no_arduino():
    world = World(
        COM1=(None, tile_board), COM2=(GPS, tile_board), COM3=(FTDI, something_else), COM4=(CH340, tile_board)
    )
    port = world.finder("auto")()
    assert world.opened == ["COM4"]
    assert b"mijnlieff-board" in port.receive()


def test_auto_passes_by_what_is_busy_or_something_else():
    world = World(COM3=(CH340, busy), COM4=(CH340, something_else), COM5=(FTDI, tile_board))
    world.finder("auto")()
    assert world.opened == ["COM3", "COM4", "COM5"]


def test_auto_tells_once_of_ports_that_it_has_not_asked(caplog):
    world = World(COM3=(CH340, tile_board), COM4=(CH340, tile_board), COM5=(FTDI, tile_board), COM6=(GPS, tile_board))
    finder = world.finder("auto", "COM4")
    finder()
    finder()
    assert [record.getMessage() for record in caplog.records] == [
        "found a tile board on COM3; another may be on COM5, which was not asked: to use that, write tiles:COM5"
    ]


def test_auto_says_what_it_tried_when_there_is_no_board():
    world = World(COM3=(CH340, busy), COM4=(CH340, something_else))
    with pytest.raises(SourceError, match=r"COM3: another program.*COM4: no tile board answers.*name its port"):
        world.finder("auto")()
    with pytest.raises(SourceError, match="no port looks like an Arduino"):
        World().finder("auto")()


def test_auto_says_why_a_board_that_answers_cannot_be_talked_to():
    world = World(COM3=(CH340, newer_board))
    with pytest.raises(SourceError, match=r"COM3: the board speaks protocol 2 and this program protocol 1; flash"):
        world.finder("auto")()


def test_a_board_that_was_plugged_in_elsewhere_is_found_again():
    world = World(COM3=(CH340, tile_board))
    finder = world.finder("COM3")
    finder()
    world.ports = {"COM7": (CH340, tile_board)}
    finder()
    assert world.opened == ["COM3", "COM3", "COM7"]


def test_a_port_that_was_never_there_is_not_replaced_by_another():
    world = World(COM4=(CH340, tile_board))
    with pytest.raises(SourceError, match="no such port"):
        world.finder("COM3")()
    assert world.opened == ["COM3"]


def test_a_board_that_is_lost_is_never_found_on_the_port_of_another():
    world = World(COM3=(CH340, tile_board), COM4=(CH340, tile_board))
    finder = world.finder("COM3", "com4")
    finder()
    del world.ports["COM3"]
    with pytest.raises(SourceError, match="COM4: that may be another tile board of this program"):
        finder()
    world.ports["COM7"] = (CH340, tile_board)
    finder()
    assert world.opened == ["COM3", "COM3", "COM3", "COM7"]


@pytest.mark.parametrize("wanted", ["COM3", "auto"])
def test_two_boards_that_come_back_under_other_names_are_not_mixed_up(wanted):
    world = World(COM3=(CH340, tile_board), COM4=(CH340, tile_board))
    finder = world.finder(wanted, "COM4")
    finder()
    world.ports = {"COM7": (CH340, tile_board), "COM8": (CH340, tile_board)}
    with pytest.raises(SourceError, match=r"COM7: that may be another.*COM8: that may be another"):
        finder()
    world.ports["COM3"] = (CH340, tile_board)
    finder()
    assert set(world.opened) == {"COM3"}


@pytest.mark.parametrize("wanted", ["COM3", "auto"])
def test_a_board_that_is_lost_is_not_another_that_is_plugged_in_and_is_found_beside_it(wanted):
    world = World(COM3=(CH340, tile_board))
    finder = world.finder(wanted, recognises=lambda hello: hello.boots < 3)
    finder()
    world.ports = {"COM2": (CH340, older_board)}
    for _ in range(3):
        with pytest.raises(SourceError, match="COM2: that is another tile board than before"):
            finder()
    world.ports["COM7"] = (CH340, tile_board)
    finder()
    assert (world.opened.count("COM2"), world.opened[-1]) == (1, "COM7")
    world.ports = {}
    with pytest.raises(SourceError, match="no such port" if wanted == "COM3" else "no port looks like an Arduino"):
        finder()
    world.ports = {"COM2": (CH340, tile_board)}
    finder()
    assert world.opened[-1] == "COM2"


def test_auto_leaves_the_port_alone_that_another_board_was_given():
    world = World(COM3=(CH340, tile_board), COM4=(CH340, tile_board))
    world.finder("auto", "COM3")()
    assert world.opened == ["COM4"]


def test_a_named_board_is_not_found_elsewhere_while_another_may_be_anywhere():
    world = World(COM3=(CH340, tile_board), COM4=(CH340, tile_board))
    finder = world.finder("COM3", "auto")
    finder()
    del world.ports["COM3"]
    with pytest.raises(SourceError, match="COM4: that may be another"):
        finder()


def test_a_port_is_anothers_by_whatever_name_it_is_called(monkeypatch):
    by_id = "/dev/serial/by-id/usb-1a86-if00"
    monkeypatch.setattr(ports, "lasting_name", lambda name: by_id if name in {"/dev/ttyUSB0", by_id} else name)
    for name in ("/dev/ttyUSB0", by_id):
        world = World(**{"/dev/ttyUSB0": (CH340, tile_board), "/dev/ttyUSB1": (CH340, tile_board)})
        world.finder("auto", name)()
        assert world.opened == ["/dev/ttyUSB1"]


def test_a_board_beside_one_on_the_network_is_found_wherever_it_comes_back():
    world = World(COM3=(CH340, tile_board))
    finder = world.finder("COM3", "socket://hall:4000")
    finder()
    world.ports = {"COM7": (CH340, tile_board)}
    finder()
    assert world.opened[-1] == "COM7"


@pytest.mark.parametrize(
    ("written", "opened"),
    [
        ("com3", "COM3"),
        ("COM12", "COM12"),
        ("/dev/ttyUSB0", "/dev/ttyUSB0"),
        ("/dev/tty.usbserial-10", "/dev/cu.usbserial-10"),
        ("/dev/cu.usbserial-10", "/dev/cu.usbserial-10"),
        ("socket://table-3:4000", "socket://table-3:4000"),
        ("auto", "auto"),
    ],
)
def test_a_name_is_opened_as_its_system_wants_it(written, opened):
    assert usual_name(written) == opened


def test_a_name_by_id_is_preferred_because_it_stays_the_same(tmp_path):
    device = tmp_path / "ttyUSB0"
    device.touch()
    by_id = tmp_path / "by-id"
    by_id.mkdir()
    link = by_id / "usb-1a86_USB_Serial-if00-port0"
    link.symlink_to(device)
    assert lasting_name(str(device), by_id) == str(link)
    assert lasting_name(str(tmp_path / "ttyUSB1"), by_id) == str(tmp_path / "ttyUSB1")


@pytest.mark.parametrize(
    ("error", "platform", "said"),
    [
        (serial.SerialException(errno.EACCES, "Permission denied"), "linux", "usermod -aG dialout"),
        (
            serial.SerialException("could not open port 'COM3': PermissionError(13, 'Access is denied.')"),
            "win32",
            "another",
        ),
        (
            serial.SerialException("could not open port 'COM3': FileNotFoundError(2, '...')"),
            "win32",
            "plug the board in",
        ),
        (serial.SerialException(errno.ENOENT, "No such file"), "linux", "plug the board in"),
        (serial.SerialException(errno.EBUSY, "busy"), "linux", "another program"),
        (serial.SerialException("Could not exclusively lock port"), "linux", "another program"),
        (serial.SerialException(errno.EACCES, "Permission denied"), "darwin", "another program"),
        (ValueError("invalid URL"), "linux", "invalid URL"),
    ],
)
def test_a_port_that_cannot_be_opened_says_why_and_what_to_do(error, platform, said):
    assert said in advice(error, platform)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (os.devnull, "no serial port"),
        ("socket://127.0.0.1:1", "nobody listens there"),
        ("foo://x", "'foo' not known"),
        ("socket://127.0.0.1", "its address needs a port number, as in tiles:socket://192"),
        ("/", "no serial port"),
        ("hwgrep://[", "no URL that leads to a port .unterminated character set"),
        ("loop://?logging=loudly", "no URL that leads to a port .'loudly'"),
    ],
)
def test_what_is_no_serial_port_is_refused_in_one_line(name, why):
    with pytest.raises(SourceError, match=why) as refused:
        SerialPort(name)
    assert "\n" not in str(refused.value)


def test_a_port_that_is_not_there_is_refused_by_name():
    with pytest.raises(SourceError, match="/dev/no-such-port: there is no such port; plug the board in"):
        SerialPort("/dev/no-such-port")


@pytest.fixture
def cable():
    """Two ends of a cable: what the board holds, and the name of the host's port."""
    board, host = pty.openpty()
    yield board, os.ttyname(host)
    for end in (board, host):
        os.close(end)


def test_bytes_go_both_ways_through_a_real_port(cable):
    board, name = cable
    port = SerialPort(name)
    port.send(b"there")
    assert os.read(board, 5) == b"there"
    os.write(board, b"and back")
    assert port.receive() == b"and back"
    assert port.receive() == b""
    port.give_back(b"again")
    assert port.receive() == b"again"
    port.close()
    port.close()


def test_what_has_come_in_through_a_socket_is_received_at_once():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = SerialPort(f"socket://127.0.0.1:{listening.getsockname()[1]}")
        board, _ = listening.accept()
        with board:
            board.sendall(b"there, " * 100)
            assert port.receive() == b"there, " * 100
        port.close()


def test_a_second_program_is_kept_out(cable):
    _, name = cable
    first = SerialPort(name)
    with pytest.raises(SourceError, match="another program has this port open"):
        SerialPort(name)
    first.close()


def test_a_closed_port_is_a_lost_one(cable):
    _, name = cable
    port = SerialPort(name)
    port.close()
    with pytest.raises(LinkError, match="is gone"):
        port.receive()
    with pytest.raises(LinkError, match="takes no more"):
        port.send(b"x")


@pytest.mark.parametrize("text", ["tiles:", "tiles"])
def test_a_source_without_a_port_says_how_one_is_named(text):
    with pytest.raises(SourceError, match="tiles:auto"):
        open_tiles(text, Layout.parse("4x4"), clock=lambda: 0.0, wait=lambda seconds: None)


def test_a_cable_that_is_pulled_is_told_with_its_port_once():
    listening = socket.create_server(("127.0.0.1", 0))
    where = f"tiles:socket://127.0.0.1:{listening.getsockname()[1]}"
    with listening, open_tiles(where, Layout.parse("4x4"), clock=time.monotonic, wait=time.sleep) as board:
        listening.accept()[0].close()
        with pytest.raises(SourceError) as lost:
            board.read(5.0)
    assert str(lost.value) == f"{where}: the port is gone; is the cable plugged in?"
