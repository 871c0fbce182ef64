"""Programs that do the same thing at just the rate at which they are sampled: kin record is in step with none.

run.py runs this with the rest; alone: step.py BUILD [RUNS]
"""
import shutil
import sys

RATES = (999, 1998, 500, 333)
# Periods are 1 to 8 % off at random, one for each processor: a few of them are near a ratio of small numbers to the
# program's, and see it at a dozen places of its period only. Samplers in step are off by up to 80 points.
BOUND = 0.06


def measure(lab, rate, *options):
    """(true share of brief(), share that kin record says)"""
    program = lab.build('step')
    text = lab.run(lab.kin, 'record', '-q', '-o', 'step.kin', *options, program, str(rate), '2').stdout
    seconds = {line.split()[1]: float(line.split()[3]) for line in text.splitlines()}
    rows = lab.run(lab.kin, 'flat', '-f', 'csv', '-c', 'name,inclusive', 'step.kin').stdout.splitlines()[1:]
    said = {name: float(value) for name, value in (row.rsplit(',', 1) for row in rows)}
    whole = said.get('brief', 0) + said.get('lengthy', 0)
    return seconds['brief'] / (seconds['brief'] + seconds['lengthy']), said.get('brief', 0) / whole if whole else 0


def test(lab, tap):
    for rate in RATES:
        true, said = measure(lab, rate, '-F', '999')
        tap.ok(abs(said - true) <= BOUND, f'in step at {rate} Hz: brief, kin record',
               f'true {true:.2%}, it says {said:.2%}')


if __name__ == '__main__':
    from run import Lab
    alone = Lab(sys.argv[1])
    try:
        for how in (['-F', '999'], ['-e', 'task-clock', '-c', '1001001']):
            for hz in RATES:
                print(how[-1], hz, *('%.1f/%.1f' % tuple(100 * x for x in measure(alone, hz, *how))
                                     for _ in range(int(sys.argv[2]))), flush=True)
    finally:
        shutil.rmtree(alone.folder)
