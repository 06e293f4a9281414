"""Entries of feeds."""


def find(entries, name):
    """Returns the entry of a name, None where there is none."""
    for entry in entries:
        if entry["name"] == name:
            return entry
    return None


def title(entries, name):
    """Returns the title of an entry."""
    entry = find(entries, name)
    if entry is None:
        return ""
    return entry["title"].strip()


def author(entry):
    """Returns who wrote an entry."""
    if "author" not in entry:
        return "unknown"
    return entry["author"]


def tags(entry):
    """Returns the tags of an entry."""
    return [tag.lower() for tag in entry.get("tags", [])]


def summary(entry):
    """Returns the beginning of an entry."""
    text = entry.get("text", "")
    return text[:80]


def language(entry):
    """Returns the language of an entry."""
    return entry.get("language", "en").upper()


def link(entry):
    """Returns the address of an entry."""
    links = entry.get("links")
    if links is None:
        return ""
    return links[0]


def at(entries, n):
    """Returns an entry by its place."""
    if n >= len(entries):
        return None
    return entries[n]


def titles(entries):
    """Returns all titles."""
    out = []
    for i in range(len(entries)):
        out.append(entries[i]["title"])
    return out


def newest(entries):
    """Returns the last entry."""
    return entries[len(entries) - 1]


def changes(entries):
    """Returns which titles follow each other."""
    out = []
    for i in range(len(entries) - 1):
        out.append((entries[i]["title"], entries[i + 1]["title"]))
    return out
