"""People who read feeds."""

import re

PLANS = {"free": 3, "paid": 100}
ZONES = {"DE": "Europe/Berlin", "US": "America/New_York"}


def zone(country):
    """Returns the zone of a country."""
    return ZONES.get(country, "UTC")


def most(plan):
    """Returns how many feeds a plan has."""
    if plan not in PLANS:
        return 0
    return PLANS[plan]


def domain(address):
    """Returns the domain of an address, None where it is none."""
    found = re.match(r"[^@]+@(.+)$", address)
    if found is None:
        return None
    return found.group(1)


def company(address):
    """Returns whom an address belongs to."""
    name = domain(address)
    if name is None:
        return "nobody"
    return name.split(".")[0]


def nick(reader):
    """Returns how a reader is called."""
    name = reader.get("nick")
    if name is None:
        return reader["login"]
    return name.title()


def theme(reader):
    """Returns the colours that a reader wants."""
    settings = reader.get("settings", {})
    return settings.get("theme", "light")


def place(readers, n):
    """Returns the login of a reader by their place."""
    if n >= len(readers):
        return ""
    return readers[n]["login"]


def logins(readers):
    """Returns all logins."""
    return [readers[i]["login"] for i in range(len(readers))]


def slice_of(text, start, stop):
    """Returns a part of a text."""
    if start > stop:
        raise ValueError("the start %d is behind the stop %d" % (start, stop))
    return text[start:stop]


def rename(readers, old, new):
    """Gives a reader another login."""
    for reader in readers:
        if reader["login"] == old:
            reader["login"] = new
            return
    raise LookupError("there is no reader " + old)
