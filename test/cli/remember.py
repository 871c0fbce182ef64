"""The second report of a program, and the names of its second recording, come from the cache and equal the first ones; a
cache never changes an answer.

    remember.py BUILD
"""
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap, first_difference

LIMIT = 120  # seconds for one command: the machine may be busy

# A library with more functions than are worth keeping in mind, and a program with inlined ones.
FUNCTIONS = 12000
PROGRAM = r'''
#include <time.h>
int spin(long);
static inline __attribute__((always_inline)) long inner(long n) { long s = 0; while (n--) s += spin(n); return s; }
static inline __attribute__((always_inline)) long outer(long n) { return inner(n) + inner(n / 2); }
int main(void)
{
	struct timespec t;
	volatile long s = 0;
	do {
		for (int i = 0; i < 200; i++)
			s += outer(50);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_nsec < 200000000 && !t.tv_sec);
	return s == 7;
}
'''


# Packed debug information that is large enough to be kept unpacked: types with names that do not repeat.
TYPES = 4000


def many_types():
    names = ['x' + hashlib.sha256(b'%d' % i).hexdigest()[:24] for i in range(TYPES)]
    return ''.join(f'struct {n} {{ int {n}_a; }} v{n};\n' for n in names)


class Box:
    def __init__(self, build):
        self.kin = os.path.join(os.path.abspath(build), 'kin')
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix='kin-remember-'))
        self.env = dict(os.environ, HOME=self.folder, XDG_CACHE_HOME=self.at('cache'), LC_ALL='C')
        for name in 'KIN_CACHE', 'DEBUGINFOD_URLS':
            self.env.pop(name, None)
        self.kept = self.at('cache/kin/names')

    def at(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words, **env):
        return subprocess.run(words, cwd=self.folder, env=dict(self.env, **env), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)

    def make(self):
        with open(self.at('lib.s'), 'w') as f:
            f.write('.text\n')
            for i in range(FUNCTIONS):
                name = 'spin' if i == FUNCTIONS // 2 else f'a_function_with_a_name_that_is_long_{i}'
                # Samples are taken in it, however few there are.
                code = 'mov $300, %ecx\n1: dec %ecx\njnz 1b\n' if name == 'spin' else ''
                f.write(f'.globl {name}\n.type {name},@function\n{name}:\n.cfi_startproc\n{code}mov ${i}, %eax\nret\n'
                        f'.cfi_endproc\n.size {name}, . - {name}\n')
            f.write('.section .note.GNU-stack,"",@progbits\n')
        with open(self.at('prog.c'), 'w') as f:
            f.write(PROGRAM)
        for words in (['cc', '-shared', '-Wl,--build-id', '-o', 'libspin.so', 'lib.s'],
                      ['cc', '-g', '-O2', '-Wl,--build-id', '-o', 'prog', 'prog.c', './libspin.so'],
                      [self.kin, 'run', '--no-names', '-o', 'a.kin', '--', './prog']):
            r = self.run(*words)
            if r.returncode:
                return r.stderr.decode()
        return ''

    def report(self, *options, **env):
        r = self.run(self.kin, 'report', '--stdio', *options, 'a.kin', **env)
        return r.stdout + r.stderr

    def files(self):
        return sorted(os.listdir(self.kept)) if os.path.isdir(self.kept) else []

    def names(self, **env):
        """The recording with the names that are kept in it anew."""
        shutil.copy(self.at('a.kin'), self.at('named.kin'))
        r = self.run(self.kin, 'pack', 'named.kin', **env)
        with open(self.at('named.kin'), 'rb') as f:
            return f.read() if not r.returncode else r.stderr

    def read(self):
        """Each file's name, content, and identity: a file that was written anew has another one."""
        ret = {}
        for name in self.files():
            path = os.path.join(self.kept, name)
            with open(path, 'rb') as f:
                ret[name] = f.read(), os.stat(path).st_ino
        return ret


QUESTIONS = [], ['--no-inline'], ['-g', 'none'], ['--no-children', '-g', 'none'], ['-s', 'sym,srcline', '-g', 'none']


def same_answers(tap, box):
    want = [box.report(*q, KIN_CACHE='off') for q in QUESTIONS]
    tap.ok(b'spin' in want[0] and b'inner' in want[0], 'the report has functions and inlined ones', want[0].decode()[:2000])
    tap.ok(not box.files(), 'KIN_CACHE=off: nothing is kept')
    for turn in 'first', 'second':
        for q, w in zip(QUESTIONS, want):
            got = box.report(*q)
            tap.ok(got == w, f'{turn} time: report {" ".join(q)}', lambda: first_difference(got, w))
    return want


