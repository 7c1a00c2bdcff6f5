"""Truly lit pictures of drawn scenes, by Blender's path tracer: ``python -m calibration.training.raytrace``.

What `render` paints, light does here: bounces, soft shadows, gloss, engraved marks. ``test`` makes whole pictures of a
split of their own, which neither training nor any threshold sees, in 8 seconds of one core each, or 20; with
photographs they lie on these, in the light of real places (the probes that come with Blender). ``learn`` makes boards
for training, in 3. Needs the `bpy` wheel (``requirements/raytracing.txt``) and nothing else of Blender.
Truth is that of the painted scene, without hands.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy
import click
import cv2
import numpy as np
from rich.progress import track

from calibration.training.canvas import SHIFT, Canvas
from calibration.training.dataset import BOARD, SHARD, Split, Studio, write_shards
from calibration.training.ground import board_sheet, plate_outlines
from calibration.training.photograph import take
from calibration.training.photographs import any_of, of_split
from calibration.training.prisms import face_texture
from calibration.training.render import Photograph, marks_of, paint
from calibration.training.scene import CORNERS, SIDE, plain
from calibration.training.things import thing_texture
from calibration.training.truth import JUDGED, truth
from calibration.training.view import outline, thing_outline, turn
from companion.readings import ALL_CONTENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.random import Generator
    from numpy.typing import NDArray

    from calibration.textures import Fabrics, Texture
    from calibration.training.canvas import Floats, Points
    from calibration.training.scene import Placed, Scene
    from calibration.training.things import Thing
    from companion.rules import Kind

_SAMPLES = 24
_QUICK_SAMPLES = 8
_QUICK_SCALE = 60.0
"""Boards to learn from are traced with so many pixels a square at most, for their top view has forty."""
_WINDOW = 0.5
"""How often boards to learn from that are not varnished have a second light."""
_REFLECTED = 0.5
"""How often boards to learn from are varnished, and a second light is seen in the varnish."""
_TABLE = 30.0
"""Half the side of the table, in squares."""
_LAMP_WATTS = 4.0
_ENGRAVED = 0.012
"""Depth of an engraved mark, in squares."""
_BEVEL = 0.012
_PHOTOGRAPH = 1024
"""Side of a photograph on the table, in its pixels."""
_SPREAD = (5.0, 16.7)
"""Squares that it covers."""
_SENSOR_MM = 36.0
"""Blender's lenses have at least 1 mm: a sensor of 1 mm could not see as wide as some of the scenes do."""


