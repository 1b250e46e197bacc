"""`make bench` finds something to measure in every module that it imports, and who is told of a module finds it."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = {
    path.stem: path
    for path in (ROOT / "benchmarks").glob("*.py")
    if path.stem not in ("__init__", "__main__")
}
TALKED_OF = re.compile(r"\bbenchmarks[./](?!__)(\w+)")


@pytest.mark.parametrize(
    "name", sorted(name for name in MODULES if not name.startswith("_") and name != "figure")
)
def test_every_benchmark_can_be_measured(name: str) -> None:
    """Whatever else lies in the folder has a name with an underscore before it, so that `make bench` passes it by."""
    defined = ast.parse(MODULES[name].read_text(encoding="utf-8")).body
    assert "measure" in {part.name for part in defined if isinstance(part, ast.FunctionDef)}


def test_every_benchmark_that_is_talked_of_exists() -> None:
    """A page or a docstring that names a module of this folder names one that is there."""
    told = [
        (path.relative_to(ROOT), name)
        for folder, ending in (("docs", "*.md"), ("vision", "*.py"), ("rig", "*.py"), ("benchmarks", "*.py"))
        for path in sorted((ROOT / folder).rglob(ending))
        for name in TALKED_OF.findall(path.read_text(encoding="utf-8"))
    ]
    assert told
    assert [(str(path), name) for path, name in told if name not in MODULES] == []
