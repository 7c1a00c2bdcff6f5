"""What verifying finds, and what erasing leaves."""

import hashlib
import json
import re
import sqlite3

import pytest

from companion import events
from companion.errors import StoreError
from companion.store import FILE_NAME, Damaged, Opening
from tests.store.playing import example_events

PICTURES = [b"a1 " * 5000, b"a3 " * 5000]


@pytest.fixture
def match(log):
    """The worked example, with two pictures."""
    match = log.begin(Opening(light="Annabella", dark="Ben", tags={"Arbiter": "Zoe"}))
    told = example_events()
    log.append(match, told[:1])
    log.append(match, told[1:2], PICTURES[0])
    log.append(match, told[2:4], PICTURES[1])
    log.append(match, told[4:])
    return match


def change(tmp_path, statement, *values):
    """Change the file as somebody would who does not ask the program."""
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    assert connection.execute(statement, values).rowcount == 1
    connection.commit()
    connection.close()


def test_chain_can_be_checked_with_nothing_but_sha256(log, match, tmp_path):
    """What `companion.store.chain` promises to other programs."""
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    (link, previous) = connection.execute("SELECT link, digest FROM matches").fetchone()
    assert hashlib.sha256(link.encode()).hexdigest() == previous
    for link, digest in connection.execute("SELECT link, digest FROM events ORDER BY seq"):
        assert hashlib.sha256(link.encode()).hexdigest() == digest
        assert json.loads(link)["previous"] == previous
        previous = digest
    connection.close()
    assert log.match(match).digest == previous


def test_untouched_match_is_sound(log, match):
    found = log.verify(match)
    assert (found.sound, found.names_erased, found.pictures, found.pictures_erased) == (True, False, 2, 0)
    assert str(found) == f"Match {match}: sound, 19 events, {found.digest}"


@pytest.mark.parametrize(
    ("statement", "values", "finding"),
    [
        ("UPDATE events SET link = replace(link, 'b2><', 'b2<>') WHERE seq = 6", (), "event 6 was changed"),
        ("UPDATE events SET digest = ? WHERE seq = 19", ("0" * 64,), "event 19 was changed"),
        ("UPDATE events SET name = 'Resigned' WHERE seq = 3", (), "event 3 is filed under the name Resigned"),
        ("UPDATE events SET table_id = '2' WHERE seq = 3", (), "event 3 is filed under the table 2"),
        ("DELETE FROM events WHERE seq = 8", (), "event 8 is missing"),
        ("DELETE FROM events WHERE seq = 1", (), "event 1 is missing"),
        ("DELETE FROM events WHERE seq = 19", (), "event 19 is missing"),
        ("UPDATE events SET seq = 20 WHERE seq = 19", (), "event 19 is missing"),
        ("UPDATE matches SET length = 18", (), "the log tells of 18 events"),
        ("UPDATE matches SET link = replace(link, 'outside', 'anywhere')", (), "the opening was changed"),
        ("UPDATE matches SET table_id = '2'", (), "the opening is filed under table 2"),
        ("UPDATE people SET told = replace(told, 'Ben', 'Bob')", (), "who played was changed"),
        ("UPDATE pictures SET evidence = ? WHERE length(evidence) > 1 AND rowid = 1", (b"x",), "a picture was changed"),
    ],
)
def test_tampering_with_one_row_is_found(log, match, tmp_path, statement, values, finding):
    change(tmp_path, statement, *values)
    found = log.verify(match)
    assert not found.sound
    assert found.broken.startswith(finding)
    assert f"BROKEN, {finding}" in str(found)


def test_event_rewritten_with_its_digest_is_found(log, match, tmp_path):
    """Whoever mends the digest of the row they changed breaks the next one."""
    link = log.entries(match)[5]
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    (text,) = connection.execute("SELECT link FROM events WHERE seq = 6").fetchone()
    connection.close()
    forged = text.replace("b2><", "b2<>")
    digest = hashlib.sha256(forged.encode()).hexdigest()
    assert digest != link.digest
    change(tmp_path, "UPDATE events SET link = ?, digest = ? WHERE seq = 6", forged, digest)
    assert log.verify(match).broken == "event 7 does not follow the one before it"


def test_row_that_makes_no_sense_is_told_in_one_line_everywhere(log, match, tmp_path):
    digest = hashlib.sha256(b"nonsense").hexdigest()
    change(tmp_path, "UPDATE events SET link = 'nonsense', digest = ? WHERE seq = 19", digest)
    assert log.verify(match).broken == "event 19 is not JSON"
    other = log.begin(Opening(light="Cleo"))
    damaged, whole = log.matches()
    assert (damaged.id, whole) == (match, log.match(other))
    assert re.fullmatch(rf"match {match} is damaged: .*companion matches verify {match} tells more", damaged.why)
    with pytest.raises(OSError, match=rf"^match {match} is damaged"):
        log.entries(match)


def test_digest_that_is_no_text_is_told(log, match, tmp_path):
    change(tmp_path, "UPDATE events SET digest = x'ff00' WHERE seq = 5")
    assert not log.verify(match).sound
    with pytest.raises(OSError, match=rf"^match {match} is damaged: the digest of event 5 is no text"):
        log.entries(match)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE matches SET link = CAST(x'ff' AS TEXT) WHERE id = 1",
        "UPDATE matches SET link = replace(hex(zeroblob(50000)), '0', '[') WHERE id = 1",
        """UPDATE matches SET link = replace(link, '"table":"1"', '"table":1') WHERE id = 1""",
        """UPDATE matches SET link = replace(link, '"started":"', '"started":7,"x":"') WHERE id = 1""",
    ],
    ids=["no UTF-8", "too deep", "a number for a text", "no time"],
)
def test_damaged_match_hides_no_other(log, match, tmp_path, statement):
    other = log.begin(Opening(light="Cleo"))
    change(tmp_path, statement)
    damaged, whole = log.matches()
    assert (type(damaged), damaged.id, whole) == (Damaged, match, log.match(other))
    assert not log.verify(match).sound
    assert log.verify(other).sound