class Stage:
    """One scene, built in Blender and photographed.

    `quick` is for training: grainier light, in a third of the time, and mostly from a window, too.
    """

    def __init__(self, canvas: Canvas, *, quick: bool = False) -> None:
        self._canvas, self._scene, self._quick = canvas, canvas.scene, quick
        self._varnish = float(canvas.rng.uniform(0.3, 1.0)) if quick and canvas.rng.random() < _REFLECTED else 0.0
        bpy.ops.wm.read_factory_settings(use_empty=True)
        self._stage = bpy.context.scene
        self._settings()

    def photograph(self, marks: dict[Kind, Floats]) -> NDArray[np.uint8]:
        """The finished picture, BGR."""
        self._lay_table()
        self._lay_plates()
        for piece in self._scene.placed:
            self._put(piece, marks[piece.kind])
        for thing in self._scene.things:
            self._strew(thing)
        self._lamps()
        self._room()
        self._camera()
        light = self._render()
        static = self._canvas.fabrics.static(self._canvas.rng, *light.shape[:2])
        return take(light, static, self._scene.lens)

    def _settings(self) -> None:
        stage = self._stage
        stage.render.engine = "CYCLES"
        stage.cycles.device, stage.cycles.samples, stage.cycles.use_denoising = "CPU", _SAMPLES, True
        if self._quick:
            stage.cycles.samples, stage.cycles.denoising_quality = _QUICK_SAMPLES, "FAST"
            stage.cycles.denoising_prefilter = "FAST"
            stage.render.resolution_percentage = round(100 * min(1.0, _QUICK_SCALE / self._scene.camera.scale))
        stage.cycles.max_bounces, stage.cycles.seed = 4, 1
        stage.render.threads_mode, stage.render.threads = "FIXED", 1
        stage.render.resolution_x, stage.render.resolution_y = self._canvas.view.width, self._canvas.view.height
        stage.view_settings.view_transform = "Raw"
        stage.render.image_settings.file_format = "OPEN_EXR"
        stage.render.image_settings.color_depth = "32"

    def _lay_table(self) -> None:
        canvas = self._canvas
        cloth = canvas.fabrics.table(canvas.rng, 512)
        zoom = canvas.rng.uniform(1.5, 6.0)
        self._spread_table(cloth, canvas.rng.uniform(0, 0.4), zoom / SIDE, np.zeros(2))

    def _spread_table(self, cloth: Texture, gloss: float, fineness: float, start: Points) -> None:
        """The table under a cloth that lies `fineness` times in a square, from `start` on."""
        around = np.array([[-_TABLE, -_TABLE], [_TABLE, -_TABLE], [_TABLE, _TABLE], [-_TABLE, _TABLE]]) + SIDE / 2
        top = self._material("table", cloth, gloss=gloss)
        self._prism("table", around, (-self._scene.board.thickness - 1, -self._scene.board.thickness),
                    (top, top), around * fineness + start)  # fmt: skip

    def _lay_plates(self) -> None:
        canvas, board = self._canvas, self._scene.board
        plates = plate_outlines(canvas)
        sheet, _ = board_sheet(canvas, plates)
        top = self._material("board", sheet, gloss=max(board.gloss, self._varnish))
        wall = self._material("board edge", np.full((2, 2, 3), board.edge, np.float32), gloss=0.0)
        for i, plate in enumerate(plates):
            flat = canvas.flat(plate) / (1 << SHIFT) + 0.5
            on_sheet = np.column_stack([flat[:, 0], canvas.side - flat[:, 1]]) / canvas.side
            self._prism(f"plate {i}", plate, (-board.thickness, 0.0), (top, wall), on_sheet)

    def _put(self, piece: Placed, drawn: Floats) -> None:
        pieces, canvas = self._scene.pieces, self._canvas
        body = pieces.bodies[piece.colour]
        base = -self._scene.board.thickness if piece.square is None else 0.0
        texture = face_texture(canvas, piece, drawn)
        name = f"piece {len(bpy.data.objects)}"
        depth = (
            None
            if pieces.blank or piece.face_down or not body.relief
            else np.asarray(cv2.resize(drawn, texture.shape[:2]), np.float32)
        )
        gloss = max(body.gloss, self._varnish)
        top = self._material(name, texture, gloss=gloss, depth=depth)
        wall = self._material(name + " edge", np.full((2, 2, 3), body.edge, np.float32), gloss=gloss)
        rim = outline(pieces, piece)
        local = (rim - (piece.x, piece.y)) @ turn(piece.turn) / (2 * pieces.half) + 0.5
        self._prism(name, rim, (base, base + pieces.height), (top, wall), local, bevel=_BEVEL)

    def _strew(self, thing: Thing) -> None:
        """Lay something on the board that is no piece."""
        name, gloss = f"thing {len(bpy.data.objects)}", float(self._canvas.rng.uniform(0, 1))
        top = self._material(name, thing_texture(self._canvas.rng, thing), gloss=gloss)
        wall = self._material(name + " edge", np.full((2, 2, 3), thing.colour, np.float32), gloss=gloss)
        rim = thing_outline(thing)
        local = (rim - (thing.x, thing.y)) @ turn(thing.turn) / (2 * thing.half) + 0.5
        self._prism(name, rim, (0.0, thing.height), (top, wall), local, bevel=_BEVEL)

    def _prism(
        self, name: str, rim: Points, heights: tuple[float, float], stuffs: tuple[Any, Any], on_image: Points,
        *, bevel: float = 0.0,
    ) -> None:  # fmt: skip
        """A right prism over a counter-clockwise outline; `on_image` places its top on the top's texture, 0 to 1."""
        count = len(rim)
        points = [(float(x), float(y), z) for z in heights for x, y in rim]
        faces = [tuple(range(count, 2 * count)), tuple(reversed(range(count)))]
        faces += [(i, (i + 1) % count, count + (i + 1) % count, count + i) for i in range(count)]
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(points, [], faces)
        for stuff in stuffs:
            mesh.materials.append(stuff)
        layer = mesh.uv_layers.new()
        for face in mesh.polygons:
            face.material_index = 0 if face.index == 0 else 1
            for at, corner in zip(face.loop_indices, face.vertices, strict=True):
                layer.data[at].uv = on_image[corner % count].tolist()
        thing = bpy.data.objects.new(name, mesh)
        self._stage.collection.objects.link(thing)
        if bevel:
            rounding = thing.modifiers.new("bevel", "BEVEL")
            rounding.width, rounding.segments, rounding.limit_method = bevel, 2, "ANGLE"

    def _material(self, name: str, albedo: Any, *, gloss: float, depth: Floats | None = None) -> Any:
        """Something of this albedo, coded as square roots; `depth` from 0 to 1 is carved into it."""
        stuff = bpy.data.materials.new(name)
        stuff.use_nodes = True
        nodes, links = stuff.node_tree.nodes, stuff.node_tree.links
        shader = nodes["Principled BSDF"]
        seen = nodes.new("ShaderNodeTexImage")
        seen.image, seen.extension = (
            _image(name, np.square(np.asarray(albedo, np.float32) / 255, dtype=np.float32)),
            "MIRROR",
        )
        links.new(seen.outputs["Color"], shader.inputs["Base Color"])
        shader.inputs["Roughness"].default_value = 0.75 - 0.5 * float(gloss)
        shader.inputs["Specular IOR Level"].default_value = 0.15 + 0.35 * float(gloss)
        if depth is not None:
            carved, bump = nodes.new("ShaderNodeTexImage"), nodes.new("ShaderNodeBump")
            carved.image = _image(name + " depth", np.repeat(1 - depth[..., None], 3, axis=2))
            bump.inputs["Distance"].default_value, bump.inputs["Strength"].default_value = _ENGRAVED, 1.0
            links.new(carved.outputs["Color"], bump.inputs["Height"])
            links.new(bump.outputs["Normal"], shader.inputs["Normal"])
        return stuff

    def _lamps(self) -> None:
        """The scene's lamp; where training is to see more, mostly a window shares its work."""
        light, rng = self._scene.light, self._canvas.rng
        share = float(rng.uniform(0.1, 0.7)) if self._quick and (self._varnish or rng.random() < _WINDOW) else 0.0
        colour = np.array(light.lamp_colour)
        self._lamp(np.array(light.lamp), colour * (1 - share), light.softness)
        if share:
            tint = colour.mean() * np.exp(rng.normal(0, 0.12, 3)) * share
            at, largest = (self._reflected(), 0.4) if self._varnish else (self._anywhere(), 1.0)
            self._lamp(at, tint, rng.uniform(0.1, largest))

    def _anywhere(self) -> NDArray[np.floating]:
        rng = self._canvas.rng
        angle, low = rng.uniform(0, 2 * np.pi), rng.uniform(0.15, 1.2)
        way = np.array([np.cos(angle) * np.cos(low), np.sin(angle) * np.cos(low), np.sin(low)])
        return (SIDE / 2, SIDE / 2, 0) + way * rng.uniform(8, 40)

    def _reflected(self) -> NDArray[np.floating]:
        """Where the camera sees a light mirrored in some place of the board."""
        rng, camera = self._canvas.rng, np.array(self._canvas.view.position)
        mirror = np.array([*rng.uniform(0, SIDE, 2), 0.0])
        way = (mirror - camera) * (1, 1, -1)
        return np.asarray(mirror + way / np.linalg.norm(way) * rng.uniform(8, 40))

    def _lamp(self, place: NDArray[np.floating], colour: NDArray[np.floating], softness: float) -> None:
        """A round lamp that shines upon the middle of the board, as bright there wherever it hangs."""
        away = float(np.linalg.norm(place - (SIDE / 2, SIDE / 2, 0)))
        lamp = bpy.data.lights.new("lamp", "AREA")
        lamp.shape, lamp.size = "DISK", max(0.05, softness * away * 0.5)
        strength = colour[::-1]
        lamp.energy = _LAMP_WATTS * np.pi * away**2 * float(strength.max())
        lamp.color = (strength / strength.max()).tolist()
        thing = bpy.data.objects.new("lamp", lamp)
        thing.location = place.tolist()
        from mathutils import Vector  # noqa: PLC0415 - comes with bpy, once that is imported

        thing.rotation_euler = Vector((SIDE / 2, SIDE / 2, 0.0) - place).to_track_quat("-Z", "Y").to_euler()
        self._stage.collection.objects.link(thing)

    def _room(self) -> None:
        room = bpy.data.worlds.new("room")
        room.use_nodes = True
        colour = (*self._scene.light.room_colour[::-1], 1.0)
        room.node_tree.nodes["Background"].inputs["Color"].default_value = colour
        self._stage.world = room

    def _camera(self) -> None:
        """A pinhole with the same projection as the painted picture's; `RuntimeError` if Blender has made another."""
        view = self._canvas.view
        rotation, focal, centre = view.lens()
        camera = bpy.data.cameras.new("camera")
        camera.sensor_fit, camera.sensor_width = "HORIZONTAL", _SENSOR_MM
        camera.lens = _SENSOR_MM * focal / view.width
        camera.shift_x = (view.width / 2 - centre[0]) / view.width
        camera.shift_y = (centre[1] - view.height / 2) / view.width
        thing = bpy.data.objects.new("camera", camera)
        matrix = np.eye(4)
        matrix[:3, :3] = rotation.T @ np.diag([1, -1, -1])
        matrix[:3, 3] = view.position
        thing.matrix_world = matrix.T.tolist()
        self._stage.collection.objects.link(thing)
        self._stage.camera = thing
        self._check_projection(thing)

    def _check_projection(self, camera: Any) -> None:
        """Truth is that of the painted scene: a corner that is seen elsewhere would make it wrong, silently."""
        from bpy_extras.object_utils import world_to_camera_view  # noqa: PLC0415 - comes with bpy, as below
        from mathutils import Vector  # noqa: PLC0415

        view = self._canvas.view
        bpy.context.view_layer.update()
        shares = np.array([world_to_camera_view(self._stage, camera, Vector((x, y, 0.0)))[:2] for x, y in CORNERS])
        seen = (shares * (1, -1) + (0, 1)) * (view.width, view.height)
        if np.abs(seen - view.project(CORNERS, 0.0)).max() > 1:
            msg = f"Blender sees the corners at {seen.round(1).tolist()}, not where the scene has them"
            raise RuntimeError(msg)

    def _render(self) -> Floats:
        """The linear light that reaches the lens, BGR."""
        bpy.context.scene.render.filepath = str(Path(bpy.app.tempdir) / "light.exr")
        bpy.ops.render.render(write_still=True)
        file = bpy.data.images.load(bpy.context.scene.render.filepath)
        width, height = file.size
        pixels = np.empty(width * height * 4, np.float32)
        file.pixels.foreach_get(pixels)
        light = np.ascontiguousarray(pixels.reshape(height, width, 4)[::-1, :, 2::-1])
        return np.asarray(cv2.resize(light, (self._canvas.view.width, self._canvas.view.height)), np.float32)


