"""Feeds of other machines."""

import queue
import threading
import time

READ_TIMEOUT = 3.0


class Remote:
    """A machine that takes its time."""

    def __init__(self, timeout=2.0):
        self.timeout = timeout
        self.answers = queue.Queue()

    def fetch(self, name):
        """Returns what the machine says."""
        threading.Thread(target=self.work, args=(name,), daemon=True).start()
        return wait(self.answers, self.timeout)

    def work(self, name):
        time.sleep(0.03)
        self.answers.put(name)


def wait(answers, seconds):
    """Returns the next answer."""
    try:
        return answers.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError("timed out") from None


def read(name):
    """Returns a feed."""
    remote = Remote()
    remote.timeout = READ_TIMEOUT
    return remote.fetch(name)


def ping():
    """Asks whether the machine is there."""
    answers = queue.Queue()
    threading.Timer(0.03, answers.put, args=("pong",)).start()
    timeout = 1.5
    return wait(answers, timeout)


def copy(source, target, timeout=2.5):
    """Copies a feed to another machine."""
    if source["size"] > target["room"]:
        raise ValueError("the target has no room")
    answers = queue.Queue()
    threading.Timer(0.03, answers.put, args=("done",)).start()
    return wait(answers, timeout)
