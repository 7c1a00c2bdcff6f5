"""The workshop's command line: how the program's networks are made from nothing.

``python -m calibration.training all FOLDER`` makes the recogniser,
``python -m calibration.training locator FOLDER`` the locator, and ``cards FOLDER`` the reader of cards. FOLDER keeps
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
from calibration.training.bundle import bundle, calibrate_anew
from calibration.training.card_network import Plan as CardPlan
from calibration.training.card_network import write_cards
from calibration.training.dataset import SHARD, Split, draw_shards
from calibration.training.export import restored
from calibration.training.locator import FURTHER, Plan, write_further, write_locator
from calibration.training.locator import draw as draw_tables
from calibration.training.network import Reader
from calibration.training.photographs import choose
from calibration.training.train import Course, Pile, batches, device, mixed, train

_TO_NORMALISE = 12
"""Steps' boards on which its normalisation is measured."""
MODELS = Path(companion.vision.__file__).parent / "models"
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
def tables(folder: Path, count: int, held: int, photographs: Path | None) -> None:
    """Draw whole pictures of tables into FOLDER; what is there already is kept."""
    drawn = draw_tables(folder, Plan(tables=count, held=held), photographs)
    for _ in track(drawn, description="tables", total=count + 2 * held):
        pass


@main.command()
@_folder
@click.option("--models", default=MODELS, type=click.Path(file_okay=False, path_type=Path), help="Where files go.")
@_photographs
@click.pass_context
def locator(context: click.Context, folder: Path, models: Path, photographs: Path | None) -> None:
    """The locator from nothing: draw, learn, choose thresholds, measure; about an hour on one core.

    With photographs: the one that the program has learns further, on tables that lie on them, for two hours.
    """
    torch.set_num_threads(1)
    models.mkdir(parents=True, exist_ok=True)

    def say(text: str) -> None:
        click.echo(text, err=True)

    if photographs is None:
        context.invoke(tables, folder=folder, count=Plan().tables, held=Plan().held)
        card = write_locator(folder, models, Plan(), say)
    else:
        lying = folder / "on-photographs"
        context.invoke(tables, folder=folder, count=0, held=Plan().held)
        context.invoke(tables, folder=lying, count=FURTHER.tables, held=FURTHER.held, photographs=photographs)
        card = write_further(MODELS, {"drawn": folder, "on photographs": lying}, photographs, models, say)
    click.echo(json.dumps(card["measured_on"], indent=2))


@main.command()
@_folder
@click.option("--models", default=MODELS, type=click.Path(file_okay=False, path_type=Path), help="Where files go.")
def cards(folder: Path, models: Path) -> None:
    """The reader of cards from nothing: draw, learn, choose thresholds, measure; some ninety minutes on one core."""
    torch.set_num_threads(1)
    models.mkdir(parents=True, exist_ok=True)
    card = write_cards(folder, models, CardPlan(), lambda text: click.echo(text, err=True))
    click.echo(json.dumps(card["measured_on"], indent=2))


def _report(steps: int) -> Any:
    def say(step: int, loss: float) -> None:
        click.echo(f"step {step} of {steps}: loss {loss:.4f}", err=True)

    return say


if __name__ == "__main__":
    main()
