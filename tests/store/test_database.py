"""Opening a log: new, old, newer, damaged, locked, full; and a program that is killed while it writes."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from companion.errors import StoreError
from companion.store import FILE_NAME, MatchLog, Opening, is_there
from companion.store.schema import HEAD, VERSIONS, metadata
from tests.shelf import no_room, only_read
from tests.store.playing import example_events

ROOT = Path(__file__).parents[2]
VERSION_1 = Path(__file__).parent / "version-1.sql"


def test_new_log_has_the_newest_schema(tmp_path, clock):
    MatchLog.open(tmp_path, clock).close()
    engine = sa.create_engine(f"sqlite:///{tmp_path / FILE_NAME}")
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        assert connection.scalar(sa.text("SELECT version_num FROM alembic_version")) == HEAD
    engine.dispose()


def test_newest_schema_is_that_of_the_last_migration():
    config = Config()
    config.set_main_option("script_location", "companion.store:migrations")
    steps = ScriptDirectory.from_config(config)
    assert steps.get_current_head() == HEAD
    assert tuple(step.revision for step in steps.walk_revisions())[::-1] == VERSIONS


def test_log_of_version_1_is_brought_up_to_date_and_stays_sound(tmp_path, clock):
    """`version-1.sql` is a log as the first version of the tables had it; it is never written anew."""
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.executescript(VERSION_1.read_text(encoding="utf-8"))
    connection.close()
    with MatchLog.open(tmp_path, clock) as log:
        found = log.verify(1)
        assert (found.sound, found.events, found.pictures, found.pictures_erased) == (True, 19, 1, 0)
        assert found.digest == "a8cbbaba56f8589a7ccd4b1b118209306f3ba56b6295e1ebeeb640ef1bc5cf98"
        assert str(log.game(1).score) == "4-1"
        assert log.match(1).opening.light == "Ann"
        assert log.append(1, example_events()[-1:]) == 20
        assert log.verify(1).sound


def test_nothing_is_written_to_a_log_that_is_not_where_it_was_any_more(tmp_path, clock):
    """Before, all went on without a word, into a file that had no name any more."""
    with MatchLog.open(tmp_path / "data", clock) as log:
        match = log.begin(Opening())
        (tmp_path / "data").rename(tmp_path / "moved")
        with pytest.raises(StoreError, match="is not where it was; put it back"):
            log.append(match, example_events()[:1])
        MatchLog.open(tmp_path / "data", clock).close()
        with pytest.raises(StoreError, match="is not where it was; put it back"):
            log.append(match, example_events()[:1])
        shutil.rmtree(tmp_path / "data")
        (tmp_path / "moved").rename(tmp_path / "data")
        log.append(match, example_events()[:1])
        assert log.verify(match).sound


def test_log_is_safe_against_power_loss(log):
    with log._database.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2, "FULL"


def test_log_opens_anywhere_and_without_alembic_once_it_is_up_to_date(tmp_path, clock):
    """From another folder, with nothing but the package; and a second start does not pay for migrations."""
    program = f"""
