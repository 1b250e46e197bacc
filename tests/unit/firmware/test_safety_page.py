"""SAFETY.md: every promise has tests, and every test it names is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "firmware" / "SAFETY.md").read_text(encoding="utf-8")
EXPLORE = (ROOT / "firmware" / "host" / "explore.c").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(test_\w+\.py)::(test_\w+)`", PAGE)))
PROMISES = {
    section.split(maxsplit=1)[0]: section for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
}
NUMBERED = [name for name in PROMISES if name.startswith("S-")]


def test_promises_are_numbered_without_a_gap() -> None:
    assert [f"S-{number}" for number in range(1, len(NUMBERED) + 1)] == NUMBERED


@pytest.mark.parametrize("promise", NUMBERED)
def test_promise_says_what_keeps_it_and_has_a_test(promise: str) -> None:
    assert "Kept by: " in PROMISES[promise]
    assert re.search(r"^- `test_\w+\.py::test_\w+`$", PROMISES[promise], re.MULTILINE)


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_test_that_is_named_is_there(file: str, test: str) -> None:
    (path,) = (ROOT / "tests").rglob(file)
    assert f"\ndef {test}(" in path.read_text(encoding="utf-8")


def test_what_is_said_to_be_explored_is_what_the_explorer_asserts() -> None:
    said = set(re.findall(r"^- explored: (S-\d+)", PAGE, re.MULTILINE))
    assert said == set(re.findall(r'\{"(S-\d+)", S_\d+\}', EXPLORE))
    assert all(f"- explored: {promise}" in PROMISES[promise] for promise in said)
