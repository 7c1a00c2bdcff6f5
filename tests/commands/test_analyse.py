"""``companion matches analyse``, as people and programs call it."""

import json

import pytest
from click.testing import CliRunner

from companion.__main__ import main

MATCH = "1. a1+ a3>< 2. a2+ a4<> 3. b2>< c2+ 4. c3<> c1x 5. d2>< d3+ 6. d4x - 7. b4x - 8. b3<> b1<> 4-1\n"


def analyse(*arguments, **more):
    return CliRunner().invoke(main, ["matches", "analyse", *map(str, arguments)], **more)


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The worked example analysed once, as JSON and drawn."""
    drawing = tmp_path_factory.mktemp("analysis") / "margin.svg"
    result = analyse("-", "--json", "--svg", drawing, input=MATCH)
    assert (result.exit_code, result.stderr) == (0, "")
    return [json.loads(line) for line in result.stdout.splitlines()], drawing.read_text(encoding="utf-8")


def test_json_is_one_object_a_move_and_one_for_the_match(example):
    *moves, match = example[0]
    assert [move["move"] for move in moves] == [word for word in MATCH.split()[:-1] if word[0].isalpha()]
    assert set(moves[0]) == {"ply", "colour", "move", "before", "after", "given_away", "best", "score", "exact"}
    assert set(match) == {
        "moves", "over", "margin", "winner", "turning_point", "best_line", "best_line_from", "resigned", "sentence",
        "exact",
    }  # fmt: skip
    assert (match["moves"], match["over"], match["margin"], match["winner"]) == (14, True, 3, "light")
    assert moves[0]["before"] == -1


def test_a_number_that_no_match_has_is_told_in_one_line_however_long_it_is(tmp_path):
    imported = CliRunner().invoke(main, ["matches", "import", "-", "--data", str(tmp_path)], input=MATCH)
    assert imported.exit_code == 0
    for number in ("2", "9" * 5000):
        done = analyse(number, "--data", tmp_path)
        assert (done.exit_code, len(done.stderr.splitlines())) == (1, 1)
        assert "companion matches list shows those there are" in done.stderr


def test_the_drawing_is_written(example):
    assert example[1].startswith("<svg ")


def test_people_are_shown_a_table_bars_and_a_sentence():
    shown = analyse("-", input=MATCH).stdout
    assert "Gave away" in shown
    assert "██" in shown
    assert "With best play from there: " in shown


@pytest.mark.parametrize(
    ("winner", "said", "told"),
    [
        ('[Winner "dark"]', "Light resigned, so Dark wins. Dark's a3>< at ply 2 turned ", "light"),
        ("", "A player resigned. Dark's a3>< at ply 2 turned ", None),
    ],
)
def test_a_resignation_is_told_before_what_the_moves_gave(winner, said, told):
    text = f'[Termination "resigned"]\n{winner}\n\n1. a1+ a3><\n'
    assert said in analyse("-", input=text).stdout
    match = json.loads(analyse("-", "--json", input=text).stdout.splitlines()[-1])
    assert (match["sentence"].startswith(said), match["resigned"]) == (True, told)


def test_a_resignation_before_any_move_is_told():
    said = analyse("-", input='[Termination "resigned"]\n[Winner "light"]\n').stdout
    assert "Dark resigned, so Light wins. Nothing had turned yet. With best play from here: " in said


@pytest.mark.parametrize(
    ("arguments", "text", "message"),
    [
        (["-"], "1. a1+ a1+\n", "a1 is taken"),
        (["-"], "1. a1\n", "has no mark"),
        (["-"], " \n", "- is empty; a match text has moves, or at least tags"),
        (["no-such-file.mjn"], "", "no-such-file.mjn cannot be read"),
        (["7", "--data", "no-such-folder"], "", "no-such-folder"),
    ],
)
def test_what_cannot_be_analysed_is_told_in_one_line(arguments, text, message):
    result = analyse(*arguments, input=text)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_drawing_has_standard_output_for_itself(example):
    result = analyse("-", "--svg", "-", input=MATCH)
    assert (result.exit_code, result.stdout) == (0, example[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-", "--json", "--svg", "-"], "would both go to standard output; give --svg a file"),
        (["-", "--svg", ""], "a file has to have a name"),
        ([""], "a file has to have a name"),
        (["-", "--seconds", "nan"], "nan is no number of seconds"),
        (["-", "--seconds", "inf"], "inf is no number of seconds"),
    ],
)
def test_wrong_usage_ends_with_2(arguments, message):
    result = analyse(*arguments, input=MATCH)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_a_match_of_the_log_is_analysed_by_its_number(tmp_path):
    file = tmp_path / "match.mjn"
    file.write_text(MATCH, encoding="utf-8")
    assert CliRunner().invoke(main, ["matches", "import", str(file), "--data", str(tmp_path)]).exit_code == 0
    result = analyse("1", "--data", tmp_path, "--json")
    assert json.loads(result.stdout.splitlines()[-1])["moves"] == 14
