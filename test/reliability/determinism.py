"""The same input gives the same bytes: every time, in every locale, wherever memory happens to be."""
from subject import environment


def test(tap, box):
    rounds = 100 if box.full else 20
    for case in ('17-lua', '06-statics'):
        folder, prog, path = box.case(case)
        for command in box.commands('-b', '-b -T -z', '-r', '-C -z', '-A', '-b -l -p'):
            seen = {}
            for i in range(rounds):
                locale = ('C', 'C.UTF-8')[i % 2]
                env = dict(environment(PADDING='x' * (i * 37)), LC_ALL=locale, LANG=locale,
                           MALLOC_PERTURB_=str(i * 11 % 256))
                r = command.run(prog, path, env=env, **box.limits(folder))
                seen.setdefault((r.status, r.out, r.err), i)
                if case == '17-lua' and i >= 5:     # it is large
                    break
            tap.ok(len(seen) == 1 and all(s[0] == 0 for s in seen),
                   f'{case}, {i + 1} runs: {command}',
                   f'{len(seen)} different results, first seen in runs {sorted(seen.values())}')
