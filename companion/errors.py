"""Every error that this program raises on purpose, in one tree.

::

    CompanionError
    ├── RulesError (ValueError)         the game itself
    │   ├── LayoutError                 squares that 2x2 boards cannot tile, or an unknown layout name
    │   ├── NotationError               a text that is no move, pass or match; knows its line and column
    │   └── IllegalMoveError            a move that the rules refuse; knows the reason and the legal squares
    ├── ProfileError (ValueError)       a profile file with an unknown version or a bad field
    ├── SourceError (OSError)           a camera, file, folder or port that cannot be used
    │   ├── SourceSyntaxError           a text that names no source
    │   ├── WrongLoginError             a camera that does not take the name and the password that it was told
    │   └── EndOfSource                 a file that has been read to its end
    ├── VisionError (ValueError)        a picture or corners that the reader cannot work with
    ├── LinkError (OSError)             a tile board that does not answer, or answers nonsense
    │   └── WireError (ValueError)      a line that is whole and yet says nothing that the protocol knows
    ├── StoreError (OSError)            the match log cannot be opened, read or written
    │   └── ConflictError               another program has gone on with a match, so it cannot be written here any more
    ├── TableError (RuntimeError)       a table that has stopped, or does not answer
    ├── ServerError (OSError)           the address of the page cannot be had
    ├── BookError (ValueError)          the opening book is missing or damaged
    └── of the workshop, all ValueError
        ├── KitError                    a paper that the kit does not fit on
        ├── EnrolmentError              pictures that a set cannot be enrolled from
        ├── LensError                   pictures that no lens can be measured from
        └── TilesError                  codes that no accept windows can be made of

Messages state what was found, what was expected and what to do. What a person does at the table is an event
(`companion.events`), never one of these; only `IllegalMoveError` crosses over, as the rules' way of saying no.
Those that only one module raises, or that need its words, are defined there.
"""


class CompanionError(Exception):
    """The root of the tree: catch it to turn any failure into one line for a person."""

    @property
    def saying(self) -> str:
        """The message; as it was raised, so that it may be a `companion.saying.Saying`."""
        return self.args[0] if self.args and isinstance(self.args[0], str) else str(self)


class RulesError(CompanionError, ValueError):
    """A question that the rules of the game cannot make sense of."""


class LayoutError(RulesError):
    """A board that cannot be laid out: 2x2 boards cannot tile it, or its name is unknown."""


class NotationError(RulesError):
    """A text that is not what it should be, and where.

    `line` and `column` are 1-based positions in the text that was read.
    """

    def __init__(self, message: str, *, line: int = 1, column: int = 1) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.message = message
        self.line = line
        self.column = column

    @property
    def saying(self) -> str:
        """The message without the place."""
        return self.message


class ProfileError(CompanionError, ValueError):
    """A profile with an unknown version or a bad field; the message names the field."""


class SourceError(CompanionError, OSError):
    """A camera, file, folder or port that cannot be opened or read."""


class SourceSyntaxError(SourceError):
    """A text that names no source: waiting does not help, writing it otherwise does."""


class EndOfSource(SourceError):  # noqa: N818 (not a failure: what a file source says after its last frame)
    """A file source has been read to its end."""


class VisionError(CompanionError, ValueError):
    """A picture, or corners, that the reader cannot work with."""


class LinkError(CompanionError, OSError):
    """A tile board that does not answer, or answers nonsense."""


class StoreError(CompanionError, OSError):
    """The match log cannot be opened, read or written."""


class ConflictError(StoreError):
    """A match that another program has gone on with: trying again does not help."""


class ServerError(CompanionError, OSError):
    """The address of the page cannot be had."""


class TableError(CompanionError, RuntimeError):
    """A table that has stopped, or does not answer."""
