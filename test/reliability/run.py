"""Reliability: hostile, damaged and disappearing input, failing calls, output that cannot be written.

    run.py SUBJECT [--full] [--only TOPIC]... [--build BUILD]

With --build the command lines listed in ./commands are tried, too, with the programs in BUILD. Without
--full the loops are short enough for every commit.
"""
import argparse
import importlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, '..', 'lib')]
from box import Box
from tap import Tap

TOPICS = ['mutants', 'damage', 'faults', 'output', 'moving', 'special', 'hostile', 'determinism', 'lines']


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('subject')
    ap.add_argument('--full', action='store_true')
    ap.add_argument('--only', action='append', choices=TOPICS)
    ap.add_argument('--build')
    a = ap.parse_args()
    tap, box = Tap(), Box(a.subject, a.build, a.full)
    for topic in a.only or TOPICS:
        tap.note(topic)
        tap.part(importlib.import_module(topic).test, tap, box)
    sys.exit(tap.done())


main()