import sys
from datetime import UTC, datetime
from companion.store import MatchLog
MatchLog.open({str(tmp_path / "data")!r}, lambda: datetime.now(UTC)).close()
print("alembic" in sys.modules)
"""
    run = [sys.executable, "-c", program]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    said = [
        subprocess.run(run, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True).stdout.strip()
        for _ in range(2)
    ]
    assert said == ["True", "False"]


@pytest.mark.parametrize("name", ["with space", "100%", "ünïcode", "a?b#c"])
def test_folder_may_have_any_name(tmp_path, clock, name):
    with MatchLog.open(tmp_path / name / "deep", clock) as log:
        log.begin(Opening())
    assert (tmp_path / name / "deep" / FILE_NAME).exists()


def test_log_that_is_not_there_is_not_made_unasked(tmp_path, clock):
    assert not is_there(tmp_path)
    with pytest.raises(StoreError, match=r"^there is no match log in .* yet"):
        MatchLog.open(tmp_path, clock, create=False)
    assert list(tmp_path.iterdir()) == []


def test_file_that_a_url_names_is_not_made_unasked_either(tmp_path, clock):
    place = f"sqlite:///{tmp_path / 'new.db'}"
    assert not is_there(place)
    with pytest.raises(StoreError, match=r"^there is no match log at sqlite:///.*new.db yet"):
        MatchLog.open(place, clock, create=False)
    assert list(tmp_path.iterdir()) == []
    MatchLog.open(place, clock).close()
    assert is_there(place)


@pytest.mark.parametrize(
    "place",
    ["sqlite://", "sqlite:///:memory:", "sqlite+pysqlite:///:memory:", "sqlite:///file:x.db?mode=ro&uri=true",
     "sqlite:////no/such/folder/x.db", "postgresql://hall/matches", "no://database"],
)  # fmt: skip
def test_only_opening_tells_whether_there_is_a_log_where_no_file_says_so(place):
    assert is_there(place)


@pytest.mark.parametrize(
    "place",
    ["sqlite://", "sqlite:///:memory:", "sqlite+pysqlite:///:memory:", "sqlite:///file::memory:?uri=true",
     "sqlite:///file:x?mode=memory&uri=true"],
)  # fmt: skip
@pytest.mark.parametrize("create", [True, False])
def test_database_that_keeps_nothing_is_refused(place, create, clock):
    with pytest.raises(StoreError, match=r"^sqlite.* is a database in memory, and keeps nothing; give a folder, or"):
        MatchLog.open(place, clock, create=create)


def test_folder_that_cannot_be_made_is_one_clear_line(tmp_path, clock):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"^the data folder .*file/x cannot be used: Not a directory; choose another$"):
        MatchLog.open(tmp_path / "file" / "x", clock)


def test_damage_that_sqlite_cannot_tell_in_letters_is_one_clear_line(tmp_path, clock):
    MatchLog.open(tmp_path, clock).close()
    file = tmp_path / FILE_NAME
    whole, name = file.read_bytes(), b"sqlite_autoindex_pictures_1"
    assert name in whole
    file.write_bytes(whole.replace(name, b"s\x9d" + name[2:]))
    with pytest.raises(StoreError, match=r"cannot be used: it is damaged; move it away, or put a backup in its place$"):
        MatchLog.open(tmp_path, clock)


@pytest.mark.parametrize("start", [b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4000])
def test_file_that_is_no_database_is_one_clear_line(tmp_path, clock, start):
    (tmp_path / FILE_NAME).write_bytes(start)
    with pytest.raises(StoreError, match=r"(is not a match log, or is damaged|it is damaged)"):
        MatchLog.open(tmp_path, clock)


def test_damaged_page_is_one_clear_line(tmp_path, clock):
    with MatchLog.open(tmp_path, clock) as log:
        match = log.begin(Opening())
        log.append(match, example_events(), b"picture" * 9000)
    file = tmp_path / FILE_NAME
    file.write_bytes(file.read_bytes()[:4096] + b"\x55" * (file.stat().st_size - 4096))
    with pytest.raises(StoreError, match="it is damaged; move it away"), MatchLog.open(tmp_path, clock) as log:
        log.entries(match)


def test_database_of_another_program_is_left_alone(tmp_path, clock):
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("CREATE TABLE recipes (name)")
    connection.close()
    with pytest.raises(StoreError, match="is a database, but not a match log"):
        MatchLog.open(tmp_path, clock)


def test_log_of_a_newer_version_is_left_alone(tmp_path, clock):
    MatchLog.open(tmp_path, clock).close()
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("UPDATE alembic_version SET version_num = '0999'")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match=rf"has version 0999, .* up to {HEAD}; update the program$"):
        MatchLog.open(tmp_path, clock)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE alembic_version SET version_num = '0000'",
        "UPDATE alembic_version SET version_num = 'abc'",
        "UPDATE alembic_version SET version_num = ''",
        "INSERT INTO alembic_version VALUES ('0999')",
        "DELETE FROM alembic_version",
    ],
)
def test_log_of_a_version_that_there_never_was_is_one_clear_line(tmp_path, clock, change):
    MatchLog.open(tmp_path, clock).close()
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute(change)
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match=r"has the version '.*', which there never was; put a backup in its place$"):
        MatchLog.open(tmp_path, clock)


def test_file_in_the_place_of_the_folder_is_told(tmp_path, clock):
    file = tmp_path / "game.mjn"
    file.touch()
    assert is_there(file)
    for create in (True, False):
        with pytest.raises(StoreError, match=r"game.mjn is a file; --data takes the folder that has"):
            MatchLog.open(file, clock, create=create)


def test_log_that_another_program_is_writing_is_one_clear_line_and_can_be_asked_again(tmp_path, log):
    match = log.begin(Opening())
    other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="another program is writing to it; try again"):
        log.append(match, example_events(), after=0)
    assert log.entries(match) == (), "reading goes on"
    other.execute("ROLLBACK")
    other.close()
    assert log.append(match, example_events(), after=0) == 19


@pytest.mark.parametrize(
    ("setting", "trouble", "mended"),
    [
        ("query_only=ON", "it may not be written to", "query_only=OFF"),
        ("max_page_count=1", "the disk is full; make room", "max_page_count=1000000"),
    ],
)
def test_log_that_cannot_be_written_keeps_what_it_has(log, setting, trouble, mended):
    match = log.begin(Opening())
    log.append(match, example_events()[:3])
    pragma(log, setting)
    with pytest.raises(StoreError, match=trouble):
        log.append(match, example_events()[3:], b"x" * 100_000)
    assert len(log.entries(match)) == 3
    pragma(log, mended)
    log.append(match, example_events()[3:], b"x" * 100_000)
    assert log.verify(match).sound


def pragma(log, setting):
    """Change the one connection that a log with one thread has."""
    with log._database._engine.connect() as connection:
        connection.connection.cursor().execute(f"PRAGMA {setting}")


@pytest.mark.parametrize(
    ("url", "trouble"),
    [
        ("nonsense://x", "is no database this program knows"),
        ("mysql://ann:secret@host/x", "mysql needs the module MySQLdb; for PostgreSQL: "),
        ("postgresql://host:port:port/x", "the database URL cannot be read"),
        ("postgresql://ann:secret\udcff@host/x", "the database URL cannot be read"),
        ("postgresql://ann:secret@host..club/x", "cannot be used: .*label"),
        ("postgresql://ann:secret@127.0.0.1:1/x?connect_timeout=1", "cannot be used: .*onnection"),
    ],
)
def test_database_url_that_leads_nowhere_is_one_clear_line_without_its_password(clock, url, trouble):
    with pytest.raises(StoreError, match=trouble) as refused:
        MatchLog.open(url, clock)
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_log_that_may_only_be_read_is_read_and_not_written_to(shelf, clock):
    with MatchLog.open(shelf, clock) as log:
        match = log.begin(Opening(light="Ann"))
        log.append(match, example_events())
    with only_read(shelf):
        for place in (shelf, f"sqlite:///{shelf / FILE_NAME}"):
            with MatchLog.open(place, clock, create=False) as log:
                assert log.verify(match).sound
                assert [found.opening.light for found in log.matches()] == ["Ann"]
                with pytest.raises(StoreError, match="it may not be written to"):
                    log.erase_names(match)
        with pytest.raises(StoreError, match="it may not be written to"):
            MatchLog.open(shelf, clock)
        assert [file.name for file in shelf.iterdir()] == [FILE_NAME]


@pytest.fixture
def interrupted(tmp_path, shelf, clock):
    """What a program that was killed leaves: the last of the match is in the write-ahead log only."""
    with MatchLog.open(tmp_path, clock) as log:
        match = log.begin(Opening())
        log.append(match, example_events())
        for file in tmp_path.iterdir():
            shutil.copy(file, shelf)
    return match


def test_what_a_killed_program_left_is_read_too_where_nothing_may_be_written(shelf, interrupted, clock):
    with only_read(shelf), MatchLog.open(shelf, clock, create=False) as log:
        assert log.verify(interrupted).sound
        assert log.match(interrupted).length == 19


def test_file_that_was_copied_without_what_is_beside_it_is_no_log_of_no_matches(tmp_path, shelf, clock):
    with MatchLog.open(tmp_path, clock) as log:
        log.append(log.begin(Opening()), example_events())
        shutil.copy(tmp_path / FILE_NAME, shelf)
    copied = (shelf / FILE_NAME).read_bytes()
    for place in (shelf, f"sqlite:///{shelf / FILE_NAME}"):
        with pytest.raises(StoreError, match=rf"{FILE_NAME} is empty; .*, copy {FILE_NAME}-wal"):
            MatchLog.open(place, clock, create=False)
    assert (shelf / FILE_NAME).read_bytes() == copied


def test_rest_that_cannot_be_read_without_writing_is_one_clear_line(shelf, interrupted, clock):
    (shelf / f"{FILE_NAME}-shm").unlink()
    with (
        only_read(shelf),
        pytest.raises(StoreError, match=r"left in the middle of writing, and may not be .*; copy its whole folder"),
    ):
        MatchLog.open(shelf, clock, create=False)
    with MatchLog.open(shelf, clock, create=False) as log:
        assert log.verify(interrupted).sound


def test_log_that_another_user_is_writing_is_read(shelf, clock):
    with MatchLog.open(shelf, clock) as writing:
        match = writing.begin(Opening())
        with only_read(shelf), MatchLog.open(shelf, clock, create=False) as log:
            for told in example_events():
                writing.append(match, [told])
                assert log.entries(match)[-1].event == told


def test_what_was_read_while_a_writer_came_is_not_trusted(shelf, clock):
    MatchLog.open(shelf, clock).close()
    with only_read(shelf):
        reading = MatchLog.open(shelf, clock, create=False)
    with reading, MatchLog.open(shelf, clock) as writing:
        assert reading.matches() == []
        writing.begin(Opening())
        writing.close()
        with pytest.raises(StoreError, match=r"another program has written to .* meanwhile; try again"):
            reading.matches()


WRITER = """
import sys
from datetime import UTC, datetime
from companion.store import MatchLog, Opening
from tests.store.playing import example_events

