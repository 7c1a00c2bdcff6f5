"""The hex files in the repository are what the sources make, they fit, and a blank board can be given them."""

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest

from calibration.tiles import KINDS, PRINTED
from companion.tiles import wire
from companion.tiles.virtual import nominal_code
from companion.tiles.wire import Hello, State
from tests.firmware.simulated import FIRMWARE, SimulatedBoard, Speaker, hex_file

BOOT_LOADERS = Path("/usr/share/arduino/hardware/arduino/avr/bootloaders")
OPTIBOOT = BOOT_LOADERS / "optiboot" / "optiboot_atmega328.hex"
COMPILER = "5.4.0"


def make(*words):
    return subprocess.run(["make", "-C", FIRMWARE, *words], check=False, capture_output=True, text=True)


def program_of(path):
    """The bytes of a hex file."""
    program = bytearray()
    for line in path.read_text(encoding="ascii").split():
        record = bytes.fromhex(line[1:])
        if record[3] == 0:
            program += record[4:-1]
    return bytes(program)


def test_the_hex_files_are_what_the_sources_make_and_fit(tool):
    tool("make")
    version = subprocess.run(
        [tool("avr-gcc"), "-dumpversion"], check=True, capture_output=True, text=True
    ).stdout.strip()
    if version != COMPILER:
        pytest.skip(f"another compiler ({version}) makes other hex files; those in the repository are by {COMPILER}")
    made = make("verify")
    assert made.returncode == 0, made.stdout + made.stderr
    sizes = [line for line in made.stdout.splitlines() if "flash" in line and "memory" in line]
    assert [line.split()[0] for line in sizes] == ["16", "32", "128"]


@pytest.mark.parametrize("squares", [2, 129])
def test_a_board_is_made_of_no_more_and_no_fewer_squares_than_the_firmware_can_count(tool, tmp_path, squares):
    tool("make")
    tool("avr-gcc")
    made = make(f"SIZES={squares}", f"BUILD={tmp_path}", f"HEX={tmp_path}")
    assert made.returncode != 0
    assert "SQUARES must be 4" in made.stderr


def test_the_sources_are_clean(tool):
    tool("cppcheck")
    tool("make")
    made = make("lint")
    assert made.returncode == 0, made.stdout + made.stderr


def test_the_drawings_are_what_their_script_draws(tmp_path):
    drawings = FIRMWARE / "drawings"
    script = tmp_path / "draw.py"
    script.write_text((drawings / "draw.py").read_text(encoding="utf-8"), encoding="utf-8")
    subprocess.run([sys.executable, script], check=True)
    for drawn in tmp_path.glob("*.svg"):
        assert drawn.read_text(encoding="utf-8") == (drawings / drawn.name).read_text(encoding="utf-8")


def test_no_word_runs_out_of_a_drawing():
    text = re.compile(r'<text x="([\d.]+)" y="[\d.]+" font-size="(\d+)" text-anchor="(\w+)"[^>]*>([^<]*)<')
    for drawing in (FIRMWARE / "drawings").glob("*.svg"):
        drawn = drawing.read_text(encoding="utf-8")
        width = int(re.search(r'viewBox="0 0 (\d+) ', drawn)[1])
        for x, size, anchor, words in text.findall(drawn):
            long = 0.6 * int(size) * len(html.unescape(words))
            left = float(x) - {"start": 0, "middle": long / 2, "end": long}[anchor]
            assert 0 <= left <= left + long <= width, words


def test_every_capacitor_that_is_drawn_is_in_the_list_of_parts():
    guide = (FIRMWARE / "README.md").read_text(encoding="utf-8")
    for drawing in (FIRMWARE / "drawings").glob("*.svg"):
        for capacitor in re.findall(r"\d+ [nµ]F", drawing.read_text(encoding="utf-8")):
            assert f"| capacitor {capacitor}" in guide


def test_the_guide_knows_what_every_piece_reads():
    guide = (FIRMWARE / "README.md").read_text(encoding="utf-8")
    for kind, printed, letter, (low, high) in zip(
        KINDS, PRINTED, wire.BAND_LETTERS[1:9], wire.DEFAULT_BANDS[1:9], strict=True
    ):
        assert f"| {kind} | {printed} | {nominal_code(letter)} | {low} to {high} |" in guide
    assert f"from {wire.DEFAULT_BANDS[9][0]} on" in guide
    assert f"up to {wire.DEFAULT_BANDS[0][1]})" in guide


def test_the_guide_calls_the_program_as_it_can_be_called():
    guide = (FIRMWARE / "README.md").read_text(encoding="utf-8")
    called = re.findall(r"(?:^    |`)((?:\./start|companion) \w+)", guide, re.MULTILINE)
    assert called
    assert all(command.startswith("./start") for command in called)


def test_the_guide_names_only_files_that_are_there():
    guide = (FIRMWARE / "README.md").read_text(encoding="utf-8")
    for squares in (16, 32, 128):
        assert f"hex/mijnlieff-{squares}.hex" in guide
        assert hex_file(squares).is_file()
    for name in ("schematic", "board", "piece"):
        assert f"drawings/{name}.svg" in guide


def boot_loader(path):
    if not path.is_file():
        pytest.skip(f"{path} is not there: apt-get install arduino-core-avr")
    return path


@pytest.mark.slow
def test_a_blank_board_is_flashed_through_its_boot_loader_and_runs(simulator, tool):
    avrdude = tool("avrdude")
    with simulator(16, bootloader=boot_loader(OPTIBOOT)) as board:
        port = board.tell("pty")[1]
        board.tell("open")
        board.post("free 1")
        command = [avrdude, "-p", "atmega328p", "-c", "arduino", "-P", port, "-b", "115200", "-D"]
        done = subprocess.run(
            [*command, "-U", f"flash:w:{hex_file(16)}:i"], check=False, capture_output=True, text=True, timeout=600
        )
        assert board.tell("unplug") == ["ok"]  # the answer to `free`
        board._answer()
        assert done.returncode == 0, done.stderr
        assert bytes.fromhex(board.tell("flash")[1]) == program_of(hex_file(16))
        board.put(3, "S")
        board.reset()
        speaker = Speaker(board)
        told = speaker.listen(3.0)
    assert [message.squares for message in told if isinstance(message, Hello)] == [16]
    assert [message.letters for message in told if isinstance(message, State)] == ["...S............"]


@pytest.mark.slow
@pytest.mark.parametrize("loader", [OPTIBOOT, BOOT_LOADERS / "atmega" / "ATmegaBOOT_168_atmega328.hex"])
def test_a_board_comes_back_from_its_watchdog_through_either_boot_loader(simulator, loader):
    board: SimulatedBoard
    with simulator(16, bootloader=boot_loader(loader), hex_path=hex_file(16)) as board:
        speaker = Speaker(board)
        assert [message.cause for message in speaker.listen(3.0) if isinstance(message, Hello)][-1] == "P"
        board.tell("hang")
        assert [message.cause for message in speaker.listen(5.0) if isinstance(message, Hello)] == ["W"]
