"""The house itself: its layers, its locks, its wheel, and that what it says of itself is true."""

from __future__ import annotations

import ast
import hashlib
import importlib
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from companion import errors
from companion.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
_LINT_IMPORTS = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
SCRIPTS = ("start", "check", ".ci/run", "requirements/relock", "scripts/environment.sh")

UNWELCOME = re.compile(
    r"""
      (?<![\w.~-])/(?:work|root|tmp|opt|home)/      # a path of somebody's machine
    | pypi\.org | pythonhost[e]d\. | npm[j]s\. | debian\.org/debian | snapshot\.debian
    | ^\s*-{1,2}(?:index-url|extra-index-url|find-links|trusted-host|i|f)\b
    """,
    re.VERBOSE | re.MULTILINE,
)


def run(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def tracked(tool: Callable[[str], str]) -> list[str]:
    """Every file of the repository, relative to its root."""
    return run(tool("git"), "-c", "safe.directory=*", "ls-files", "-z").strip("\0").split("\0")


def pins(lock: str) -> dict[str, list[tuple[str, str]]]:
    """Name to [(version, the lines of its hashes)], a pair for each environment marker."""
    found: dict[str, list[tuple[str, str]]] = {}
    for entry in re.split(r"\n(?=\w)", (ROOT / "requirements" / lock).read_text()):
        if match := re.match(r"([\w.-]+)==([^\s;]+)", entry):
            found.setdefault(canonicalize_name(match[1]), []).append((match[2], entry.partition("\n")[2]))
    return found


BENCHES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "tests" / "bench").rglob("*.py")
    if path.stem != "__main__"
)


@pytest.mark.parametrize("bench", BENCHES)
def test_every_bench_can_be_begun(bench: str) -> None:
    """They are too long to be run by the tests; what they import has to be there all the same."""
    importlib.import_module(bench)


def test_imports_keep_to_the_layers() -> None:
    """In a process of its own, because the linter switches off the logging of whoever runs it."""
    done = subprocess.run([sys.executable, "-c", _LINT_IMPORTS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_tree_of_errors_names_every_error_under_its_own() -> None:
    drawn, path = set(), [""]
    for line in errors.__doc__.splitlines():
        if found := re.match(r"    (?P<way>[ │├└─]*)(?P<name>[A-Z]\w+)\b", line):
            depth = len(found["way"]) // 4
            path[depth:] = [found["name"]]
            drawn.add((path[depth - 1] if depth else "Exception", found["name"]))
    workshop = ("KitError", "EnrolmentError", "LensError", "TilesError")
    drawn = {("CompanionError" if name in workshop else under, name) for under, name in drawn}
    raised = set()
    for source in [*(ROOT / "companion").rglob("*.py"), *(ROOT / "calibration").rglob("*.py")]:
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.ClassDef) and node.bases and re.search("Error$|^EndOf", node.name):
                raised.add((ast.unparse(node.bases[0]), node.name))
    assert raised == drawn


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        ("runtime.txt", PROJECT["dependencies"]),
        ("dev.txt", PROJECT["dependencies"] + [each for extra in EXTRAS.values() for each in extra]),
    ],
)
def test_every_dependency_is_locked_with_hashes_and_no_address(lock: str, wanted: list[str]) -> None:
    pinned = pins(lock)
    for requirement in map(Requirement, wanted):
        versions = pinned.get(canonicalize_name(requirement.name), [])
        assert versions, f"{requirement.name} is missing: run requirements/relock"
        assert all(requirement.specifier.contains(version) for version, _ in versions), requirement
    for name, entries in pinned.items():
        assert all("--hash=sha256:" in hashes for _, hashes in entries), name


def test_locks_leave_nothing_out() -> None:
    """They are installed without asking what each package needs."""
    done = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def make_wheel(folder: Path, name: str, release: str, *, needs: str = "") -> Path:
    """A wheel of an empty package."""
    wheel = folder / f"{name}-{release}-py3-none-any.whl"
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {release}\nProvides-Extra: more\n"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{name}.py", "")
        archive.writestr(f"{name}-{release}.dist-info/METADATA", about + (f"Requires-Dist: {needs}\n" if needs else ""))
        archive.writestr(f"{name}-{release}.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{name}-{release}.dist-info/RECORD", "")
    return wheel