log = MatchLog.open(sys.argv[1], lambda: datetime.now(UTC), wait_s=60)
match = log.begin(Opening())
print(match, flush=True)
for _ in range(int(sys.argv[2])):
    for event in example_events():
        print(log.append(match, [event], bytes(50_000)), flush=True)
"""
"""Writes the worked example, with pictures, as often as it is told, and says so."""


def writer(folder, times):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(times)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
    )


@pytest.mark.parametrize("acknowledged", [1, 30])
def test_program_killed_while_it_writes_loses_nothing_it_acknowledged(tmp_path, clock, acknowledged):
    with writer(tmp_path, 1000) as process:
        match = int(process.stdout.readline())
        for _ in range(acknowledged):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        heard = [int(line) for line in process.stdout if line.endswith("\n")]
    last = max([acknowledged, *heard])
    with MatchLog.open(tmp_path, clock) as log:
        found = log.verify(match)
        assert found.sound
        assert last <= found.events <= last + 1, "at most the one that was being acknowledged is more"
        told = example_events() * (found.events // len(example_events()) + 1)
        assert [entry.event for entry in log.entries(match)] == list(told[: found.events])
        log.append(match, example_events())
        assert log.verify(match).sound


def test_programs_that_open_a_new_log_at_once_share_it(place, clock):
    said = [process.communicate()[0].split() for process in [writer(place, 1) for _ in range(3)]]
    assert sorted(int(lines[0]) for lines in said) == [1, 2, 3]
    with MatchLog.open(place, clock) as log:
        assert [(log.verify(match).sound, log.match(match).length) for match in (1, 2, 3)] == [(True, 19)] * 3


def test_log_on_a_full_disk_is_read_and_says_that_it_is_full_when_written_to(shelf, clock):
    with MatchLog.open(shelf, clock) as log:
        match = log.begin(Opening(light="Ann"))
        log.append(match, example_events())
    for _again in range(2):
        with no_room():
            with MatchLog.open(shelf, clock, create=False) as log:
                assert log.verify(match).sound
                assert [found.opening.light for found in log.matches()] == ["Ann"]
                with pytest.raises(StoreError, match="the disk is full; make room"):
                    log.erase_names(match)
            with pytest.raises(StoreError, match="the disk is full; make room"):
                MatchLog.open(shelf, clock)
    with MatchLog.open(shelf, clock) as log:
        log.erase_names(match)
        assert log.verify(match).names_erased


def test_what_a_killed_program_left_on_a_full_disk_is_not_passed_over(shelf, interrupted, clock):
    (shelf / f"{FILE_NAME}-shm").unlink()
    with no_room(), pytest.raises(StoreError, match="the disk is full; make room"):
        MatchLog.open(shelf, clock, create=False)
    with MatchLog.open(shelf, clock, create=False) as log:
        assert log.match(interrupted).length == 19
