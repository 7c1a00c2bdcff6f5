"""``companion matches``, as people and programs call it."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from companion.__main__ import main
from companion.commands import matches as commands
from companion.events import Corrected, MatchStarted
from companion.rules import MatchText
from companion.store import FILE_NAME, MatchLog, Opening
from tests.shelf import only_read
from tests.store.playing import EXAMPLE, example_events

ROOT = Path(__file__).parents[2]
MATCH = f'[Event "Kitchen cup"]\n[Light "Ann"]\n[Dark "Ben [junior]"]\n\n{EXAMPLE}\n'


@pytest.fixture
def data(tmp_path):
    """A data folder with a finished and an unfinished match."""
    folder = tmp_path / "data"
    with MatchLog.open(folder, lambda: datetime(2026, 5, 1, 12, tzinfo=UTC)) as log:
        match = log.begin(Opening(light="Ann", dark="Ben [junior]"))
        log.append(match, example_events(), b"picture")
        log.append(log.begin(Opening(table="2")), example_events("2")[:4])
    return str(folder)


def matches(*arguments, **more):
    return CliRunner().invoke(main, ["matches", *map(str, arguments)], **more)


def printed(*arguments, **more):
    """What a command that succeeds prints, and that it warns of nothing."""
    result = matches(*arguments, **more)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def lines(*arguments):
    return [json.loads(line) for line in printed(*arguments, "--json").splitlines()]


def test_list_shows_every_match(data):
    shown = printed("list", "--data", data)
    assert "Ann" in shown
    assert "Ben [junior]" in shown
    assert "4-1 light" in shown
    assert "unfinished" in shown
    assert "Ann" not in printed("list", "--table", "2", "--data", data)


def test_who_resigned_is_told_with_the_result(tmp_path):
    file, data = tmp_path / "resigned.mjn", tmp_path / "data"
    file.write_text('[Termination "resigned"]\n[Winner "dark"]\n\n1. a1+ a3><\n', encoding="utf-8")
    printed("import", file, "--data", data)
    assert "0-0 dark, light resigned\n" in printed("list", "--data", data)
    assert "0-0 dark, light resigned, log " in printed("show", 1, "--data", data)
    for told, *_ in (lines("list", "--data", data), lines("show", 1, "--data", data)):
        assert (told["result"]["winner"], told["resigned"]) == ("dark", "light")


STRANGE = [
    (":smile: [bold]Ann[/bold]", ":smile: [bold]Ann[/bold]"),
    ("\x1b[31mAnn\x9b2J\r\nBen\x07", r"\x1b[31mAnn\x9b2J\r\nBen\x07"),
    ("Ann\u202enneB\u2028", r"Ann\u202enneB\u2028"),
    ("\ud83d", r"\ud83d"),
    ("Zoë 李小龍 👩\u200d🔬 بن", "Zoë 李小龍 👩\u200d🔬 بن"),
    ("Ann " * 60 + "Smith", "Ann " * 60 + "Smith"),
]


@pytest.mark.parametrize(("name", "shown"), STRANGE, ids=["markup", "escapes", "direction", "half", "letters", "long"])
def test_names_are_shown_as_they_are_whole_and_do_nothing_to_the_terminal(tmp_path, name, shown):
    with MatchLog.open(tmp_path, lambda: datetime(2026, 5, 1, 12, tzinfo=UTC)) as log:
        log.append(log.begin(Opening(light=name)), example_events())
    for command in (["list"], ["show", 1]):
        said = printed(*command, "--data", tmp_path)
        assert shown in said
        assert "\x1b" not in said
    assert len(printed("list", "--data", tmp_path).splitlines()) == 2


def test_an_error_does_nothing_to_the_terminal_either(data):
    change(data, "UPDATE events SET table_id = '\x1b[31m' WHERE match_id = 1 AND seq = 6")
    for command in (["verify"], ["show", 1], ["export", 1]):
        result = matches(*command, "--data", data)
        assert r"\x1b[31m" in result.output
        assert "\x1b" not in result.output


@pytest.mark.parametrize("command", [["matches", "list"], ["watch", "virtual:"], ["doctor"]])
def test_an_empty_data_folder_name_is_wrong_usage(command, tmp_path, monkeypatch):
    """A shell gives it for a variable that is not set."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, [*command, "--data", ""])
    assert (done.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert "Invalid value for '--data': a folder has to have a name" in done.stderr


def test_list_as_json_is_one_object_a_match(data):
    finished, unfinished = lines("list", "--data", data)
    assert finished == {
        "match": 1,
        "table": "1",
        "started": "2026-05-01T12:00:00.000Z",
        "light": "Ann",
        "dark": "Ben [junior]",
        "names_erased": False,
        "first": "outside",
        "layout": "4x4",
        "sets": 1,
        "variant": "standard",
        "tags": {},
        "plies": 16,
        "result": {"score": {"light": 4, "dark": 1}, "winner": "light"},
        "resigned": None,
        "log": finished["log"],
    }
    assert (unfinished["table"], unfinished["plies"], unfinished["result"]) == ("2", 3, None)
    assert unfinished["resigned"] is None


@pytest.fixture
def far_east(monkeypatch):
    """A machine thirteen hours east of Greenwich."""
    with monkeypatch.context() as there:
        there.setenv("TZ", "EAST-13")
        time.tzset()
        yield
    time.tzset()


def test_a_match_began_when_the_clock_on_the_wall_says(data, far_east):
    assert "2026-05-02 01:00" in printed("list", "--data", data)
    assert "table 1, 2026-05-02 01:00\n" in printed("show", 1, "--data", data)
    assert '[Date "2026.05.02"]' in printed("export", 1, "--data", data)
    assert lines("list", "--data", data)[0]["started"] == "2026-05-01T12:00:00.000Z"


def test_a_match_that_was_exported_in_another_time_zone_is_there_already(data, tmp_path, far_east):
    file = tmp_path / "west.mjn"
    west = {**os.environ, "TZ": "WEST+13"}
    export = [sys.executable, "-m", "companion", "matches", "export", "1", "--data", data]
    file.write_bytes(subprocess.run(export, env=west, cwd=ROOT, capture_output=True, check=True).stdout)
    assert '[Date "2026.04.30"]' in file.read_text()
    assert printed("import", file, "--data", data) == f"{file} is match 1 already.\n"


def test_no_log_lists_nothing_and_makes_nothing(tmp_path):
    result = matches("list", "--data", tmp_path / "none")
    assert matches("list", "--json", "--data", tmp_path / "none").stderr == result.stderr
    assert (result.exit_code, result.stdout, result.stderr) == (
        0,
        "",
        f"No matches yet: there is no match log in {tmp_path / 'none'}.\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_a_log_without_matches_and_a_file_that_is_no_log_are_told_apart(tmp_path):
    MatchLog.open(tmp_path, lambda: datetime(2026, 5, 1, 12, tzinfo=UTC)).close()
    assert matches("list", "--data", tmp_path).stderr == "No matches yet.\n"
    assert matches("list", "--table", "9", "--data", tmp_path).stderr == "No matches of table 9.\n"
    result = matches("list", "--data", tmp_path / FILE_NAME)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert f"{FILE_NAME} is a file; --data takes the folder" in result.stderr


def test_default_data_folder_is_the_users_own(tmp_path, monkeypatch):
    monkeypatch.setattr("platformdirs.user_data_dir", lambda name, **_: str(tmp_path / name))
    assert printed("import", "-", input=MATCH) == "- is match 1.\n"
    assert (tmp_path / "mijnlieff-companion" / FILE_NAME).exists()


def test_show_tells_the_match_event_by_event(data):
    shown = printed("show", 1, "--data", data)
    assert "Ann (light) against Ben [junior] (dark)" in shown
    assert "Dark a3><" in shown
    assert "Dark has no legal square and passes" in shown
    assert f"4-1 light, log {lines('list', '--data', data)[0]['log']}" in shown
    told = lines("show", 1, "--data", data)
    assert told[0]["match"] == 1
    assert [line["event"] for line in told[1:]] == [event.as_dict()["event"] for event in example_events()]


def test_a_match_of_very_many_events_is_shown_as_one_of_few_without_a_table(data, monkeypatch):
    few = printed("show", 1, "--data", data)
    monkeypatch.setattr(commands, "_LONGEST_TABLE", 10)
    monkeypatch.setattr(commands, "_table", None)
    assert [line.rstrip() for line in few.splitlines()] == printed("show", 1, "--data", data).splitlines()


def test_show_tells_a_match_that_was_taken_up_again(data):
    with MatchLog.open(Path(data), lambda: datetime(2026, 5, 1, 13, tzinfo=UTC)) as log:
        again = MatchStarted(time=0.0, table="2", ply=4, first="outside", layout="4x4")
        taken_up = Corrected(time=1.0, table="2", ply=1, before=(), after=(), position="..../..../..../D... dark -")
        log.append(2, (again, taken_up))
    shown = " ".join(printed("show", 2, "--data", data).split())
    assert shown.count("A match begins") == 1
    assert "The match goes on, on 4x4, with ply 4." in shown
    assert "What lies there is taken up as the game: ..../..../..../D... dark -" in shown


def test_export_is_match_text_that_reads_back(data, tmp_path):
    text = printed("export", 1, "--data", data)
    assert MatchText.read(text).tags["Dark"] == "Ben [junior]"
    file = tmp_path / "game.mjn"
    assert printed("export", 1, "-o", file, "--data", data) == ""
    assert file.read_text(encoding="utf-8") == text


def test_export_as_json_is_what_show_prints(data):
    assert printed("export", 1, "--format", "json", "--data", data) == printed("show", 1, "--json", "--data", data)


def change(data, statement):
    """Change the log as somebody would who does not ask the program."""
    connection = sqlite3.connect(Path(data) / FILE_NAME)
    assert connection.execute(statement).rowcount == 1
    connection.commit()
    connection.close()


FORGED = "UPDATE events SET link = replace(link, 'b2><', 'b2<>') WHERE match_id = 1 AND seq = 6"
NONSENSE = "UPDATE events SET link = 'nonsense' WHERE match_id = 1 AND seq = 19"


@pytest.mark.parametrize("form", ["mjn", "json"])
def test_a_match_that_was_changed_is_not_exported_with_its_hash(data, tmp_path, form):
    change(data, FORGED)
    result = matches("export", 1, "--format", form, "-o", tmp_path / "game", "--data", data)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "Error: match 1 is not as it was written: event 6 was changed; put a backup of the log in its place\n"
    )
    assert not (tmp_path / "game").exists()
    assert printed("export", 2, "--format", form, "--data", data)


def test_a_match_that_was_changed_is_shown_and_said_to_be(data):
    change(data, FORGED)
    for more in ([], ["--json"]):
        result = matches("show", 1, "--data", data, *more)
        assert "b2<>" in result.stdout
        assert (result.exit_code, result.stderr) == (
            1,
            "Error: match 1 is not as it was written: event 6 was changed\n",
        )


@pytest.mark.parametrize("command", ["list", "show 1", "export 1", "verify", "analyse 1"])
def test_log_that_may_only_be_read_is_read(shelf, command):
    with MatchLog.open(shelf, lambda: datetime(2026, 5, 1, 12, tzinfo=UTC)) as log:
        log.append(log.begin(Opening()), example_events())
    told = printed(*command.split(), "--data", shelf)
    with only_read(shelf):
        assert printed(*command.split(), "--data", shelf) == told


@pytest.mark.parametrize("nonsense", [NONSENSE, "UPDATE matches SET link = replace(link, '2026-', '0-') WHERE id = 1"])
def test_damaged_match_hides_no_other_in_the_list(data, nonsense):
    change(data, nonsense)
    result = matches("list", "--data", data)
    assert "unfinished" in result.stdout
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: match 1 is damaged: ")
    assert result.stderr.count("\n") == 1
    result = matches("list", "--data", data, "--json")
    damaged, whole = map(json.loads, result.stdout.splitlines())
    assert (damaged["match"], whole["match"], result.exit_code) == (1, 2, 1)
    assert damaged["damaged"].startswith("match 1 is damaged: ")


def test_damaged_and_missing_matches_hide_no_other_from_verify(data):
    change(data, NONSENSE)
    result = matches("verify", "--data", data)
    assert result.stdout.startswith("Match 1: BROKEN, event 19 was changed\nMatch 2: sound, ")
    assert (result.exit_code, result.stderr) == (1, "Error: not as it was written: match 1\n")
    result = matches("verify", 99, 2, "--data", data)
    assert result.stdout.startswith("Match 2: sound, ")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: there is no match 99 in the log; ")


def test_imported_matches_come_out_again(data, tmp_path):
    files = [tmp_path / "one.mjn", tmp_path / "two.mjn"]
    for file, dark in zip(files, ("Ben", "Cat"), strict=True):
        file.write_text(MATCH.replace("Ben", dark), encoding="utf-8")
    assert lines("import", *files, "--data", data) == [
        {"file": str(files[0]), "match": 3, "new": True},
        {"file": str(files[1]), "match": 4, "new": True},
    ]
    assert MatchText.read(printed("export", 4, "--data", data)).game == MatchText.read(MATCH).game


def test_an_imported_match_is_listed_with_the_day_it_was_played(data, tmp_path):
    dated, undated = tmp_path / "dated.mjn", tmp_path / "undated.mjn"
    dated.write_text('[Date "1998.04.05"]\n\n1. a1+ *\n', encoding="utf-8")
    undated.write_text("1. a1x *\n", encoding="utf-8")
    assert matches("import", dated, undated, "--data", data).exit_code == 0
    told = matches("list", "--data", data).output
    assert "1998-04-05" in told
    assert "date unknown" in told
    assert "table import, 1998-04-05\n" in matches("show", 3, "--data", data).output


def test_a_match_that_is_there_already_is_not_imported_again(data, tmp_path):
    file = tmp_path / "one.mjn"
    file.write_text(MATCH, encoding="utf-8")
    assert printed("import", file, file, "--data", data) == f"{file} is match 3.\n{file} is match 3 already.\n"
    assert printed("import", file, "--data", data) == f"{file} is match 3 already.\n"
    assert lines("import", file, "--data", data) == [{"file": str(file), "match": 3, "new": False}]
    assert len(lines("list", "--data", data)) == 3


def test_one_bad_file_keeps_all_out(data, tmp_path):
    good, bad = tmp_path / "good.mjn", tmp_path / "bad.mjn"
    good.write_text(MATCH, encoding="utf-8")
    bad.write_text(MATCH.replace("c3<>", "c3"), encoding="utf-8")
    result = matches("import", good, bad, "--data", data)
    assert result.exit_code == 1
    assert result.stderr == (
        f"Error: {bad}, line 5, column 40: the move 'c3' has no mark; "
        "add + (straight), x (diagonal), <> (pusher) or >< (puller)\n"
    )
    assert len(lines("list", "--data", data)) == 2


def test_what_a_file_says_does_nothing_to_the_terminal(data, tmp_path):
    file = tmp_path / "pwned.mjn"
    file.write_text('[Result "\x1b]0;pwned\x07"]\n\n1. a1+\n', encoding="utf-8")
    result = matches("import", file, "--data", data)
    assert result.exit_code == 1
    assert "\x1b" not in result.stderr
    assert "\\x1b]0;pwned\\x07" in result.stderr


@pytest.mark.parametrize("text", ["", " \n\n", "\ufeff\n"])
def test_an_empty_file_is_no_match(data, tmp_path, text):
    file = tmp_path / "empty.mjn"
    file.write_text(text, encoding="utf-8")
    result = matches("import", file, "--data", data)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"Error: {file} is empty; a match text has moves, or at least tags\n"
    assert len(lines("list", "--data", data)) == 2


@pytest.mark.parametrize("winner", ["", '[Winner "draw"]\n'])
def test_who_won_a_resigned_match_is_not_guessed(data, tmp_path, winner):
    file = tmp_path / "resigned.mjn"
    file.write_text(f'[Termination "resigned"]\n{winner}\n1. a1+ a3><\n', encoding="utf-8")
    result = matches("import", file, "--data", data)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f'Error: {file} does not say who resigned; add [Winner "light"] or [Winner "dark"] to it\n'
    )
    assert len(lines("list", "--data", data)) == 2


