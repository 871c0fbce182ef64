"""Waiting until another process has done something."""
import time


def wait_until(true, seconds=600):
    """Whether it came true in that time: a test that waits for ever says nothing."""
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.05)
    return true()