class RealStage(Stage):
    """One scene in the light of a real place, as a probe has measured it from all sides, on a real photograph."""

    def __init__(self, canvas: Canvas, photographs: Sequence[Path], rng: Generator) -> None:
        super().__init__(canvas)
        self._photographs, self._rng = photographs, rng

    def _lay_table(self) -> None:
        rng = self._rng
        photograph = any_of(self._photographs, rng)
        side = min(photograph.shape[:2])
        y, x = (int(rng.integers(0, size - side + 1)) for size in photograph.shape[:2])
        part = photograph[y : y + side, x : x + side]
        cloth = np.asarray(cv2.resize(part, (_PHOTOGRAPH, _PHOTOGRAPH), interpolation=cv2.INTER_AREA), np.uint8)
        self._spread_table(cloth, float(rng.uniform(0, 0.4)), 1 / float(rng.uniform(*_SPREAD)), rng.uniform(0, 1, 2))

    def _lamps(self) -> None:
        """The place has its own."""

    def _room(self) -> None:
        probes = sorted((Path(bpy.utils.resource_path("LOCAL")) / "datafiles/studiolights/world").glob("*.exr"))
        room = bpy.data.worlds.new("room")
        room.use_nodes = True
        nodes, links = room.node_tree.nodes, room.node_tree.links
        light, place, lie = (nodes.new(f"ShaderNode{kind}") for kind in ("TexEnvironment", "TexCoord", "Mapping"))
        light.image = bpy.data.images.load(str(probes[int(self._rng.integers(len(probes)))]))
        lie.inputs["Rotation"].default_value = (0, 0, float(self._rng.uniform(0, 2 * np.pi)))
        links.new(place.outputs["Generated"], lie.inputs["Vector"])
        links.new(lie.outputs["Vector"], light.inputs["Vector"])
        links.new(light.outputs["Color"], nodes["Background"].inputs["Color"])
        self._stage.world = room