def exported_to(out, data):
    """What is said of an export to standard output, which is `out`; the exit code."""
    command = [sys.executable, "-m", "companion", "matches", "export", "1", "--data", data]
    done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    return done.stderr, done.returncode


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
def test_export_to_standard_output_on_a_full_disk_says_so_as_every_command_does(data):
    with Path("/dev/full").open("w") as full:
        assert exported_to(full, data) == (
            "Error: there is no room left for what is written; make room, and try again\n",
            1,
        )


def test_export_to_a_program_that_has_heard_enough_ends_without_a_word(data):
    reading, writing = os.pipe()
    os.close(reading)
    assert exported_to(writing, data) == ("", 1)
    os.close(writing)


def test_verify_says_sound_erased_and_broken(data):
    assert printed("verify", "--data", data).count("sound") == 2
    assert printed("erase", 1, "--names", "--pictures", "--data", data) == (
        "The names of match 1 are erased.\nPictures of match 1 erased: 1.\n"
    )
    assert "(erased: names, 1 of 1 pictures)" in printed("verify", 1, "--data", data)
    assert "(erased)" in printed("list", "--data", data)
    noted = lines("list", "--data", data)[0]["log"]
    told = lines("verify", 1, "--log", noted, "--data", data)[0]
    assert (told["sound"], told["known"], told["final"]) == (True, 19, 19)
    assert "that of event 19, the final one" in printed("verify", 1, "--log", noted[:8], "--data", data)


