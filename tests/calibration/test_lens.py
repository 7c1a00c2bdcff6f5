"""Measuring a lens from pictures of the printed target: a strong one is found, and bad pictures are refused."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from calibration.lens import LensError, Sighting, find_target, measure
from companion.commands.lens import lens
from companion.profile import Profile
from tests.calibration.drawn_targets import VIEWS, held, rays_to_corners, seen
from tests.vision.drawn_lens import SIZE, STRONG, thrown


def sightings(views=VIEWS, *, shake=0.05, lenses=(STRONG,), seed=4):
    """What is seen of the target in these views, through each lens in turn: its corners, each a little off."""
    rng = np.random.default_rng(seed)
    found = []
    for i, view in enumerate(views):
        corners = seen(view, lenses[i % len(lenses)])
        inside = ((corners > 4) & (corners < np.array(SIZE) - 5)).all(axis=1)
        corners = corners + rng.normal(0, shake, corners.shape)
        numbers = tuple(np.flatnonzero(inside).tolist())
        found.append(Sighting(f"{i}.jpg", SIZE, numbers, corners[inside]))
    return found


def refusal(found):
    with pytest.raises(LensError) as refused:
        measure(found)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_the_target_is_found_in_a_picture_to_a_tenth_of_a_pixel():
    sighting = find_target(held(VIEWS[2], STRONG), "a.jpg")
    assert len(sighting.numbers) == 35
    off = sighting.corners - seen(VIEWS[2], STRONG)[list(sighting.numbers)]
    assert np.linalg.norm(off, axis=1).max() < 0.25
    assert np.linalg.norm(off.mean(axis=0)) < 0.1


def test_nothing_is_found_in_a_picture_without_the_target():
    assert find_target(np.full((360, 640, 3), 90, np.uint8), "a.jpg").numbers == ()


def test_a_strong_lens_is_measured():
    measured = measure(sightings())
    model = measured.model
    assert measured.pictures == len(VIEWS)
    assert model.size == SIZE
    assert model.focal == pytest.approx(STRONG.focal, rel=0.005)
    assert model.centre == pytest.approx(STRONG.centre, abs=2)
    assert model.error < 0.1
    across, down = np.meshgrid(np.linspace(-0.6, 0.6, 9), np.linspace(-0.35, 0.35, 7))
    rays = np.stack([across.ravel(), down.ravel()], axis=1)
    assert np.linalg.norm(thrown(rays, model) - thrown(rays, STRONG), axis=1).max() < 1.5
    assert measured.bend > 20


def test_too_few_pictures_of_the_target_are_refused_with_those_that_do_not_show_it():
    found = sightings()
    few = [*found[:4], Sighting("dark.jpg", SIZE, (), np.zeros((0, 2)))]
    said = refusal(few)
    assert said.startswith("4 of 5 pictures show the lens target well enough, at least 6 are needed")
    assert said.endswith("in dark.jpg")
    assert refusal(found[:3]).endswith("take ten")


def test_pictures_of_several_sizes_are_refused_by_name():
    found = sightings()
    found[3] = Sighting("3.jpg", (1280, 720), found[3].numbers, found[3].corners)
    assert "0.jpg is 640 x 360 pixels and 3.jpg 1280 x 720" in refusal(found)


def test_the_same_view_again_and_again_is_refused():
    assert "show only 2 different views" in refusal(sightings([VIEWS[0], VIEWS[1]] * 4))


def test_a_target_that_was_held_in_the_middle_only_is_refused():
    far = [(*view[:3], 0.2 * view[3], 0.2 * view[4], 2.2 * view[5]) for view in VIEWS]
    assert "hold it nearer, and also into the picture's corners" in refusal(sightings(far))


WEAK = STRONG.model_copy(update={"distortion": (-0.05, 0.01, 0.0, 0.0, 0.0)})


@pytest.mark.parametrize("lens", [STRONG, WEAK], ids=["strong", "weak"])
@pytest.mark.parametrize("tilt", [0, 0.3, 1])
@pytest.mark.parametrize("shake", [0.02, 0.05, 0.1, 0.2])
def test_a_target_that_was_hardly_tilted_is_refused(lens, tilt, shake):
    tilts = np.random.default_rng(1).normal(0, tilt, (9, 2))
    flat = [(*tilts[i], 90 * (i % 2), 75 * (i % 3) - 75, 40 * (i % 2) - 20, 260 + 12 * i) for i in range(9)]
    said = refusal(sightings(flat, shake=shake, lenses=[lens]))
    assert "too alike to tell what the lens does: tilt the target more" in said


def zoomed(factor):
    return STRONG.model_copy(update={"focal": (STRONG.focal[0] * factor, STRONG.focal[1] * factor)})


@pytest.mark.parametrize("factor", [1.1, 1.15, 1.25])
@pytest.mark.parametrize("shake", [0.05, 0.2])
def test_pictures_of_two_cameras_are_refused(factor, shake):
    said = refusal(sightings(shake=shake, lenses=[STRONG, zoomed(factor)]))
    assert "no one lens explains" in said


def test_one_picture_of_another_camera_is_named():
    said = refusal(sightings(lenses=[*[STRONG] * 3, zoomed(1.2), *[STRONG] * 6]))
    assert "no one lens explains them all, 3.jpg least: take all with one camera at one zoom" in said


@pytest.mark.parametrize("tilt", [15, 20, 30])
@pytest.mark.parametrize("shake", [0.05, 0.25])
@pytest.mark.parametrize("seed", range(4))
def test_pictures_as_people_take_them_are_not_refused(tilt, shake, seed):
    by_chance = np.random.default_rng(seed)
    ways = by_chance.normal(0, tilt, (12, 2)), by_chance.uniform((0, -120, -50, 280), (180, 120, 50, 400), (12, 4))
    views = [(*tilts, *place) for tilts, place in zip(*ways, strict=True)]
    assert measure(sightings(views, shake=shake, seed=seed)).model.focal == pytest.approx(STRONG.focal, rel=0.02)


def test_pictures_that_would_need_a_lens_which_nobody_could_make_are_refused(monkeypatch):
    fitted = cv2.calibrateCameraExtended

    def fitted_to_level_pictures(*given, **options):
        error, camera, _, *rest = fitted(*given, **options)
        return error, camera, np.array([0.9, -45692.06, 0.002, 0.001, 0.0]), *rest

    monkeypatch.setattr(cv2, "calibrateCameraExtended", fitted_to_level_pictures)
    assert "too alike to tell what the lens does: tilt the target more" in refusal(sightings())


def test_a_target_that_is_not_flat_is_refused():
    found = sightings()
    for sighting in found:
        sighting.corners[:] += 3 * np.sin(sighting.corners / 25)
    assert "no one lens explains these pictures" in refusal(found)


def test_who_has_a_fish_eye_is_told_what_else_may_be_the_matter():
    """Of an ideal one that shows 165 degrees from corner to corner: as far off the middle as the angle off the axis."""
    size, focal = np.array([1280, 960]), 560.0
    found = []
    for i, view in enumerate(VIEWS):
        rays = rays_to_corners((*view[:5], 0.35 * view[5]))
        off_axis = np.hypot(*rays.T)[:, None] + 1e-9
        corners = (size - 1) / 2 + focal * rays / off_axis * np.arctan(off_axis)
        inside = ((corners > 4) & (corners < size - 5)).all(axis=1)
        found.append(Sighting(f"{i}.jpg", (1280, 960), tuple(np.flatnonzero(inside).tolist()), corners[inside]))
    assert "the lens may be a fish-eye, which bends more than can be undone" in refusal(found)


def test_the_command_writes_a_profile_that_keeps_what_was_known(tmp_path):
    for i, view in enumerate(VIEWS):
        cv2.imwrite(str(tmp_path / f"{i}.png"), held(view, STRONG))
    Profile(name="kitchen").write(tmp_path / "old.json")
    pictures = [str(tmp_path / f"{i}.png") for i in range(len(VIEWS))]
    output = str(tmp_path / "new.json")
    done = CliRunner().invoke(lens, ["--profile", str(tmp_path / "old.json"), *pictures, "-o", output])
    assert done.exit_code == 0, done.output
    assert "knows the lens, from 10 pictures of 640 x 360" in done.output
    known = Profile.read(output)
    assert known.name == "kitchen"
    assert known.lens.focal == pytest.approx(STRONG.focal, rel=0.005)
