"""A bridge between a game of Mijnlieff played with real pieces and a screen."""

from importlib.metadata import version

__version__ = version("mijnlieff-companion")
