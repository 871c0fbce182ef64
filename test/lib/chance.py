"""Bounds for results that depend on chance and the machine: they follow from measurements in the same run.

    abs(said - true) <= deviation(true, samples)
    passed, detail = best(lambda: (share > 90, text))
"""
import math

ODDS = 1e-6  # of a test that fails by chance


def deviation(share, n):
    """How far n independent samples of something with that share are from it, but for one time in a million (Bernstein)."""
    n, limit = max(n, 1), math.log(2 / ODDS)
    return math.sqrt(2 * share * (1 - share) * limit / n) + 2 * limit / (3 * n)


def best(attempt, tries=5):
    """The first good one of several results (passed, detail), or the last: for conditions that hold unless the CPU is taken
    from this machine meanwhile, which costs ticks of its clocks."""
    for _ in range(tries):
        passed, detail = attempt()
        if passed:
            break
    return passed, detail
