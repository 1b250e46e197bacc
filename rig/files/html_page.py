"""One HTML file with everything in it, from a template: what is put into it is text, and never markup of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from jinja2 import Environment, PackageLoader

__all__ = ["html_page"]


def html_page(
    package: str,
    template: str,
    values: Mapping[str, object],
    filters: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
) -> str:
    """Return a page.

    Parameters
    ----------
    package
        Whose folder `templates` holds the template.
    template
        Its file's name.
    values
        What the template puts in. Only what is `markupsafe.Markup` comes in as it stands.
    filters
        What the template calls, by name.
    """
    environment = Environment(
        loader=PackageLoader(package), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(filters)
    return environment.get_template(template).render(values)
