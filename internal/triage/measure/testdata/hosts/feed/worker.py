"""Reads feeds. The names of operations come on standard input."""

import sys

from feed import jobs, log


def main():
    for n, line in enumerate(sys.stdin):
        name = line.strip()
        job = {"id": name, "time": "2026-11-20T04:00:%02dZ" % (n % 60), "job": name}
        with log.reported(sys.stdout, "", job):
            jobs.JOBS[name]()


if __name__ == "__main__":
    main()
