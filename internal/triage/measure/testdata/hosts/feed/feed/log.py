"""Errors of the worker, written down one JSON object a line."""

import contextlib
import json
import os
import traceback


@contextlib.contextmanager
def reported(out, release, job):
    """Writes down how a job fails. The worker goes on with the next one."""
    try:
        yield
    except Exception as error:
        out.write(json.dumps(event(error, release, job)) + "\n")
        out.flush()


def event(error, release, job):
    """Returns an error as the monitoring takes it."""
    out = {
        "id": job["id"],
        "time": job["time"],
        "service": "feed",
        "environment": "production",
        "release": release,
        "class": type(error).__name__,
        "message": str(error),
        "transaction": "feed/" + job["job"],
        "frames": frames(error),
    }
    if error.__cause__ is not None:
        cause = error.__cause__
        out["cause"] = {"time": job["time"], "class": type(cause).__name__, "message": str(cause), "frames": frames(cause)}
    return out


def frames(error):
    """Returns the stack of an error, the innermost level first."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    out = []
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        own = frame.filename.startswith(root + os.sep)
        name = "/srv/feed/" + os.path.relpath(frame.filename, root) if own else "/usr/lib/python3/" + os.path.basename(frame.filename)
        if name.endswith("feed/log.py"):
            continue
        found = {"file": name, "line": frame.lineno, "function": frame.name}
        if own:
            found["in_app"] = True
        out.append(found)
    return out
