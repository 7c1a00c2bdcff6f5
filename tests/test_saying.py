"""A saying is its English words, and keeps what they were made of."""

from __future__ import annotations

from companion.errors import NotationError, SourceError
from companion.saying import Saying, cited, joined


def test_saying_is_its_words_and_keeps_text_and_values():
    said = Saying("there is no camera %(path)s", path="/dev/video3")
    assert said == "there is no camera /dev/video3"
    assert (said.text, said.values) == ("there is no camera %(path)s", {"path": "/dev/video3"})


def test_saying_without_values_stays_as_it_is():
    assert Saying("100% sure") == "100% sure"


def test_several_sayings_are_told_one_after_the_other():
    assert joined(["one"]) == "one"
    assert joined([Saying("one"), "two", "three"]) == "one; two; three"
    assert joined([]) == ""


def test_of_a_long_text_only_the_beginning_is_cited():
    assert cited("a1?") == "'a1?'"
    assert cited("a" * 100) == f"'{'a' * 100}'"
    assert cited("a" * 3_000_000) == f"'{'a' * 100}…'"


def test_errors_keep_what_they_were_raised_with():
    said = Saying("it sends no pictures")
    assert SourceError(said).saying is said
    assert NotationError(said, column=3).saying is said
    assert str(NotationError(said, column=3)) == "line 1, column 3: it sends no pictures"
