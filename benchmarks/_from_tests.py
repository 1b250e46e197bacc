"""What a test has that a benchmark needs too: tests are no package, so it is loaded from its file."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

__all__ = ["UNIT_TESTS", "from_tests"]

UNIT_TESTS = Path(__file__).parents[1] / "tests" / "unit"


def from_tests(path: str) -> ModuleType:
    """Return the module of a file of the unit tests."""
    found = importlib.util.spec_from_file_location(Path(path).stem, UNIT_TESTS / path)
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    # Dataclasses look their module up.
    sys.modules[module.__name__] = module
    found.loader.exec_module(module)
    return module
