"""slowest.py - for each thread the functions in which most of its time was spent, with those that called them.
    python3 slowest.py app.kin
"""
import collections
import sys

import kin

own = collections.defaultdict(collections.Counter)
callers = collections.defaultdict(collections.Counter)
with kin.open(sys.argv[1:]) as profile:
    for sample in profile.samples():
        if sample.stack:
            own[sample.thread][sample.stack[0].name] += sample.weight
            callers[sample.stack[0].name].update({frame.name: sample.weight for frame in sample.stack[1:2]})
    total = sum(row['self'] or 0 for row in profile.report('flat', columns=['self', 'name']))

print(f'all: {total:.3f}')
for thread, functions in own.items():
    print(thread)
    for name, weight in functions.most_common(3):
        caller = callers[name].most_common(1)
        print(f'  {weight:>12}  {name}' + (f', mostly called by {caller[0][0]}' if caller else ''))
