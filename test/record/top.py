"""kin top: what it keeps does not grow with what has come and gone. record.py runs it."""
import os
import re
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
# As many processes one after another as each line of its input says, each with code of its own that has a name in a file,
# which is there until the end of the input; or with an argument code without a name, for ever.
CODE = r'''
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __x86_64__
static const unsigned char loop[] = { 0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3 }; /* dec rdi; jne; ret */
#else
static const unsigned int loop[] = { 0xf1000400, 0x54ffffe1, 0xd65f03c0 }; /* subs x0, x0, 1; b.ne; ret */
#endif
enum { NAME = 64, MOST = 1000 };
static void map_of(pid_t pid, char name[NAME])
{
	snprintf(name, NAME, "/tmp/perf-%d.map", (int)pid);
}
static void run(long n)
{
	char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[NAME];
	memcpy(p, loop, sizeof(loop));
	mprotect(p, 4096, PROT_READ | PROT_EXEC);
	__builtin___clear_cache(p, p + sizeof(loop));
	map_of(getpid(), name);
	FILE *f = n ? fopen(name, "w") : NULL;
	if (f) {
		fprintf(f, "%lx 10 made_by_%d\n", (long)p, (int)getpid());
		fclose(f);
	}
	do
		((void (*)(long))p)(n ? n : 100000000);
	while (!n);
}
int main(int argc, char **argv)
{
	static pid_t pids[MOST];
	int made = 0;
	if (argc > 1)
		run(0);
	for (long n; scanf("%ld", &n) == 1;) {
		while (n-- > 0) {
			pid_t pid = pids[made++ % MOST] = fork();
			if (!pid) {
				run(30000000);
				_exit(0);
			}
			waitpid(pid, NULL, 0);
		}
		write(2, "*", 1);
	}
	while (made-- > 0) {
		char name[NAME];
		map_of(pids[made], name);
		remove(name);
	}
	return 0;
}
'''
LIMIT = 600  # seconds, for what hangs
FIRST, MORE = 3000, 12000
PROCESSES = 60  # with code made at run time
ROUNDS = 12  # what is kept grows in each; buffers that are first used in one, when the machine is busy, do not
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
        sizes, each = [], 0
        for n in [FIRST] + ROUNDS * [MORE]:
            done = told(program, n)
            refreshed(path)
            sizes.append(rss(top.pid))
            each = (sizes[-1] - sizes[-2]) / MORE if len(sizes) > 1 else EACH
            if each < EACH:
                break
        tap.ok(done and top.poll() is None, 'kin top watches processes and threads that come and go', sizes)
        tap.ok(each < EACH, 'of those that are gone nothing is kept', f'{sizes}: {each:.0f} bytes of each')
    finally:
        for p in (program, top):
            p.kill()
            p.communicate()


INLINED = r'''
static volatile unsigned long sink;
static inline __attribute__((always_inline)) void spin(void)
{
	for (int i = 0; i < 1000; i++)
		sink = sink * 5 + 1;
}
int main(void)
{
	for (;;)
		spin();
}
'''


def test_inlined(tap, box):
    with open(os.path.join(box.folder, 'inlined.c'), 'w', encoding='ascii') as f:
        f.write(INLINED)
    box.run('gcc', '-O1', '-g', '-o', 'inlined', 'inlined.c')
    path = os.path.join(box.folder, 'inlined.json')
    program = box.popen('./inlined')
    try:
        for option, seen in (('--inline', True), ('--no-inline', False)):
            with open(path, 'w', encoding='ascii') as out:
                top = box.popen(box.kin, 'top', option, '--json', '-d', '0.1', '-p', str(program.pid), stdout=out)
            refreshed(path, 8)
            top.kill()
            top.communicate()
            with open(path, encoding='ascii') as f:
                text = f.read()
            tap.ok('main' in text and ('spin (inlined)' in text) == seen, f'kin top {option}: what is inlined', text[-300:])
    finally:
        program.kill()
        program.communicate()


def test_made_at_run_time(tap, box):
    """Files with names of code are closed when its process has ended."""
    with open(os.path.join(box.folder, 'code.c'), 'w', encoding='ascii') as f:
        f.write(CODE)
    box.run('gcc', '-O1', '-o', 'code', 'code.c')
    path = os.path.join(box.folder, 'code.json')
    program = box.popen('./code', stdin=subprocess.PIPE)
    with open(path, 'w', encoding='ascii') as out:
        top = box.popen(box.kin, 'top', '--json', '-d', '0.1', '-p', str(program.pid), stdout=out)
    try:
        files = []
        for n in (2, PROCESSES):
            done = told(program, n)
            refreshed(path, 8)  # samples wait for names for some time
            files.append(len(os.listdir(f'/proc/{top.pid}/fd')))
        with open(path, encoding='ascii') as f:
            named = len(set(re.findall(r'made_by_\d+', f.read())))
        tap.ok(done and named > PROCESSES / 2, 'kin top names code that was made at run time', f'{named} of {PROCESSES + 2}')
        tap.ok(files[1] < files[0] + PROCESSES / 2, 'files with its names are closed when its process has ended', files)
    finally:
        top.kill()
        top.communicate()
        program.communicate()  # the end of its input


def cpu_seconds(pid):
    with open(f'/proc/{pid}/stat', encoding='ascii') as f:
        return int(f.read().rpartition(')')[2].split()[11]) / os.sysconf('SC_CLK_TCK')


def test_unnamed(tap, box):
    """Code that never gets a name is shown all the same, and soon."""
    path = os.path.join(box.folder, 'unnamed.json')
    program = box.popen('./code', 'unnamed')
    with open(path, 'w', encoding='ascii') as out:
        top = box.popen(box.kin, 'top', '--json', '-d', '0.1', '-s', 'dso', '-p', str(program.pid), stdout=out)
    try:
        text = ''
        while '"anon"' not in text and cpu_seconds(program.pid) < 10 and top.poll() is None:
            time.sleep(0.1)
            with open(path, encoding='ascii') as f:
                text = f.read()
        tap.ok('"anon"' in text, 'kin top shows code without names within seconds', text[-300:])
    finally:
        for p in (program, top):
            p.kill()
            p.communicate()