def test_installing_is_not_upset_by_a_newer_release_of_a_locked_package(
    tmp_path: Path, tool: Callable[[str], str]
) -> None:
    """Debian 12's pip would take the newest of what is needed with an extra, and then refuse it for having no hash."""
    listed = [make_wheel(tmp_path, "board", "1", needs="pieces[more]>=1"), make_wheel(tmp_path, "pieces", "1")]
    make_wheel(tmp_path, "pieces", "2")
    hashes = [hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in listed]
    lock = tmp_path / "lock.txt"
    lock.write_text(f"board==1 --hash=sha256:{hashes[0]}\npieces==1 --hash=sha256:{hashes[1]}\n")
    installing = 'source scripts/environment.sh; install_without_resolving "$@" --dry-run --ignore-installed'
    options = ("--require-hashes", "--no-index", "--find-links", str(tmp_path), "--requirement", str(lock))
    run(tool("bash"), "-c", installing, "bash", sys.executable, *options)


def imported_packages(*folders: str) -> set[str]:
    """The top-level names that the modules under `folders` import, those under TYPE_CHECKING included."""
    names: set[str] = set()
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add(node.module or "")
    return {name.partition(".")[0] for name in names}


def test_every_imported_package_is_declared() -> None:
    workshop = [(ROOT / "requirements" / name).read_text() for name in ("training.txt", "raytracing.txt")]
    asked = [line for text in workshop for line in text.splitlines() if not line.startswith("#")]
    declared = {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"] + asked}
    declared |= {"bpy-extras", "mathutils"}  # come with bpy
    provider = packages_distributions()
    foreign = imported_packages("companion", "calibration") - sys.stdlib_module_names - {"companion", "calibration"}
    providers = {name: {canonicalize_name(project) for project in provider.get(name, [name])} for name in foreign}
    assert {name: projects for name, projects in providers.items() if not projects & declared} == {}


def test_tests_run_with_the_very_packages_that_users_run() -> None:
    tested = pins("dev.txt")
    assert {name: tested.get(name) for name in pins("runtime.txt")} == pins("runtime.txt")


def test_wheel_holds_every_file_of_the_packages_but_what_trains_them(tracked: list[str], tmp_path: Path) -> None:
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path))
    [wheel] = tmp_path.glob("*.whl")
    shipped = set(zipfile.ZipFile(wheel).namelist())
    ours = {name for name in tracked if name.startswith(("companion/", "calibration/")) and (ROOT / name).exists()}
    assert "companion/py.typed" in ours
    training = {name for name in ours if name.startswith("calibration/training/")}
    assert ours - shipped == training != set()
    assert {name.split("/")[0] for name in shipped} == {
        "companion",
        "calibration",
        f"mijnlieff_companion-{PROJECT['version']}.dist-info",
    }


def test_no_file_names_a_place_of_one_machine_or_a_registry(tracked: list[str]) -> None:
    found = []
    for name in tracked:
        data = (ROOT / name).read_bytes() if (ROOT / name).is_file() else b""
        if b"\0" not in data:
            found += [f"{name}: {match[0].strip()}" for match in UNWELCOME.finditer(data.decode("utf-8", "replace"))]
    assert found == []


@pytest.mark.parametrize(
    "line",
    ["see /" + "work/shared", "open('/" + "home/me/a.png')", "--" + "extra-index-url x", "http://" + "pypi" + ".org/x"],
)
def test_the_search_for_such_places_finds_them(line: str) -> None:
    assert UNWELCOME.search(line)


def test_version_is_the_newest_of_the_changelog() -> None:
    newest = re.search(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest
    assert newest[1] == PROJECT["version"] == version("mijnlieff-companion")


def test_readme_gives_the_commands_that_ci_and_newcomers_run() -> None:
    readme = (ROOT / "README.md").read_text()
    assert "\n./start\n" in readme
    assert "\n./check\n" in readme
    assert (ROOT / ".ci/run").read_text().splitlines()[-1] == "exec ./check"


def test_readme_mentions_every_command() -> None:
    readme = (ROOT / "README.md").read_text()
    context = click.Context(main)
    commands = main.list_commands(context)
    assert commands
    assert [name for name in commands if f"./start {name}" not in readme] == []


def test_readme_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    [example] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    exec(example, {})
    assert capsys.readouterr().out == "light ['a2', 'a4', 'b2', 'b3', 'b4']\n"


def test_shell_scripts_are_sound(tool: Callable[[str], str]) -> None:
    check = subprocess.run([tool("shellcheck"), "-x", *SCRIPTS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert check.stdout == ""
