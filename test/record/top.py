"""kin top: what it keeps does not grow with what has come and gone. record.py runs it."""
import os
import select
import subprocess
import time

# Makes as many short-lived processes, and threads with names of their own, as each line of its input says, and answers.
PROGRAM = r'''
#include <pthread.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile unsigned long sink;
static void *work(void *arg)
{
	char name[16];
	snprintf(name, sizeof(name), "t%ld", (long)arg);
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < 3000; i++)
		sink = sink * 5 + 1;
	return NULL;
}
int main(void)
{
	static long done;
	for (long n; scanf("%ld", &n) == 1;) {
		for (long i = 0; i < n; i++, done++) {
			pthread_t t;
			pid_t pid = fork();
			if (!pid) {
				work((void *)done);
				_exit(0);
			}
			waitpid(pid, NULL, 0);
			if (!pthread_create(&t, NULL, work, (void *)done))
				pthread_join(t, NULL);
		}
		write(2, "*", 1);
	}
	return 0;
}
'''
LIMIT = 600  # seconds, for what hangs
FIRST, MORE = 3000, 12000
EACH = 40  # bytes left of a process and a thread: each entry of a table is that much; what is not of them grows by less in all


def rss(pid):
    with open(f'/proc/{pid}/smaps_rollup', encoding='ascii') as f:
        return next(int(line.split()[1]) for line in f if line.startswith('Rss:')) * 1024


def told(p, n):
    """The program does it n times."""
    p.stdin.write(f'{n}\n')
    p.stdin.flush()
    return bool(select.select([p.stderr], [], [], LIMIT)[0]) and os.read(p.stderr.fileno(), 1) == b'*'


def refreshed(path, times=3):
    """Some refreshes later: what was new has been taken, whatever the machine does meanwhile."""
    for _ in range(times):
        size, end = os.path.getsize(path), time.monotonic() + LIMIT
        while os.path.getsize(path) == size and time.monotonic() < end:
            time.sleep(0.05)


def test_memory(tap, box):
    with open(os.path.join(box.folder, 'tasks.c'), 'w', encoding='ascii') as f:
        f.write(PROGRAM)
    box.run('gcc', '-O1', '-g', '-o', 'tasks', 'tasks.c', '-lpthread')
    path = os.path.join(box.folder, 'top.json')
    program = box.popen('./tasks', stdin=subprocess.PIPE)
    with open(path, 'w', encoding='ascii') as out:
        top = box.popen(box.kin, 'top', '--json', '-d', '0.1', '-p', str(program.pid), stdout=out)
    try:
        refreshed(path)
        sizes = []
        for n in (FIRST, MORE):
            done = told(program, n)
            refreshed(path)
            sizes.append(rss(top.pid))
        tap.ok(done and top.poll() is None, 'kin top watches processes and threads that come and go', sizes)
        each = (sizes[1] - sizes[0]) / MORE
        tap.ok(each < EACH, 'of those that are gone nothing is kept', f'{sizes}: {each:.0f} bytes of each')
    finally:
        for p in (program, top):
            p.kill()
            p.communicate()