def test_verify_says_that_a_hash_is_in_no_match(data):
    result = matches("verify", 2, "--log", "c0ffee00", "--data", data)
    assert result.stdout == "Match 2: BROKEN, the hash c0ffee00 is not in it\n"
    assert (result.exit_code, result.stderr) == (1, "Error: not as it was written: match 2\n")


@pytest.mark.parametrize("event", [19, 2, 0])
def test_verify_says_whose_hash_it_was_given_if_it_is_another_matchs(data, event):
    opening = sqlite3.connect(Path(data) / FILE_NAME).execute("SELECT digest FROM matches WHERE id = 1").fetchone()[0]
    noted = lines("show", 1, "--data", data)[event]["digest"] if event else opening
    for known in (noted, noted[:8].upper()):
        result = matches("verify", 2, "--log", known, "--data", data)
        assert result.stdout == f"Match 2: the hash {known} is not in it; it is that of match 1\n"
        assert (result.exit_code, result.stderr) == (1, "Error: the hash that was given is that of another match\n")
    told = json.loads(matches("verify", 2, "--log", noted, "--json", "--data", data).stdout)
    assert (told["sound"], told["known"], told["other"]) == (False, None, 1)
    assert told["broken"] == f"the hash {noted} is not in it; it is that of match 1"