def kept(tap, box, want):
    lines = box.read()
    for q in QUESTIONS:
        box.report(*q)
    tap.ok(box.read() == lines, 'what is known is not written again, nor are lines')
    for name in box.files():
        os.unlink(os.path.join(box.kept, name))
    box.report()
    before = box.read()
    tap.ok(len(before) >= 2, 'answers of library and program are kept', repr(box.files()))
    tap.ok(any(len(lines[n][0]) > len(before[n][0]) for n in before), 'lines are kept where they are asked for')
    box.report()
    tap.ok(box.read() == before, 'what is known is not written again')
    mode = {os.stat(p).st_mode & 0o077 for p in [box.kept] + [os.path.join(box.kept, n) for n in before]}
    tap.ok(mode == {0}, 'for their user alone', repr(mode))
    for what, change in (('cut off', lambda b: b[:len(b) // 2]), ('empty', lambda b: b''),
                         ('flipped', lambda b: b[:-9] + bytes([b[-9] ^ 1]) + b[-8:]),
                         ('no such thing', lambda b: b'x' * 5000)):
        for name in before:
            with open(os.path.join(box.kept, name), 'wb') as f:
                f.write(change(before[name][0]))
        got = box.report()
        tap.ok(got == want[0], f'a file that is {what} is not used', lambda: first_difference(got, want[0]))
        tap.ok({n: b for n, (b, _) in box.read().items()} == {n: b for n, (b, _) in before.items()},
               f'a file that is {what} is made again')
    os.chmod(box.kept, 0o777)
    names = box.files()
    for name in names:
        os.unlink(os.path.join(box.kept, name))
    box.report()
    tap.ok(not box.files(), 'a folder that others may write to is not used')
    os.chmod(box.kept, 0o700)


def replaced(tap, box):
    """The same build id, and another file: its time says so."""
    box.report()
    before = box.read()
    program = box.at('prog')
    for option, what in (('--compress-debug-sections=zlib', 'packed'), ('--strip-debug', 'without its debug information')):
        shutil.copy(program, program + '.new')
        os.rename(program + '.new', program)
        box.run('objcopy', option, program)
        want, got = box.report(KIN_CACHE='off'), box.report()
        tap.ok(got == want, f'a program that is {what} since', lambda: first_difference(got, want))
        if what == 'packed':
            tap.ok(box.read() != before, 'its answers are kept anew')


def bounded(tap, box):
    box.report()
    bounded_files(tap, box, box.files(), box.report, 56)


def bounded_files(tap, box, names, make, most):
    big = os.path.join(box.kept, 'f' * 40)
    with open(big, 'wb') as f:
        f.truncate(300 << 20)
    os.utime(big, (1000, 1000))
    for name in names:
        os.unlink(os.path.join(box.kept, name))
    make()
    tap.ok(box.files() == names, f'beyond {most} MiB those go that were used least recently', repr(box.files()))


def sections(tap, box):
    """Debug sections, kept unpacked."""
    folder = box.kept = box.at('cache/kin/sections')
    with open(box.at('prog.c'), 'w') as f:
        f.write(many_types() + PROGRAM)
    for words in (['cc', '-g', '-gz=zlib', '-O2', '-Wl,--build-id', '-o', 'prog', 'prog.c', './libspin.so'],
                  [box.kin, 'run', '--no-names', '-o', 'a.kin', '--', './prog']):
        r = box.run(*words)
        tap.ok(not r.returncode, ' '.join(words[:2]), r.stderr.decode())
    shutil.rmtree(box.at('cache'))
    want = box.names(KIN_CACHE='off')
    tap.ok(not box.files(), 'KIN_CACHE=off: no section is kept')
    tap.ok(box.names() == want, 'names of the first recording')
    before = box.read()
    tap.ok(before != {}, 'large sections are kept', repr(box.files()))
    tap.ok(box.names() == want, 'names of the second recording')
    tap.ok(box.read() == before, 'what is kept is not written again')
    mode = {os.stat(p).st_mode & 0o077 for p in [folder] + [os.path.join(folder, n) for n in before]}
    tap.ok(mode == {0}, 'sections are for their user alone', repr(mode))
    for what, change in (('cut off', lambda b: b[:len(b) // 2]), ('empty', lambda b: b''),
                         ('flipped', lambda b: b[:100] + bytes([b[100] ^ 1]) + b[101:])):
        for name in before:
            with open(os.path.join(folder, name), 'wb') as f:
                f.write(change(before[name][0]))
        tap.ok(box.names() == want, f'a section that is {what} is not used')
        tap.ok({n: b for n, (b, _) in box.read().items()} == {n: b for n, (b, _) in before.items()},
               f'a section that is {what} is kept anew')
    before = box.read()
    box.run('touch', 'prog')
    tap.ok(box.names() == want and box.read() != before, 'sections of a file that was written since are kept anew')
    os.chmod(folder, 0o777)
    for name in before:
        os.unlink(os.path.join(folder, name))
    tap.ok(box.names() == want and not box.files(), 'no section is kept where others may write')
    os.chmod(folder, 0o700)
    box.names()
    bounded_files(tap, box, box.files(), box.names, 64)


def main():
    tap, box = Tap(), Box(sys.argv[1])
    try:
        why = box.make()
        if why:
            tap.skip('kept answers', why.strip()[:200])
            return tap.done()
        want = same_answers(tap, box)
        kept(tap, box, want)
        bounded(tap, box)
        replaced(tap, box)
        sections(tap, box)
    finally:
        shutil.rmtree(box.folder, ignore_errors=True)
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())
