"""Options that are given twice: of two values nobody knows which one was meant."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperOption

__all__ = ["refuse_given_twice"]


class _GivenOnce(TyperOption):
    """An option that takes one value; a flag that is only given once more says nothing new."""

    def add_to_parser(self, parser: Any, ctx: Any) -> None:
        # The parser keeps all that it finds then, and not the last alone.
        self.multiple = True
        super().add_to_parser(parser, ctx)
        self.multiple = False

    def consume_value(self, ctx: Any, opts: Any) -> Any:
        found = opts.get(self.name)
        if found is not None:
            if len(set(found)) > 1 or (len(found) > 1 and not self.is_flag):
                values = (*self.opts, *self.secondary_opts) if self.is_flag else found
                raise typer.BadParameter(f"found {' and '.join(values)}, expected one of them", ctx, self)
            opts = {**opts, self.name: found[0]}
        return super().consume_value(ctx, opts)


def refuse_given_twice(command: Any) -> None:
    """Have all options of a command, and of those under it, refused where they are given twice and take one value."""
    for option in command.params:
        if isinstance(option, TyperOption) and not option.multiple and not option.count:
            option.__class__ = _GivenOnce  # typer makes options itself, of no class but its own
    for each in getattr(command, "commands", {}).values():
        refuse_given_twice(each)
