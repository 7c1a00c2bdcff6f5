"""The workshop's command line: how the program's networks are made from nothing.

``python -m calibration.training all FOLDER`` makes the recogniser, ``locator FOLDER`` the locator, and ``cards
FOLDER`` the reader of cards. ``head FOLDER`` and then ``sets FOLDER`` teach it filled marks and knots. FOLDER keeps
what is drawn.
"""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import cv2
import torch
from rich.progress import track

import companion.vision
from calibration.training.bundle import bundle, calibrate_anew, write_head
from calibration.training.card_network import Plan as CardPlan
from calibration.training.card_network import write_cards
from calibration.training.dataset import SHARD, Split, draw_shards
from calibration.training.export import restored, restored_head
from calibration.training.head import TAUGHT, Lesson, Seen, teach
from calibration.training.locator import CARD, JUDGE, ON_PHOTOGRAPHS, POINTER, Further, Plan, write_locator
from calibration.training.locator import draw as draw_tables
from calibration.training.locator import learn as learn_locator
from calibration.training.locator import suggest as suggested
from calibration.training.network import Reader
from calibration.training.photographs import choose
from calibration.training.tensors import device
from calibration.training.train import Course, Pile, batches, mixed, train
from companion.vision.rule import FinderRule

_TO_NORMALISE = 12
"""Steps' boards on which its normalisation is measured."""
MODELS = Path(companion.vision.__file__).parent / "models"
_file = click.Path(exists=True, dir_okay=False, path_type=Path)
_folder = click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
_scenes = click.option("--scenes", default=40_000, show_default=True, help="Boards to train on.")
_held = click.option(
    "--held", default=8_000, show_default=True, help="Boards to calibrate on, and an eighth as many to test on."
)
_photographs = click.option(
    "--photographs", type=click.Path(exists=True, file_okay=False, path_type=Path), help="To lay tables on."
)
_steps = click.option("--steps", default=50_000, show_default=True, help="Steps of training.")
_jobs = click.option("--jobs", default=1, show_default=True, help="Processes that draw, or judge.")


@click.group()
def main() -> None:
    """Draw boards and tables, train the recogniser and the locator on them, calibrate, and write their files."""
    cv2.setNumThreads(1)


@main.command()
@_folder
@_scenes
@_held
@_jobs
def draw(folder: Path, scenes: int, held: int, jobs: int) -> None:
    """Draw the boards of all three splits into FOLDER; what is there already is kept."""
    _draw(folder, Split.TRAIN, scenes, jobs)
    _draw_held(folder, held, jobs)


