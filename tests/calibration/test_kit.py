"""The printable kit: the right pages in the right sizes, and markers that a camera finds on the print."""

from __future__ import annotations

import re
import subprocess

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from calibration.kit import PAPERS, KitError, draw_kit
from calibration.lens import target, target_picture
from companion import mat
from companion.commands.kit import kit
from companion.vision.markers import mat_corners

DPI = 100


def printed(tool, tmp_path, paper, page):
    """A page of the kit as a picture."""
    (tmp_path / "kit.pdf").write_bytes(draw_kit(paper))
    command = [tool("pdftoppm"), "-r", str(DPI), "-f", str(page), "-l", str(page), "-png", "kit.pdf", "page"]
    subprocess.run(command, cwd=tmp_path, check=True)
    [picture] = tmp_path.glob("page*.png")
    return cv2.imread(str(picture))


@pytest.mark.parametrize("paper", PAPERS)
def test_every_page_has_the_size_of_the_paper(paper):
    boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", draw_kit(paper))
    assert boxes
    for box in boxes:
        assert [float(side) / 72 * 25.4 for side in box] == pytest.approx(PAPERS[paper], abs=0.05)


@pytest.mark.parametrize("paper", PAPERS)
def test_the_mat_fits_every_paper_with_a_printers_margin(paper):
    across = mat.BOARD_MM + 2 * mat.REACH_MM
    assert min(PAPERS[paper]) - across >= 2 * 10
    assert all(n * mat.LENS_SQUARE_MM <= side - 20 for n, side in zip(mat.LENS_SQUARES, PAPERS[paper], strict=True))


@pytest.mark.parametrize("paper", PAPERS)
def test_the_printed_mat_is_found_in_its_true_size(tool, tmp_path, paper):
    corners = mat_corners(printed(tool, tmp_path, paper, 2))
    assert corners is not None
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1) / DPI * 25.4
    assert sides == pytest.approx([mat.BOARD_MM] * 4, abs=0.3)
    assert corners[0][1] > corners[3][1]
    assert corners[0][0] < corners[1][0]


def test_the_printed_lens_target_is_found_and_is_no_mat(tool, tmp_path):
    picture = printed(tool, tmp_path, "a4", 4)
    corners, numbers, _, _ = cv2.aruco.CharucoDetector(target()).detectBoard(picture)
    assert len(np.ravel(numbers)) == (mat.LENS_SQUARES[0] - 1) * (mat.LENS_SQUARES[1] - 1)
    first, second = np.asarray(corners).reshape(-1, 2)[:2]
    assert np.linalg.norm(second - first) / DPI * 25.4 == pytest.approx(mat.LENS_SQUARE_MM, abs=0.3)
    assert mat_corners(picture) is None


def test_the_lens_target_is_drawn_without_grey():
    assert set(np.unique(target_picture(2 / 1.5)).tolist()) == {0, 255}


def test_the_command_writes_the_file_and_says_how_to_print_it(tmp_path):
    done = CliRunner().invoke(kit, ["-o", str(tmp_path / "k.pdf"), "--paper", "letter"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "k.pdf").read_bytes().startswith(b"%PDF")
    assert "print it at 100 %" in done.output


def test_what_cannot_be_written_or_drawn_is_one_line(tmp_path):
    done = CliRunner().invoke(kit, ["-o", str(tmp_path)])
    assert done.exit_code == 1
    assert f"{tmp_path} is no file: give -o the name of one, such as kit.pdf" in done.output
    done = CliRunner().invoke(kit, ["-o", str(tmp_path / "none" / "kit.pdf")])
    assert (done.exit_code, done.output.count("\n")) == (1, 1)
    assert f"there is no folder {tmp_path}/none to write kit.pdf into: make it, or give -o another name" in done.output
    done = CliRunner().invoke(kit, ["-o", f"{tmp_path}/{300 * 'a'}.pdf"])
    assert (done.exit_code, done.output.count("\n")) == (1, 1)
    assert done.output.endswith("cannot be written: File name too long\n")
    with pytest.raises(KitError, match="no kit for the paper 'a5'; known are a4, letter"):
        draw_kit("a5")


@pytest.mark.parametrize("name", ["README", "thesis.pdf"])
def test_a_file_that_is_no_kit_is_not_written_over(tmp_path, name):
    (tmp_path / name).write_text("%PDF-1.3, of somebody else")
    done = CliRunner().invoke(kit, ["-o", str(tmp_path / name)])
    assert (done.exit_code, "is there already and is no kit: give -o another name" in done.output) == (1, True)
    assert (tmp_path / name).read_text() == "%PDF-1.3, of somebody else"


def test_a_kit_is_written_over_the_one_before_and_over_an_empty_file(tmp_path):
    (tmp_path / "k.pdf").touch()
    for paper in ("a4", "letter"):
        assert CliRunner().invoke(kit, ["-o", str(tmp_path / "k.pdf"), "--paper", paper]).exit_code == 0


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("-", "the kit is written to a file, such as -o kit.pdf"),
        ("", "the kit is written to a file, such as -o kit.pdf"),
        ("kit.svg", "the kit is a PDF, which kit.svg does not"),
    ],
)
def test_the_kit_is_written_to_a_pdf_file(output, says):
    done = CliRunner().invoke(kit, ["-o", output])
    assert done.exit_code == 2
    assert says in done.output
