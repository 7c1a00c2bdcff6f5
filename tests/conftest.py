"""What every test may ask for."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

IN_CI = os.environ.get("CI") == "true"
BESIDE_PATH = [str(folder) for folder in Path("/usr/lib/postgresql").glob("*/bin")]
"""Where Debian keeps the programs of PostgreSQL's server."""

# No test depends on the speed of the machine; in CI none depends on chance either.
hypothesis.settings.register_profile("house", deadline=None, derandomize=IN_CI)
hypothesis.settings.load_profile("house")


@pytest.fixture
def shelf() -> Iterator[Path]:
    """An empty folder that everyone may look into; `tests.shelf.only_read` is for it."""
    with tempfile.TemporaryDirectory() as folder:
        shelf = Path(folder)
        shelf.chmod(0o755)
        yield shelf


@pytest.fixture(scope="session")
def tool() -> Callable[[str], str]:
    """``tool("chromium")`` is the path of that program. Without it the test is skipped; in CI it fails."""

    def path_of(name: str) -> str:
        path = shutil.which(name, path=os.pathsep.join([os.environ["PATH"], *BESIDE_PATH]))
        if path is None:
            missing = f"{name} is not installed: ./check installs it, as root"
            if IN_CI:
                pytest.fail(missing)
            pytest.skip(missing)
        return path

    return path_of
