"""Packaging: libraries with sonames and versions, CMake's packages, and Debian's packages.

    run.py BUILD [--full]

--full builds the packages twice, in two folders, and installs them, which takes some minutes: they must be equal byte
for byte, free of lintian's errors, hardened, and pass their autopkgtests when they are installed, in an overlay of this
system that leaves nothing behind. Without the rights or the tools for a part it is skipped.
"""
import filecmp
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))
from tap import Tap

PACKAGES = ['kin', 'kin-fleet', 'kin-gprof', 'libkin-dev', 'libkin0', 'libkinrt0', 'python3-kin']
TESTS = ['gprof', 'library', 'record']
USER = '#include <kin/kin.h>\nint main(void) { return kin_format_at(0) ? 0 : 1; }\n'
# In the overlay. gprof must be binutils' again when kin-gprof is gone.
INSIDE = r'''
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
dpkg -i /kin-packages/*.deb >/dev/null && echo installed
kin push 2>&1 | grep -q '^kin push: where to' && echo pushes
for t in gprof library record; do
	mkdir -p /tmp/of-$t
	AUTOPKGTEST_TMP=/tmp/of-$t /kin-tests/$t >/tmp/said 2>&1 && echo "passed $t" || cat /tmp/said
done
update-alternatives --set gprof /usr/bin/gprof.binutils >/dev/null 2>&1
gprof --version | grep -q Binutils && echo chosen
dpkg --purge kin-gprof >/dev/null && gprof --version | grep -q Binutils && [ ! -e /usr/bin/gprof.binutils ] && echo restored
'''


def run(*args, **kw):
    return subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, text=True, **kw)


def dynamic(path):
    return run('readelf', '-dW', path).stdout


def soname(path):
    found = re.search(r'SONAME.*\[(.*)\]', dynamic(path))
    return found and found.group(1)


def libraries(tap, build):
    so, rt = os.path.join(build, 'libkin.so.0'), os.path.join(build, 'runtime', 'libkinrt.so.0')
    tap.ok(soname(so) == 'libkin.so.0', 'the soname of libkin', dynamic(so))
    tap.ok(soname(rt) == 'libkinrt.so.0', 'the soname of libkinrt', dynamic(rt))
    names = [line.split()[-1] for line in run('nm', '-D', '--defined-only', '--with-symbol-versions', so).stdout.splitlines()]
    bad = [n for n in names if not re.fullmatch(r'kin_\w+@@LIBKIN_0|LIBKIN_0(@@LIBKIN_0)?', n)]
    tap.ok(len(names) > 50 and not bad, 'symbols of libkin have a version, and there are no others', bad)


def cmake(tap, build, folder):
    if not shutil.which('cmake'):
        tap.skip('find_package(Kin)', 'no cmake')
        return
    root, source = os.path.join(folder, 'moved'), os.path.join(folder, 'cmake')
    run('meson', 'install', '-C', build, '--no-rebuild', '--destdir', root)
    prefix = os.path.dirname(os.path.dirname(glob.glob(root + '/**/bin/kin', recursive=True)[0]))
    os.mkdir(source)
    open(source + '/user.c', 'w').write(USER)
    for version, fits in (('0.1', True), ('7.0', False)):
        open(source + '/CMakeLists.txt', 'w').write(
            'cmake_minimum_required(VERSION 3.13)\nproject(t C)\n'
            f'find_package(Kin {version} REQUIRED PATHS {prefix} NO_DEFAULT_PATH)\n'
            'add_executable(user user.c)\ntarget_link_libraries(user PRIVATE Kin::kin)\n')
        done = run('sh', '-c', 'rm -rf b && cmake -S . -B b && cmake --build b && b/user', cwd=source)
        tap.ok((done.returncode == 0) == fits, f'find_package(Kin {version})' + ('' if fits else ' is refused'),
               done.stdout[-600:] + done.stderr)


