"""Ctrl-C while the command is being loaded, and as the interpreter ends."""

import subprocess
import sys

import pytest

CTRL_C = "import os, signal\ndef ctrl_c(): os.kill(os.getpid(), signal.SIGINT)\n"
WHILE_LOADING = """
class Loading:
    def find_spec(self, name, path=None, target=None):
        if name == "rig.cli.aim":
            ctrl_c()
sys.meta_path.insert(0, Loading())
"""
AT_THE_END = "import atexit; atexit.register(ctrl_c)\n"


@pytest.mark.parametrize(
    ("when", "status", "told"), [(WHILE_LOADING, 130, "rig: stopped\n"), (AT_THE_END, 0, "")]
)
def test_ctrl_c_is_no_traceback_whenever_it_comes(when: str, status: int, told: str) -> None:
    program = f"import sys\n{CTRL_C}{when}\nfrom rig.start import main\nsys.exit(main())"
    ended = subprocess.run(
        [sys.executable, "-c", program, "--version"], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (status, told)
