"""The non-central chi-square distribution, far out too."""

from __future__ import annotations

from scipy.special import chndtr, chndtrix, gammainc, gammaincinv, ndtr, ndtri

__all__ = ["probability", "quantile"]

_FAR = 1e5


def quantile(level: float, freedom: float, noncentrality: float) -> float:
    """Return the value below which a share of the distribution lies.

    Far out the library's series takes ever longer, and in the end gives up. From a non-centrality of 1e5 on a power
    of the value is normal to all digits that matter: M. Sankaran, "Approximations to the non-central chi-square
    distribution", Biometrika 50 (1963) 199. There the root of the quantile is right to 1e-9.
    """
    if noncentrality > _FAR:
        power, mean, sd = _normal_power(freedom, noncentrality)
        return float((freedom + noncentrality) * (mean + sd * ndtri(level)) ** (1 / power))
    if noncentrality == 0:
        return float(2 * gammaincinv(freedom / 2, level))
    return float(chndtrix(level, freedom, noncentrality))


def probability(value: float, freedom: float, noncentrality: float) -> float:
    """Return the share of the distribution below a value; the inverse of `quantile`."""
    if value <= 0:
        return 0.0
    if noncentrality > _FAR:
        power, mean, sd = _normal_power(freedom, noncentrality)
        return float(ndtr(((value / (freedom + noncentrality)) ** power - mean) / sd))
    if noncentrality == 0:
        return float(gammainc(freedom / 2, value / 2))
    return float(chndtr(value, freedom, noncentrality))


def _normal_power(freedom: float, noncentrality: float) -> tuple[float, float, float]:
    """Return the power to which value / (freedom + noncentrality) is normal, and that normal's mean and sd."""
    first, second, third = (freedom + times * noncentrality for times in (1, 2, 3))
    power = 1 - 2 * first * third / (3 * second**2)
    spread = second / first**2
    skew = (power - 1) * (1 - 3 * power)
    mean = 1 + power * spread * (power - 1 - (2 - power) * skew * spread / 2)
    return power, mean, power * (2 * spread) ** 0.5 * (1 + skew * spread / 2)