def one_file(tap, build, folder):
    """What "make dist" packs, where it is unpacked, and in a root that holds nothing else than a program."""
    done = run(os.path.join(ROOT, 'dist.sh'), build)
    if not tap.ok(done.returncode == 0, 'the tar file is made', done.stdout[-600:] + done.stderr):
        return
    root = os.path.join(folder, 'empty')
    os.mkdir(root)
    run('tar', '-C', root, '-xzf', done.stdout.split()[-1])
    top = os.listdir(root)[0]
    here = os.path.join(root, top, 'bin')
    open(folder + '/t.c', 'w').write('static volatile long x;\n__attribute__((noinline)) void spin(long n) { while (n--) x += n; }\n'
                                     'int main(void) { spin(300000000); return 0; }\n')
    said = run('gcc', '-O1', '-g', '-static', '-o', f'{root}/t', folder + '/t.c').stderr
    kin = lambda *words: run(os.path.join(here, 'kin'), *words, cwd=folder)
    done = run(os.path.join(here, 'kin'), 'cc', 'gcc', '-O1', '-g', '-o', 't', 't.c', cwd=folder)
    counted = run('./t', cwd=folder)
    listing = run(os.path.join(here, 'gprof'), '-b', '-q', './t', 'gmon.out', cwd=folder)
    tap.ok('spin' in listing.stdout and ' 1/1 ' in listing.stdout, 'unpacked: kin cc, the runtime, gprof',
           said + done.stderr + counted.stderr + listing.stdout + listing.stderr)
    done = kin('record', '-q', '-o', 't.kin', './t')
    asm = kin('annotate', '--asm', 'spin', 't.kin')
    tap.ok('spin' in asm.stdout and re.search(r'0x\w+ +mov', asm.stdout), 'it has a disassembler inside', done.stderr + asm.stdout + asm.stderr)
    if os.geteuid():
        tap.skip('in an empty root', 'no rights to enter one')
        return
    inside = lambda *words: run('chroot', root, f'/{top}/bin/kin', *words)
    done = inside('record', '-q', '-o', 't.kin', '/t')
    report = inside('report', '--stdio', 't.kin')
    tap.ok(done.returncode == 0 and re.search(r'spin$', report.stdout, re.M), 'in an empty root it records and reports',
           done.stderr + report.stdout + report.stderr)


def sources(tap):
    """Checks that need no build of the packages."""
    version = re.search(r"version: '(.*?)'", open(os.path.join(ROOT, 'meson.build')).read()).group(1)
    log = open(os.path.join(ROOT, 'debian', 'changelog')).readline()
    tap.ok(log.startswith(f'kin ({version})'), 'the version in debian/changelog is that of meson.build', log)
    control = open(os.path.join(ROOT, 'debian', 'control')).read()
    tap.ok(sorted(re.findall(r'^Package: (.*)', control, re.M)) == PACKAGES, 'the packages of debian/control')
    wanted = open(os.path.join(ROOT, 'packages.txt')).read().split('# build\n')[1].split('# test\n')[0].split()
    needed = re.search(r'^Build-Depends:\n((?: .*\n)+)', control, re.M).group(1)
    missing = [p for p in wanted if p.endswith('-dev') and f' {p},' not in needed]
    tap.ok(not missing, 'the packages are built with all libraries that kin is built with', str(missing))
    docs = open(os.path.join(ROOT, 'debian', 'kin.docs')).read().split()
    linked = set(re.findall(r'\]\((doc/\w+\.md)\)', open(os.path.join(ROOT, 'README.md')).read())) - {'doc/design.md'}
    tap.ok(linked <= set(docs), 'the pages that README.md names are in the package', str(linked - set(docs)))
    listed = re.findall(r'^Tests: (.*)', open(os.path.join(ROOT, 'debian', 'tests', 'control')).read(), re.M)
    tap.ok(sorted(listed) == TESTS, 'the tests of debian/tests/control', listed)
    if shutil.which('dh_listpackages'):
        done = run('dh_listpackages', cwd=ROOT)
        tap.ok(set(done.stdout.split()) == set(PACKAGES), 'dh_listpackages', done.stdout + done.stderr)


def build_packages(folder):
    """In a folder of its own; the log if it fails, else None."""
    tree = os.path.join(folder, 'kin')
    os.makedirs(tree)
    run('sh', '-c', f'git ls-files -co --exclude-standard | tar cf - -T - | tar xf - -C {tree}', cwd=ROOT)
    done = run('dpkg-buildpackage', '-b', '-us', '-uc', '-d', cwd=tree,
               env={**os.environ, 'DEB_BUILD_OPTIONS': 'nocheck parallel=2', 'PATH': '/usr/lib/ccache:' + os.environ['PATH']})
    return None if not done.returncode else (done.stdout + done.stderr)[-3000:]


