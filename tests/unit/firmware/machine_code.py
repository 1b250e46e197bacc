"""What the firmware's machine code says of itself: how deep its stack can grow, who calls whom, what is in it.

The disassembly is walked along every branch, keeping count of what lies on the stack. Nothing is guessed: an
instruction that moves the stack in a way not known here, a jump to nowhere known, a call in a circle raise.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

__all__ = ["CALL_BYTES", "MachineCode"]

CALL_BYTES = 2
"""What a call, or the entry of an interrupt, puts on the stack."""

_LINE = re.compile(r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t?(\S*)\s*([^;]*?)\s*(?:;.*)?$")
_LABEL = re.compile(r"^([0-9a-f]{8}) <(.+)>:$")
_SKIPS = {"cpse", "sbrc", "sbrs", "sbic", "sbis"}
_SPL, _SREG = "0x3d", "0x3f"

ENTRY_CYCLES = 7
"""To push the program counter, and the jump in the table of vectors."""

LONGEST_INSTRUCTION = 4
"""Cycles; one more instruction passes after interrupts come on."""

_UNDER_WAY = -1
_CYCLES = {
    **dict.fromkeys(("adiw", "sbiw", "push", "pop", "sbi", "cbi", "rjmp", "ijmp"), 2),
    **dict.fromkeys(("ld", "ldd", "lds", "st", "std", "sts"), 2),
    **dict.fromkeys(("mul", "muls", "mulsu", "fmul", "fmuls", "fmulsu"), 2),
    **dict.fromkeys(("lpm", "jmp", "rcall", "icall"), 3),
    **dict.fromkeys(("call", "ret", "reti"), 4),
}
"""Of what does not take one cycle, on an AVR with a 16-bit program counter; branches and skips take more when they do."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One line of the disassembly."""

    address: int
    size: int
    name: str
    operands: tuple[str, ...]

    @property
    def after(self) -> int:
        return self.address + self.size

    @property
    def target(self) -> int:
        """Where a jump, branch or call goes."""
        operand = self.operands[-1]
        return int(operand, 16) if operand.startswith("0x") else self.after + int(operand.lstrip("."))


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a function: bytes on the stack since its call, and where Y stands as a frame pointer."""

    address: int
    depth: int
    frame: int | None


class MachineCode:
    """A program for the ATmega328P.

    Parameters
    ----------
    path
        Its ELF file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        text = self._run("avr-objdump", "-d")
        self.labels: dict[str, int] = {}
        self._at: dict[int, Instruction] = {}
        for line in text.splitlines():
            if label := _LABEL.match(line):
                self.labels[label[2]] = int(label[1], 16)
            elif found := _LINE.match(line):
                operands = tuple(part.strip() for part in found[4].split(",") if part.strip())
                size = len(found[2].split())
                self._at[int(found[1], 16)] = Instruction(int(found[1], 16), size, found[3], operands)
        self._starts = sorted(self.labels.values())

    def _run(self, *command: str) -> str:
        return subprocess.run([*command, str(self._path)], check=True, capture_output=True, text=True).stdout

    @cached_property
    def symbols(self) -> frozenset[str]:
        """The names of everything that was linked in."""
        return frozenset(line.split()[-1] for line in self._run("avr-nm").splitlines())

    @cached_property
    def static_ram_bytes(self) -> int:
        """Bytes of RAM that variables take."""
        used = re.search(r"Data:\s+(\d+) bytes", self._run("avr-size", "-C", "--mcu=atmega328p"))
        assert used
        return int(used[1])

    @cached_property
    def flash_bytes(self) -> int:
        """Bytes of flash that the program takes."""
        used = re.search(r"Program:\s+(\d+) bytes", self._run("avr-size", "-C", "--mcu=atmega328p"))
        assert used
        return int(used[1])

    def vectors(self) -> dict[int, int]:
        """Return where each interrupt that has a handler goes."""
        nobody = self.labels["__bad_interrupt"]
        found = {number: self._at[4 * number].target for number in range(1, 26)}
        return {number: target for number, target in found.items() if target != nobody}

    # -- the stack -----------------------------------------------------------------------------------------------

    def nests(self, entry: int) -> bool:
        """Return whether others may interrupt a handler that begins there."""
        return any(self._at[place.address].name == "sei" for place in self._places(entry))

    def deepest(self, entry: int) -> int:
        """Return how many bytes a function puts on the stack at most, those it calls included, its own call not."""
        return self._deepest(entry, ())

    @property
    def main_bytes(self) -> int:
        """Bytes of stack of the main loop with all that it calls."""
        return CALL_BYTES + self.deepest(self.labels["main"])

    @property
    def worst_stack_bytes(self) -> int:
        """Bytes of stack when the main loop is at its deepest and every interrupt that lets others in is too.

        Each of these once: they come again only after they have ended, for their next flag is at least 128 us away or
        they have switched themselves off. On top comes the deepest of those that let nobody in.
        """
        handlers = [(self.nests(at), CALL_BYTES + self.deepest(at)) for at in self.vectors().values()]
        return (
            self.main_bytes
            + sum(bytes_ for nests, bytes_ in handlers if nests)
            + max(bytes_ for nests, bytes_ in handlers if not nests)
        )

    def _deepest(self, entry: int, callers: tuple[int, ...]) -> int:
        assert entry not in callers, f"recursion: {[hex(at) for at in (*callers, entry)]}"
        return self._known_deepest(entry, callers)

    def _known_deepest(self, entry: int, callers: tuple[int, ...]) -> int:
        if entry not in self._depths:
            deepest = 0
            for place in self._places(entry):
                instruction = self._at[place.address]
                deepest = max(deepest, place.depth)
                if instruction.name in {"call", "rcall"} and instruction.target != instruction.after:
                    called = self._deepest(instruction.target, (*callers, entry))
                    deepest = max(deepest, place.depth + CALL_BYTES + called)
            self._depths[entry] = deepest
        return self._depths[entry]

    @cached_property
    def _depths(self) -> dict[int, int]:
        return {}

    @cache  # noqa: B019  # one program, one test session
    def _places(self, entry: int) -> frozenset[Place]:
        """All places that a function reaches by itself."""
        seen: set[Place] = set()
        todo = [Place(entry, 0, None)]
        while todo:
            place = todo.pop()
            if place not in seen:
                seen.add(place)
                todo += self._next(place)
        return frozenset(seen)

    def _next(self, place: Place) -> list[Place]:
        i = self._at[place.address]
        depth, frame = place.depth, place.frame
        match i.name:
            case "ret" | "reti":
                assert depth == 0, f"{i.address:#x}: returns with {depth} bytes on the stack"
                return []
            case "icall" | "eicall":
                raise AssertionError(f"{i.address:#x}: a call of nobody knows whom")
            case "ijmp":
                raise AssertionError(f"{i.address:#x}: a jump to nobody knows where")
            case "rjmp" | "jmp":
                return self._jump(i, depth, frame)
            case "push":
                depth += 1
            case "pop":
                depth -= 1
            case "rcall" if i.target == i.after:  # makes room
                depth += CALL_BYTES
            case "in" if i.operands == ("r28", _SPL):
                frame = depth
            case "sbiw" if i.operands[0] == "r28" and frame is not None:
                frame += int(i.operands[1], 16)
            case "adiw" if i.operands[0] == "r28" and frame is not None:
                frame -= int(i.operands[1], 16)
            case "subi" if i.operands[0] == "r28" and frame is not None:
                high = self._at[i.after]
                assert high.name == "sbci", f"{i.address:#x}: half a subtraction"
                change = int(i.operands[1], 16) | int(high.operands[1], 16) << 8
                frame += change - (change >> 15 << 16)
            case "ldi" | "mov" | "movw" | "lds" | "ld" | "ldd" | "lpm" if i.operands[0] == "r28":
                frame = None  # the function has no frame, and Y is a register like any other
            case "out" if i.operands[0] == _SPL:
                assert i.operands[1] == "r28" and frame is not None, f"{i.address:#x}: the stack is moved"
                depth = frame
        if i.name.startswith("br") and i.name != "break":
            return [Place(i.after, depth, frame), Place(i.target, depth, frame)]
        if i.name in _SKIPS:
            return [Place(i.after, depth, frame), Place(self._at[i.after].after, depth, frame)]
        return [Place(i.after, depth, frame)]

    def _jump(self, i: Instruction, depth: int, frame: int | None) -> list[Place]:
        saves, restores = self.labels.get("__prologue_saves__"), self.labels.get("__epilogue_restores__")
        table = self.labels.get("__tablejump2__")
        if saves is not None and restores is not None and saves <= i.target < restores:
            return self._prologue(i, depth)
        if restores is not None and restores <= i.target < restores + 0x36:
            return []  # pops what the prologue pushed, and returns
        if i.target == table:
            # To one of a table of cases, all within this function, which has its frame throughout.
            begin = max(start for start in self._starts if start <= i.address)
            end = min(start for start in self._starts if start > i.address)
            return [Place(at, depth, frame) for at in self._cases if begin <= at < end]
        assert i.target in self._at, f"{i.address:#x}: a jump to nowhere"
        return [Place(i.target, depth, frame)]

    @cached_property
    def _cases(self) -> frozenset[int]:
        """Every word of the constants before the code that is an address of code: the tables of `switch`."""
        raw = self._run("avr-objdump", "-s", "-j", ".text")
        image = bytearray()
        for line in raw.splitlines():
            if found := re.match(r"^ ([0-9a-f]+) ((?:[0-9a-f]{2,8} ?){1,4}) ", line):
                image += bytes.fromhex(found[2].replace(" ", ""))
        first, last = self.labels["__trampolines_end"], self.labels["__ctors_end"]
        words = {int.from_bytes(image[at : at + 2], "little") * 2 for at in range(first, last)}
        return frozenset(words & self._at.keys())

    # -- time ----------------------------------------------------------------------------------------------------

    def masked_cycles(self, entry: int) -> int:
        """Return the longest that a handler keeps all others out: to its `sei` and the instruction behind, or `reti`."""
        return self._masked(entry, self._at[entry], ())

    def longest_atomic(self) -> int:
        """Return the cycles of the longest stretch outside handlers that is between `cli` and interrupts on again."""
        end = self.labels["_exit"]  # where no program of ours comes
        begins = [i for i in self._at.values() if i.name == "cli" and i.address != end]
        return max(self._masked(i.address, i, ()) for i in begins)

    def longest_wait(self, vector: int) -> int:
        """Return the cycles from an interrupt's flag to the first instruction of its handler, at most.

        The longest stretch that may have begun just before, then every interrupt of higher priority once, then its
        own entry.
        """
        handlers = self.vectors()
        under_way = [self.masked_cycles(at) for other, at in handlers.items() if other != vector]
        before = [ENTRY_CYCLES + self.masked_cycles(at) for other, at in handlers.items() if other < vector]
        return max(*under_way, self.longest_atomic()) + sum(before) + ENTRY_CYCLES

    def _masked(self, address: int, begin: Instruction, callers: tuple[int, ...]) -> int:
        """Longest way in cycles from an address to where interrupts are on, or (in a function called) to its end."""
        key = (address, bool(callers))
        if key not in self._times:
            self._times[key] = _UNDER_WAY
            self._times[key] = self._masked_from(address, begin, callers)
        assert self._times[key] != _UNDER_WAY, f"{address:#x}: a loop with interrupts off"
        return self._times[key]

    def _handles(self, i: Instruction) -> bool:
        """Return whether an instruction is a handler's: the flags that it restores at its end are without I."""
        begin = max(start for start in self._starts if start <= i.address)
        return any(name.startswith("__vector") for name, at in self.labels.items() if at == begin)

    @cached_property
    def _times(self) -> dict[tuple[int, bool], int]:
        return {}

    def _masked_from(self, address: int, begin: Instruction, callers: tuple[int, ...]) -> int:
        i = self._at[address]
        cost = _CYCLES.get(i.name, 1)
        if i.name in {"ret", "reti"}:
            return cost + (0 if i.name == "ret" else LONGEST_INSTRUCTION)
        if i.name == "sei" or (
            i.name == "out" and i.operands[0] == _SREG and not callers and not self._handles(begin)
        ):
            return cost + LONGEST_INSTRUCTION
        if i.name in {"jmp", "rjmp"} and i.target == self.labels.get("__tablejump2__"):
            raise AssertionError(f"{address:#x}: a table of cases with interrupts off")
        if i.name in {"jmp", "rjmp"}:
            return cost + self._masked(i.target, begin, callers)
        if i.name in {"call", "rcall"} and i.target != i.after:
            cost += self._masked(i.target, self._at[i.target], (*callers, address))
        if i.name.startswith("br") and i.name != "break":
            return cost + max(
                self._masked(i.after, begin, callers), 1 + self._masked(i.target, begin, callers)
            )
        if i.name in _SKIPS:
            skipped = self._at[i.after]
            skip = skipped.size // 2 + self._masked(skipped.after, begin, callers)
            return cost + max(self._masked(i.after, begin, callers), skip)
        return cost + self._masked(i.after, begin, callers)

    def _prologue(self, i: Instruction, depth: int) -> list[Place]:
        """Follow `__prologue_saves__`: pushes, then a frame of r27:r26 bytes, then on at r31:r30."""
        loaded: dict[str, int] = {}
        at = i.address
        for _ in range(6):
            at = max(address for address in self._at if at - 4 <= address < at)
            if self._at[at].name == "ldi":
                loaded.setdefault(self._at[at].operands[0], int(self._at[at].operands[1], 16))
        push = self._at[i.target]
        while push.name == "push":
            depth += 1
            push = self._at[push.after]
        depth += loaded["r26"] | loaded["r27"] << 8
        return [Place((loaded["r30"] | loaded["r31"] << 8) * 2, depth, depth)]
