"""Which battle somebody may have meant by a name under which there is none."""

from pathlib import Path

import pytest

from game.montecassino import Agreement, Battle, Side, format_battle
from rig.battle.file import FaultyBattleFile, read_battle
from rig.battle.names import battle_named_like

BATTLE = format_battle(Battle.begin(Agreement(first=Side.A)))


@pytest.mark.parametrize(
    ("there", "typed", "is_meant"),
    [
        ("friday.json", "frday.json", True),
        ("friday.json", "firday.json", True),
        ("friday.json", "Friday.json", True),
        ("friday.json", "friday", True),
        ("friday.json", "monday.json", False),
        ("semifinal.json", "final.json", False),
        ("round-1.json", "round-2.json", False),
        ("friday.json", "friday-2.json", False),
        ("anna-gerd-2.json", "ana-gerd-2.json", True),
    ],
)
def test_a_slip_of_the_keys_is_told_from_another_name(
    tmp_path: Path, there: str, typed: str, is_meant: bool
) -> None:
    (tmp_path / there).write_text(BATTLE)
    assert battle_named_like(tmp_path / typed) == (tmp_path / there if is_meant else None)


def test_only_a_battle_is_meant(tmp_path: Path) -> None:
    (tmp_path / "fridayy.json").write_text("{}")
    (tmp_path / "fridaj.json").write_bytes(b"\xff\xfe")
    (tmp_path / "fridax.json").mkdir()
    (tmp_path / ".friday.json.lock").write_text(BATTLE)
    assert battle_named_like(tmp_path / "friday.json") is None
    (tmp_path / "frida.json").write_text(BATTLE)
    assert battle_named_like(tmp_path / "friday.json") == tmp_path / "frida.json"


def test_nothing_is_meant_where_there_is_no_folder(tmp_path: Path) -> None:
    assert battle_named_like(tmp_path / "nowhere" / "friday.json") is None


def test_who_looks_for_a_battle_that_is_not_there_is_told_which_may_be_meant(tmp_path: Path) -> None:
    (tmp_path / "friday.json").write_text(BATTLE)
    with pytest.raises(FaultyBattleFile, match=r"expected a battle file; perhaps .*/friday\.json is meant"):
        read_battle(tmp_path / "frday.json")