def hardened(tap, folder):
    """Position-independent, all bound at the start, with a canary and checked functions."""
    root = os.path.join(folder, 'root')
    for deb in glob.glob(folder + '/*.deb'):
        run('dpkg-deb', '-x', deb, root)
    for path in [root + '/usr/bin/kin', root + '/usr/bin/kin-fleet', *glob.glob(root + '/usr/lib/*/libkin*.so.0')]:
        said = dynamic(path)
        needed = run('nm', '-D', '--undefined-only', path).stdout
        is_runtime = 'libkinrt' in path  # it calls nothing that it need not, and runs where no canary is
        good = 'BIND_NOW' in said and ('PIE' in said or '.so' in path) and (is_runtime or ('__stack_chk_fail' in needed and '_chk@' in needed))
        tap.ok(good, f'{os.path.basename(path)} is hardened', said)


def installed(tap, folder):
    lower = os.path.join(folder, 'overlay')
    for name in ('upper', 'work', 'merged'):
        os.makedirs(os.path.join(lower, name))
    merged = lower + '/merged'
    script = (f'mount -t overlay overlay -o lowerdir=/,upperdir={lower}/upper,workdir={lower}/work {merged} && '
              f'mount -t proc proc {merged}/proc && mount --rbind /dev {merged}/dev && mount --rbind /sys {merged}/sys || exit 9\n'
              f'mkdir {merged}/kin-packages {merged}/kin-tests\n'
              f'for d in {folder}/*.deb; do case $d in *-dbgsym_*) ;; *) cp $d {merged}/kin-packages ;; esac; done\n'
              f'cp {ROOT}/debian/tests/* {merged}/kin-tests\n'
              f"exec chroot {merged} sh -c '{INSIDE}'\n")
    done = run('unshare', '--mount', '--fork', 'sh', '-c', script)
    if done.returncode == 9 or not shutil.which('unshare') or os.geteuid():
        tap.skip('the packages, installed', 'no rights to mount an overlay')
        return
    said = done.stdout.splitlines()
    for word in ('installed', 'pushes', *(f'passed {t}' for t in TESTS), 'chosen', 'restored'):
        tap.ok(word in said, f'the packages, installed: {word}', done.stdout + done.stderr)


def packages(tap, folder):
    missing = [t for t in ('dpkg-buildpackage', 'dh', 'dh_python3') if not shutil.which(t)]
    if missing:
        tap.skip('the packages are built', f'no {missing[0]} (debhelper, dh-python)')
        return
    once, again = os.path.join(folder, 'once'), os.path.join(folder, 'again', 'elsewhere')
    for where in (once, again):
        problem = build_packages(where)
        if not tap.ok(not problem, f'the packages are built in {os.path.relpath(where, folder)}', problem):
            return
    debs = sorted(os.path.basename(d) for d in glob.glob(once + '/*.deb'))
    differ = [d for d in debs if not filecmp.cmp(f'{once}/{d}', f'{again}/{d}', shallow=False)]
    tap.ok(not differ, 'both are equal byte for byte', '\n'.join(differ))
    if shutil.which('lintian'):
        said = run('lintian', '--profile', 'debian', '--fail-on', 'error', *glob.glob(once + '/*.changes'))
        tap.ok(said.returncode == 0, 'lintian has no errors', said.stdout + said.stderr)
    else:
        tap.skip('lintian has no errors', 'no lintian')
    hardened(tap, once)
    installed(tap, once)


def main():
    tap = Tap()
    build, full = os.path.abspath(sys.argv[1]), '--full' in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        tap.part(libraries, tap, build)
        tap.part(sources, tap)
        tap.part(cmake, tap, build, folder)
        tap.part(one_file, tap, build, folder)
        if full:
            tap.part(packages, tap, folder)
        else:
            tap.skip('the packages are built, compared and installed', 'takes minutes: --full')
    return tap.done()


if __name__ == '__main__':
    sys.exit(main())