def _image(name: str, linear: Floats) -> Any:
    """An image of Blender's from BGR rows, top row first."""
    height, width = linear.shape[:2]
    image = bpy.data.images.new(name, width, height, float_buffer=True, is_data=True)
    rgba = np.ones((height, width, 4), np.float32)
    rgba[..., :3] = linear[::-1, :, ::-1]
    image.pixels.foreach_set(rgba.ravel())
    return image


def trace(rng: Generator, scene: Scene, fabrics: Fabrics, stage: Callable[[Canvas], Stage] = Stage) -> Photograph:
    """Take a truly lit picture of `scene`, which must have no hands, on a `stage`; `rng` draws grain and noise."""
    canvas = Canvas(rng, scene, fabrics)
    marks = marks_of(scene.pieces)
    picture = stage(canvas).photograph(marks)
    paint(canvas, marks)
    targets, weights = truth(canvas, picture, marks)
    return Photograph(picture, canvas.view.project(CORNERS, 0.0), targets, weights)


def _trace_quickly(rng: Generator, scene: Scene, fabrics: Fabrics) -> Photograph:
    return trace(rng, replace(scene, hands=0), fabrics, partial(Stage, quick=True))


def _told(photo: Photograph, scene: Scene) -> dict[str, Any]:
    """The truth of a picture, in the words of ``companion read --json``."""
    names = [str(square) for square in BOARD.squares]
    words = ["." if content is None else str(content) for content in ALL_CONTENTS]
    return {
        "family": scene.pieces.family.value,
        "plain": plain(scene),
        "corners": {
            name: corner.round(2).tolist() for name, corner in zip(("a1", "d1", "d4", "a4"), photo.corners, strict=True)
        },
        "squares": {
            n: [w for w, share in zip(words, row, strict=False) if share]
            for n, row in zip(names, photo.targets, strict=True)
        },
        "hidden": [name for name, weight in zip(names, photo.weights, strict=True) if weight < JUDGED],
    }