def test_verify_says_broken_before_it_says_whose_hash_it_was_given(data):
    noted = lines("list", "--data", data)[1]["log"]
    change(data, FORGED)
    result = matches("verify", 1, "--log", noted, "--data", data)
    assert result.stdout == "Match 1: BROKEN, event 6 was changed\n"
    assert result.exit_code == 1


@pytest.mark.parametrize("number", ["99", "99999999999999999999"])
@pytest.mark.parametrize("command", ["show", "export", "verify", "erase --names", "analyse"])
def test_unknown_match_is_one_clear_line(data, command, number):
    result = matches(*command.split(), number, "--data", data)
    assert (result.exit_code, result.stdout) == (1, "")
    assert (
        result.stderr == f"Error: there is no match {number} in the log; companion matches list shows those there are\n"
    )


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["show", "1", "--data", "{tmp}/none"], "there is no match log in {tmp}/none yet"),
        (["import", "{tmp}/none.mjn", "--data", "{tmp}"], "{tmp}/none.mjn cannot be read: No such file or directory"),
        (["import", "{tmp}", "--data", "{tmp}"], "{tmp} cannot be read: Is a directory"),
        (["import", "{tmp}/latin.mjn", "--data", "{tmp}"], "{tmp}/latin.mjn is not a text file in UTF-8"),
        (["import", "{tmp}/game.mjn", "--data", "{tmp}/file/x"], "the data folder {tmp}/file/x cannot be used"),
        (["export", "1", "-o", "{tmp}/none/x", "--data", "{data}"], "{tmp}/none/x cannot be written: No such file"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(data, tmp_path, arguments, problem):
    (tmp_path / "file").touch()
    (tmp_path / "latin.mjn").write_bytes(b'[Light "J\xf6rg"]')
    (tmp_path / "game.mjn").write_text(MATCH, encoding="utf-8")
    names = {"tmp": tmp_path, "data": data}
    result = matches(*(argument.format(**names) for argument in arguments))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: " + problem.format(**names))
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["show"],
        ["show", "one"],
        ["show", "0"],
        ["export", "1", "--format", "pgn"],
        ["erase", "1"],
        ["steal"],
        ["export", "1", "-o", ""],
        ["import", ""],
    ],
)
def test_wrong_usage_ends_with_2(data, arguments):
    assert matches(*arguments, "--data", data).exit_code == 2


