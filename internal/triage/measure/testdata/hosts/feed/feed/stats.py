"""Figures about feeds."""

WEEK = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


def mean(numbers):
    """Returns the mean of some numbers."""
    if len(numbers) == 0:
        return 0
    return sum(numbers) / len(numbers)


def day(n):
    """Returns the name of a day."""
    if n >= len(WEEK):
        return "?"
    return WEEK[n]


def grow(counts):
    """Returns how much the counts grow."""
    out = []
    for i in range(len(counts) - 1):
        out.append(counts[i + 1] - counts[i])
    return out


def total(counts):
    """Returns the sum of all counts."""
    n = 0
    for i in range(len(counts)):
        n += counts[i]
    return n


def hits(row):
    """Returns the hits of a row."""
    return int(row.get("hits", 0))


def region(row):
    """Returns where a row is from."""
    return row.get("region", "none").lower()


def ratio(part, whole):
    """Returns a part of a whole, at most 1."""
    if part > whole:
        raise ValueError("a part of %d is more than the whole, %d" % (part, whole))
    return part / whole


def clip(value, low, high):
    """Returns a value between two others."""
    if low > high:
        raise ValueError("low %d is above high %d" % (low, high))
    return max(low, min(value, high))
