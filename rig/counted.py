"""How many of a thing, in words."""

__all__ = ["counted"]


def counted(count: int, what: str) -> str:
    """Say how many of something there are.

    Examples
    --------
    >>> counted(1, "shot"), counted(3, "shot")
    ('1 shot', '3 shots')
    """
    return f"{count} {what}{'' if count == 1 else 's'}"