def test_home_of_nobody_is_wrong_usage():
    result = matches("list", "--data", "~nobody-of-that-name/games")
    assert result.exit_code == 2
    assert "nobody here has the home that '~nobody-of-that-name/games' names" in result.stderr


@pytest.mark.parametrize("known", ["", "1", "1234567", "12345678g", "1" * 65])
def test_what_is_no_hash_is_wrong_usage(data, known):
    result = matches("verify", 1, "--log", known, "--data", data)
    assert result.exit_code == 2
    assert "at least its first 8 digits" in result.stderr


def test_json_is_one_line_a_match_whatever_the_name(tmp_path):
    with MatchLog.open(tmp_path, lambda: datetime(2026, 5, 1, 12, tzinfo=UTC)) as log:
        log.begin(Opening(light="Zoë\u2028\nAnn"))
    assert lines("list", "--data", tmp_path)[0]["light"] == "Zoë\u2028\nAnn"


def test_help_is_quick_because_it_imports_no_command():
    program = (
        "import sys; from companion.__main__ import main; main(['--help'], standalone_mode=False); "
        "print({'sqlalchemy', 'cv2', 'rich', 'numpy', 'flask'} & sys.modules.keys())"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    run = [sys.executable, "-c", program]
    said = subprocess.run(run, env=environment, check=True, capture_output=True, text=True).stdout
    assert "matches  " in said
    assert said.endswith("set()\n")


LOOKS = pytest.mark.parametrize("look", [["list"], ["show", "1"], ["analyse", "1"]], ids=lambda look: look[0])


def in_a_shell(redirection, *arguments, **environment):
    """A command of its own process, with `redirection` as a shell understands it."""
    run = ["sh", "-c", f'exec "$0" -m companion matches "$@" {redirection}', sys.executable, *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    return subprocess.run(run, env=environment, check=False, capture_output=True)


@LOOKS
def test_closed_standard_output_is_no_trouble(data, look):
    done = in_a_shell(">&-", *look, "--data", data)
    assert (done.returncode, done.stderr) == (0, b"")


@LOOKS
def test_what_a_terminal_has_no_letter_for_is_replaced(tmp_path, look):
    with MatchLog.open(tmp_path, lambda: datetime(2026, 5, 1, 12, tzinfo=UTC)) as log:
        log.append(log.begin(Opening(light="Zoë", table="Löwe_11")), example_events("Löwe_11"))
    done = in_a_shell("", *look, "--data", tmp_path, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()
    if look != ["analyse", "1"]:
        assert b"Zo?" in done.stdout


@pytest.mark.parametrize("command", [["matches", "show"], ["matches", "verify"], ["run", "--port"]])
def test_what_is_no_number_is_told_so(command):
    told = CliRunner().invoke(main, [*command, "abc"])
    assert told.exit_code == 2
    assert "'abc' is not a valid whole number." in told.stderr