def test_forged_link_of_another_form_is_found(log, match, tmp_path):
    digest = hashlib.sha256(b"[]").hexdigest()
    change(tmp_path, "UPDATE events SET link = '[]', digest = ? WHERE seq = 19", digest)
    assert log.verify(match).broken == "a link lacks what every link tells"


def test_a_picture_that_was_exchanged_for_a_text_is_found(log, match, tmp_path):
    change(tmp_path, "UPDATE pictures SET evidence = 'forged' WHERE rowid = 1")
    assert log.verify(match).broken == "a picture was changed"


@pytest.mark.parametrize("told", ["garbage", '{"salt":"x","told":[]}'])
def test_names_that_make_no_sense_are_told_as_damage(log, match, tmp_path, told):
    change(tmp_path, "UPDATE people SET told = ?", told)
    with pytest.raises(StoreError, match=f"match {match} is damaged"):
        log.match(match)


def test_chain_made_up_anew_is_found_by_the_hash_on_paper(log, match):
    noted = log.match(match).digest
    assert log.verify(match, noted).sound
    assert log.verify(match, noted[:12].upper()).sound
    forged = log.begin(Opening())
    log.append(forged, example_events())
    assert log.verify(forged).sound
    found = log.verify(forged, noted)
    assert (found.sound, found.broken) == (False, f"the hash {noted} is not in it; it is that of match {match}")
    assert log.verify(forged, "c0ffee00").broken == "the hash c0ffee00 is not in it"
    assert log.verify(forged, "%_______").other is None


def test_the_place_of_a_known_hash_is_told(log, match):
    log.append(match, [events.BoardDisturbed(time=99.0, ply=16, squares=())])
    digests = [entry.digest for entry in log.entries(match)]
    told = {place: str(log.verify(match, digests[place - 1])).partition("; ")[2] for place in (5, 19, 20)}
    assert told == {
        5: "the hash that was given is that of event 5, not the final one, which is that of event 19",
        19: "the hash that was given is that of event 19, the final one",
        20: "the hash that was given is that of event 20, not the final one, which is that of event 19",
    }
    assert (log.verify(match, digests[4]).known, log.verify(match).known) == (5, None)


@pytest.mark.parametrize("digits", [0, 1, 7])
def test_too_few_digits_of_a_hash_prove_nothing(log, match, digits):
    assert not log.verify(match, log.match(match).digest[:digits]).sound


def test_erased_names_and_pictures_leave_a_sound_chain_that_says_so(log, match):
    log.erase_names(match)
    assert log.erase_pictures(match) == 2
    found = log.verify(match)
    assert (found.sound, found.names_erased, found.pictures_erased) == (True, True, 2)
    assert str(found).endswith("(erased: names, 2 of 2 pictures)")
    told = log.match(match)
    assert (told.opening.light, told.opening.dark, dict(told.opening.tags), told.names_erased) == ("", "", {}, True)
    assert log.evidence(match, log.entries(match)[1].evidence) is None
    assert not {"Light", "Dark", "Arbiter"} & log.match_text(match).tags.keys()
    assert str(log.game(match).score) == "4-1"


def test_numbers_of_a_tournament_are_not_erased_with_the_names_but_words_that_may_be_names_are(log):
    numbers = {"Round": "3.1", "Board": "12", "TimeControl": "40/7200:3600"}
    words = {"Round": "3, Ann's return", "Board": "Ben", "TimeControl": "as Zoe says", "Source": "Ann's diary"}
    for tags in (numbers, words):
        match = log.begin(Opening(light="Ann", tags={**tags, "Event": "Cup"}))
        assert dict(log.match(match).opening.tags) == {**tags, "Event": "Cup"}
        log.erase_names(match)
        assert dict(log.match(match).opening.tags) == {"Event": "Cup"} | (numbers if tags is numbers else {})
        assert log.verify(match).sound


def test_what_is_erased_is_gone_from_the_disk(log, match, tmp_path):
    def on_disk(secret):
        return any(secret in file.read_bytes() for file in tmp_path.iterdir())

    assert on_disk(b"Annabella")
    assert on_disk(PICTURES[0][:3000])
    log.erase_names(match)
    log.erase_pictures(match)
    assert not on_disk(b"Annabella")
    assert not on_disk(PICTURES[0][:300])


def test_what_another_program_still_reads_is_not_said_to_be_gone(log, match, tmp_path):
    reader = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM people").fetchall()
    with pytest.raises(StoreError, match="another program is reading"):
        log.erase_names(match)
    reader.close()
    log.erase_names(match)
    assert not any(b"Annabella" in file.read_bytes() for file in tmp_path.iterdir())


def test_one_match_is_erased_and_no_other(log, match):
    other = log.begin(Opening(light="Cleo"))
    log.append(other, example_events(), PICTURES[0])
    log.erase_names(match)
    log.erase_pictures(match)
    assert log.match(other).opening.light == "Cleo"
    assert log.verify(other).pictures_erased == 0


def test_same_picture_is_kept_once(log, match, tmp_path):
    log.append(match, example_events()[:2], PICTURES[0])
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    assert connection.execute("SELECT count(*) FROM pictures").fetchone() == (2,)
    connection.close()
    assert log.verify(match).sound
