"""Frama-C's value analysis of the core, and what it found; alarms.md says what that means.

Exit status: 0 without an alarm that is not explained, 1 with one, 2 when there was no analysis.
"""

import argparse
import csv
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from weave import WeavingError, weave

HERE = Path(__file__).resolve().parent
FIRMWARE = HERE.parent
ALARMS = HERE / "alarms.md"

# Of Frama-C's machines those with the sizes of the chips' integers: an int of 16 bits, and one of 32.
MACHINES = {"avr": "gcc_x86_16", "arm": "gcc_x86_32"}

# How much to keep apart before putting cases together; without meaning for what is found, only for how sharply.
PRECISION = [
    *("-eva-precision", "0"),
    *("-eva-auto-loop-unroll", "32"),
    *("-eva-ilevel", "64"),
    *("-eva-split-limit", "256"),
    *("-eva-split-return", "auto"),
    "-eva-interprocedural-splits",
    "-eva-slevel-function",
    "configure:300,settings_allows:300,settings_contradiction:50,store_load:300,read_copy:300,"
    "outbox_acknowledge:100,axes_range:20,announce_moves:300,store_step:70,cannon_step:20",
]

STOPPED_AT = re.compile(
    r"\[eva:alarm\][^\n]*\n(?P<property>.*?)\n  stack: (?P<function>\w+) ::.*Stopping at nth alarm", re.DOTALL
)


class NoAnalysisError(Exception):
    """The analysis did not come to its end."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What an analysis found."""

    alarms: tuple[tuple[str, str], ...]
    """Function and property of each."""
    reached: dict[str, tuple[int, int]]
    """Of every function of the core the statements reached and all of them."""


def _reached(output: str, functions: set[str]) -> dict[str, tuple[int, int]]:
    """Statements reached, and all, of each function; none of one that is missing."""
    lines = re.findall(r"^ *(\w+): (\d+) stmts out of (\d+)", output, re.MULTILINE)
    reached = {name: (int(some), int(every)) for name, some, every in lines if name in functions}
    return dict.fromkeys(functions, (0, 1)) | reached


def analyse(core: Path, machine: str, build: Path, *, first: bool = False) -> Findings:
    """Weave `core` and analyse it for a machine; with `first` no further than the first alarm."""
    functions = weave(core, FIRMWARE / "host", build)
    report = build / "report.csv"
    report.unlink(missing_ok=True)
    include = f"-Dvolatile= -I{core} -I{FIRMWARE / 'host'}"
    command = ["frama-c", "-machdep", MACHINES[machine], f"-cpp-extra-args={include}"]
    command += [*map(str, sorted(build.glob("*.c"))), str(HERE / "driver.c")]
    command += ["-kernel-warn-key", "annot-error=abort", "-eva", *PRECISION]
    if first:
        command += ["-eva-stop-at-nth-alarm", "1", "-eva-print-callstacks"]
    command += ["-then", "-metrics", "-metrics-eva-cover", "-report-csv", str(report), "-report-no-proven"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if first and (alarm := STOPPED_AT.search(run.stdout)):
        return Findings(((alarm["function"], " ".join(alarm["property"].split())),), {})
    if "invalid user input" in run.stdout or not report.exists():
        raise NoAnalysisError((run.stdout + run.stderr)[-2000:])
    with report.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    alarms = tuple((row["function"], row["property"]) for row in rows)
    return Findings(alarms, _reached(run.stdout, functions))


def explained(page: str) -> tuple[set[tuple[str, str]], set[str]]:
    """Alarms that the page explains, and functions of which it explains why not all is reached."""
    alarms = set(re.findall(r"^- alarm in `(\w+)`: `(.+?)`", page, re.MULTILINE))
    return alarms, set(re.findall(r"^- not all of `(\w+)`", page, re.MULTILINE))


def main() -> int:
    """Analyse the core for each machine that is named, and say what came of it."""
    parser = argparse.ArgumentParser(description="Prove the absence of undefined behaviour in the core.")
    parser.add_argument("--core", type=Path, default=FIRMWARE / "core", help="the sources")
    parser.add_argument("--build", type=Path, default=FIRMWARE.parent / "build" / "firmware" / "proof")
    parser.add_argument("--first", action="store_true", help="stop at the first alarm")
    parser.add_argument("machine", nargs="*", choices=[[], *MACHINES], help="all, if none is named")
    arguments = parser.parse_args()
    if shutil.which("frama-c") is None:
        print("prove: frama-c is missing; install it with: apt-get install frama-c-base", file=sys.stderr)
        return 2
    known_alarms, known_gaps = explained(ALARMS.read_text(encoding="utf-8"))
    status = 0
    for machine in arguments.machine or MACHINES:
        try:
            build = arguments.build / machine
            findings = analyse(arguments.core.resolve(), machine, build, first=arguments.first)
        except (WeavingError, NoAnalysisError) as error:
            print(f"prove: no analysis: {error}", file=sys.stderr)
            return 2
        if arguments.first and findings.alarms:
            print("{}: first alarm in {}: {}".format(machine, *findings.alarms[0]))
            return 1
        reached = sum(some for some, _ in findings.reached.values())
        every = sum(count for _, count in findings.reached.values())
        new = [alarm for alarm in findings.alarms if alarm not in known_alarms]
        print(
            f"{machine}: {len(findings.reached)} functions analysed, coverage {100 * reached / every:.1f} %, "
            f"alarms {len(findings.alarms)} ({len(findings.alarms) - len(new)} explained in proof/alarms.md)"
        )
        for function, condition in new:
            print(f"  new alarm in {function}: {condition}")
            status = 1
        gaps = {name for name, (some, count) in findings.reached.items() if some < count}
        for function in sorted(gaps - known_gaps):
            print(
                "  not all of {} is reached: {} of {} statements".format(
                    function, *findings.reached[function]
                )
            )
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
