"""What can be done."""

from feed import entries, readers, remote, stats

BARE = {"name": "b", "title": "Bare"}
ENTRIES = [{"name": "a", "title": "One", "tags": ["X"], "text": "Hello", "language": "de", "links": ["http://a"], "author": "ada"}, BARE]
READERS = [{"login": "ada", "nick": "ada l"}, {"login": "bob"}]


def rename():
    old, new = "bob", "rob"
    return readers.rename([dict(reader) for reader in READERS], old, new)


def part():
    start, stop = 2, 5
    return readers.slice_of("newsletter", start, stop)


def ratio():
    part, whole = 3, 8
    return stats.ratio(part, whole)


def clip():
    low, high = 1, 5
    return stats.clip(9, low, high)


def copy():
    source, target = {"size": 3, "room": 0}, {"size": 9, "room": 8}
    return remote.copy(source, target)


JOBS = {
    "title": lambda: entries.title(ENTRIES, "z"),
    "author": lambda: entries.author(BARE),
    "tags": lambda: entries.tags(BARE),
    "summary": lambda: entries.summary(BARE),
    "language": lambda: entries.language(BARE),
    "link": lambda: entries.link(BARE),
    "at": lambda: entries.at(ENTRIES, 2),
    "titles": lambda: entries.titles(ENTRIES),
    "newest": lambda: entries.newest(ENTRIES),
    "changes": lambda: entries.changes(ENTRIES),
    "zone": lambda: readers.zone("FR"),
    "most": lambda: readers.most("trial"),
    "domain": lambda: readers.domain("nobody"),
    "company": lambda: readers.company("nobody"),
    "nick": lambda: readers.nick(READERS[1]),
    "theme": lambda: readers.theme(READERS[0]),
    "place": lambda: readers.place(READERS, 2),
    "logins": lambda: readers.logins(READERS),
    "rename": rename,
    "part": part,
    "fetch": lambda: remote.Remote().fetch("a"),
    "read": lambda: remote.read("a"),
    "ping": lambda: remote.ping(),
    "copy": copy,
    "mean": lambda: stats.mean([]),
    "day": lambda: stats.day(7),
    "grow": lambda: stats.grow([1, 2, 4]),
    "total": lambda: stats.total([1, 2]),
    "hits": lambda: stats.hits({}),
    "region": lambda: stats.region({}),
    "ratio": ratio,
    "clip": clip,
}