_folder = click.argument("folder", type=click.Path(file_okay=False, path_type=Path))


@click.group()
def main() -> None:
    """Trace scenes with Blender's path tracer, on one core."""
    cv2.setNumThreads(1)


@main.command()
@_folder
@click.option("--pictures", default=60, show_default=True)
@click.option("--photographs", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="To lay the boards on, in the light of real places.")  # fmt: skip
def test(folder: Path, pictures: int, photographs: Path | None) -> None:
    """Trace PICTURES scenes into FOLDER, with their `truth.jsonl`; what is there already is kept."""
    folder.mkdir(parents=True, exist_ok=True)
    studio = Studio(Split.TRACED)
    seen = of_split(photographs, Split.TEST) if photographs else []
    for number in track(range(pictures), description="tracing"):
        path = folder / f"traced_{number:04d}.jpg"
        if path.exists():
            continue
        scene = replace(studio.scene(number), hands=0)
        chance, another = (np.random.default_rng((Split.TRACED.value, part, number)) for part in (2, 3))
        stage = partial(RealStage, photographs=seen, rng=another) if photographs else Stage
        photo = trace(chance, scene, studio.fabrics, stage)
        with (folder / "truth.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"image": path.name} | _told(photo, scene)) + "\n")
        cv2.imwrite(str(path), photo.image, [cv2.IMWRITE_JPEG_QUALITY, 95])


@main.command()
@_folder
@click.option("--boards", default=3_000, show_default=True)
@click.option("--first", default=0, show_default=True, help="Number of the first one, for work in several parts.")
def learn(folder: Path, boards: int, first: int) -> None:
    """Trace BOARDS boards for training into FOLDER, in shards; what is there already is kept."""
    if first % SHARD:
        raise click.BadParameter(f"shards begin at multiples of {SHARD}", param_hint="--first")
    shards = write_shards(folder, Split.LIT, range(first, first + boards), _trace_quickly)
    for _ in track(shards, description="tracing", total=-(-boards // SHARD)):
        pass


if __name__ == "__main__":
    main()