def _draw(folder: Path, split: Split, count: int, jobs: int) -> None:
    shards = draw_shards(folder, split, count, jobs)
    for _ in track(shards, description=split.name.lower(), total=-(-count // SHARD)):
        pass


def _draw_held(folder: Path, held: int, jobs: int) -> None:
    _draw(folder, Split.CALIBRATE, held, jobs)
    _draw(folder, Split.TEST, held // 8, jobs)


@main.command()
@_folder
@_steps
@click.option("--boards", default=Course(0).boards, show_default=True, help="Boards in one step.")
@click.option("--rate", default=Course(0).rate, show_default=True, help="Of learning, at its highest.")
@click.option("--seed", default=Course(0).seed, show_default=True)
@click.option("--lit", default=Course(0).lit, show_default=True, help="Share of boards that were lit by `raytrace`.")
@click.option("--further", is_flag=True, help="Begin with the recogniser that the program has.")
@click.option("--new", default=0.8, show_default=True, help="Of a recogniser that was trained further, so much is new.")
def learn(folder: Path, steps: int, boards: int, rate: float, seed: int, lit: float, further: bool, new: float) -> None:
    """Train on the boards in FOLDER, drawn ones and lit ones if there are any, and keep the weights there.

    Boards that are drawn into FOLDER meanwhile are learnt from, too. With an accelerator that is where it is done.
    """
    course = Course(steps, boards, rate, seed, lit)
    try:
        pile = Pile(folder, course)
    except FileNotFoundError as error:
        raise click.ClickException(str(error)) from error
    begun = _shipped(pile, course) if further else None
    reader = train(pile, course, _report(steps), copy.deepcopy(begun))
    traced = int(pile.known.lit.sum())
    kept: dict[str, Any] = {"boards": {"drawn": len(pile) - traced, "traced": traced}, "seed": seed, "rate": rate}
    kept |= {"steps": f"{steps} of {boards} boards"}
    if begun is not None:
        some = batches(pile, replace(course, steps=_TO_NORMALISE, hard=0.0))
        reader = mixed(begun, reader, new, (seen for _, seen, *_ in some))
        kept |= {"share": new, "after": json.loads((MODELS / "pieces.json").read_text("utf-8"))["trained_on"]}
    torch.save(kept | {"weights": reader.cpu().state_dict()}, folder / "reader.pt")


@main.command()
@_folder
@click.option("--scenes", default=2_500, show_default=True, help="Boards of all kinds to hold on to.")
@click.option("--new", default=2_500, show_default=True, help="Boards of each sort that is new.")
@click.option("--steps", default=Lesson().steps, show_default=True, help="Steps of training.")
@click.option("--seed", default=Lesson().seed, show_default=True)
@click.option(
    "--rest", type=_file, help="An older head, of which the rest is that has not learnt. Else the one that was."
)
@_jobs
def head(folder: Path, scenes: int, new: int, steps: int, seed: int, rest: Path | None, jobs: int) -> None:
    """Teach the head alone what filled marks and knots are; of others it says what it said. Then make its `sets` anew.

    The backbone stays, and with it all that was enrolled. It takes half an hour on one core.
    """
    _draw(folder, Split.TRAIN, scenes, jobs)
    for split in TAUGHT:
        _draw(folder, split, new, jobs)
    reader = _shipped(Pile(folder, Course(1)), Course(1, seed=seed)).eval()
    lesson = Lesson(steps, seed=seed)
    known = Seen.of(reader, folder, Split.TRAIN, lesson)
    sorts = {split.name.lower(): Seen.of(reader, folder, split, lesson) for split in TAUGHT}
    older = None if rest is None else restored_head(rest.read_bytes()).to(device())
    taught = teach(reader, Seen.together(sorts.values()), known, lesson, _report(steps), older).cpu()
    count = {sort: len(seen.targets) // lesson.looks for sort, seen in {"drawn": known, **sorts}.items()}
    about = {
        "boards": count,
        "steps": f"{steps} of {lesson.boards} looks",
        "seed": seed,
        "rate": lesson.rate,
        "share": lesson.share,
    }
    write_head(taught, MODELS, about if rest is None else about | {"rest": rest.stem})


def _shipped(pile: Pile, course: Course) -> Reader:
    _, seen, *_ = next(batches(pile, replace(course, boards=64, steps=1, hard=0.0)))
    backbone, head = ((MODELS / name).read_bytes() for name in ("backbone.onnx", "head.npz"))
    return restored(backbone, head, seen.cpu()).to(device())


@main.command(name="bundle")
@_folder
@click.option("--models", default=MODELS, type=click.Path(file_okay=False, path_type=Path), help="Where files go.")
@_jobs
def write(folder: Path, models: Path, jobs: int) -> None:
    """Export the weights in FOLDER, calibrate and measure the sets, and write the card."""
    weights = folder / "reader.pt"
    if not weights.exists():
        raise click.ClickException(f"{weights} is not there; make it with `learn {folder}`")
    kept = torch.load(weights)
    reader = Reader().eval()
    reader.load_state_dict(kept.pop("weights"))
    models.mkdir(parents=True, exist_ok=True)
    try:
        card = bundle(reader, folder, models, kept, jobs)
    except FileNotFoundError as error:
        raise click.ClickException(str(error)) from error
    click.echo(json.dumps(card["measured_on"], indent=2))


@main.command()
@_folder
@_held
@_jobs
def sets(folder: Path, held: int, jobs: int) -> None:
    """Calibrate and measure anew what the recogniser that the program has may rule out: an hour on one core."""
    _draw_held(folder, held, jobs)
    click.echo(json.dumps(calibrate_anew(folder, MODELS, jobs)["measured_on"], indent=2))


@main.command(name="all")
@_folder
@_scenes
@_held
@_steps
@_jobs
@click.pass_context
def everything(context: click.Context, folder: Path, scenes: int, held: int, steps: int, jobs: int) -> None:
    """Everything from nothing: draw, learn, bundle; some five hours on two cores, and 6 GB of memory."""
    context.invoke(draw, folder=folder, scenes=scenes, held=held, jobs=jobs)
    context.invoke(learn, folder=folder, steps=steps)
    context.invoke(write, folder=folder, models=MODELS, jobs=jobs)


@main.command()
@click.argument("unpacked", type=click.Path(exists=True, file_okay=False, path_type=Path))
@_folder
def photographs(unpacked: Path, folder: Path) -> None:
    """Put what photographs there are below UNPACKED, one folder a package, into FOLDER: see scripts/photographs.sh."""
    click.echo(f"{choose(unpacked, folder)} photographs")


@main.command()
@_folder
@click.option("--count", default=Plan().tables, show_default=True, help="Tables to train on.")
@click.option("--held", default=Plan().held, show_default=True, help="To choose thresholds on, and as many to test on.")
@_photographs
@_jobs
def tables(folder: Path, count: int, held: int, photographs: Path | None, jobs: int) -> None:
    """Draw whole pictures of tables into FOLDER; what is there already is kept. On photographs: below FOLDER."""
    place = folder if photographs is None else folder / ON_PHOTOGRAPHS
    for _ in track(draw_tables(place, Plan(tables=count, held=held), photographs, jobs), description="tables"):
        pass


def _learning(course: Course, which: str, what: str) -> click.Command:
    """The command that trains one network of the locator."""

    @click.command(help=f"Train {what} on the tables in FOLDER, and keep it there; with an accelerator, on that.")
    @_folder
    @_photographs
    @click.option("--steps", default=course.steps, show_default=True, help="Steps of training.")
    @click.option("--pictures", default=course.boards, show_default=True, help="Pictures in one step.")
    @click.option("--rate", default=course.rate, show_default=True, help="Of learning, at its highest.")
    @click.option("--seed", default=course.seed, show_default=True)
    @click.option("--most", default=Plan().tables, show_default=True, help="Pictures that are learnt from; 1 MB each.")
    @click.option("--further", is_flag=True, help="Begin with the one that the program has.")
    @click.option("--new", default=1.0, show_default=True, help="Of one that was trained further, so much is new.")
    def command(
        folder: Path,
        photographs: Path | None,
        steps: int,
        pictures: int,
        rate: float,
        seed: int,
        most: int,
        further: bool,
        new: float,
    ) -> None:
        asked = replace(course, steps=steps, boards=pictures, rate=rate, seed=seed)
        try:
            learn_locator(folder, asked, which, photographs, most, _say, Further(MODELS, new) if further else None)
        except FileNotFoundError as error:
            raise click.ClickException(str(error)) from error

    return command


main.add_command(_learning(Plan().pointer, POINTER, "the locator's pointer"), "pointer")
main.add_command(_learning(Plan().judge, JUDGE, "the locator's judge"), "judge")


@main.command()
@_folder
@_jobs
def suggest(folder: Path, jobs: int) -> None:
    """Write down where the pointer in FOLDER suggests a board in its tables: the judge learns from that, too."""
    pointer = folder / POINTER
    if not pointer.exists():
        raise click.ClickException(f"{pointer} is not there; make it with `pointer {folder}`")
    for _ in track(suggested(folder, pointer.read_bytes(), jobs), description="suggestions"):
        pass


@main.command()
@_folder
@click.option("--models", default=MODELS, type=click.Path(file_okay=False, path_type=Path), help="Where files go.")
@click.option("--keep-rule", is_flag=True, help="Keep the thresholds that the program has.")
@_photographs
@_jobs
@click.pass_context
def locator(
    context: click.Context, folder: Path, models: Path, keep_rule: bool, photographs: Path | None, jobs: int
) -> None:
    """The locator: draw, learn, choose thresholds, measure; what FOLDER has is kept. Takes minutes on an accelerator.

    With photographs, as many tables again lie on them.
    """
    torch.set_num_threads(1)
    models.mkdir(parents=True, exist_ok=True)
    for lying in (None, photographs) if photographs else (None,):
        context.invoke(tables, folder=folder, count=Plan().tables, held=Plan().held, photographs=lying, jobs=jobs)
    most = Plan().tables * (3 if photographs else 1)
    for which, course in ((POINTER, Plan().pointer), (JUDGE, Plan().judge)):
        if not (folder / which).exists():
            learn_locator(folder, course, which, photographs, most, _say)
        if which == POINTER:
            context.invoke(suggest, folder=folder, jobs=jobs)
    rule = FinderRule.of_card(json.loads((MODELS / CARD).read_text("utf-8"))) if keep_rule else None
    card = write_locator(folder, models, jobs, _say, rule)
    click.echo(json.dumps(card["measured_on"], indent=2))


def _say(text: str) -> None:
    click.echo(text, err=True)


@main.command()
@_folder
@click.option("--models", default=MODELS, type=click.Path(file_okay=False, path_type=Path), help="Where files go.")
def cards(folder: Path, models: Path) -> None:
    """The reader of cards from nothing: draw, learn, choose thresholds, measure; some ninety minutes on one core."""
    torch.set_num_threads(1)
    models.mkdir(parents=True, exist_ok=True)
    card = write_cards(folder, models, CardPlan(), _say)
    click.echo(json.dumps(card["measured_on"], indent=2))


def _report(steps: int) -> Any:
    def say(step: int, loss: float) -> None:
        click.echo(f"step {step} of {steps}: loss {loss:.4f}", err=True)

    return say


if __name__ == "__main__":
    main()
