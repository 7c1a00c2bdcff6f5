"""The options of commands that look at a board or referee a game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import click
from click.core import ParameterSource

from companion.commands.corners import Corners
from companion.profile import Profile
from companion.rules import MOST_SETS, FirstMove, Layout, LayoutError, Variant

if TYPE_CHECKING:
    from collections.abc import Callable

GREEN_BOX = "green-box"


def is_given(option: str) -> bool:
    """Whether somebody wrote this option: its value is neither the default nor out of a profile."""
    return click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE


class WholeNumber(click.IntRange):
    """A whole number of a range, told as one where it is none."""

    name = "whole number"


class LayoutType(click.ParamType[Any]):
    """A layout's name or drawing."""

    name = "layout"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The layout, or wrong usage."""
        if isinstance(value, Layout):
            return value
        try:
            return Layout.parse(value)
        except LayoutError as error:
            self.fail(str(error), param, ctx)


def profile_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option --profile, given to the command as `profile`; --layout, --variant and --corners default to its own."""

    def use(ctx: click.Context, _: click.Parameter, paths: tuple[str, ...]) -> Profile | None:
        if not paths:
            return None
        if len(paths) > 1:
            raise click.UsageError(
                "--profile is given twice; one file has to tell everything: calibrate enrol and calibrate lens add to "
                "the one that --profile names"
            )
        known = Profile.read(paths[0])
        corners = Corners(known.corners, paths[0], known.layout) if known.corners else None
        given = {"layout": known.layout, "variant": known.variant, "corners": corners}
        ctx.default_map = {**(ctx.default_map or {}), **given}
        return known

    return click.option(
        "--profile",
        metavar="FILE",
        multiple=True,
        is_eager=True,
        callback=use,
        help="What calibration has learnt of this set and camera; other options go before it.",
    )(command)


def layout_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option --layout, given to the command as `layout`."""
    return click.option(
        "--layout",
        type=LayoutType(),
        default="4x4",
        show_default=True,
        help="The board: a name, or rows of # and . from the far side, joined by /.",
    )(command)


def game_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a match: --first, --layout, --sets and --variant."""
    for option in (
        variant_option,
        sets_option,
        layout_option,
        click.option(
            "--first",
            type=click.Choice(get_args(FirstMove)),
            default="outside",
            show_default=True,
            help="Where the first piece may go.",
        ),
    ):
        command = option(command)
    return command


def sets_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option --sets, given to the command as `sets`."""
    return click.option(
        "--sets", type=WholeNumber(1, MOST_SETS), help="Sets of pieces in play. [default: as the board needs]"
    )(command)


def variant_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option --variant, given to the command as `variant`."""
    return click.option(
        "--variant",
        type=click.Choice(get_args(Variant)),
        default="standard",
        show_default=True,
        help="green-box: plain cubes, whose kind is on a card beside the board.",
    )(command)
