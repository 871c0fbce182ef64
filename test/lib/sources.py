"""The sources of the programs in test/diff/programs."""
import os


def sources(names, folder, out):
    """Paths of the named sources in a folder. 'x.cc*24' is x.cc compiled as 24 units: files written to
    `out` that define UNIT as 0, 1 ... and include it."""
    paths = []
    for name in names:
        name, _, units = name.partition('*')
        path = os.path.join(folder, name)
        if not units:
            paths.append(path)
            continue
        stem, ext = os.path.splitext(name)
        for i in range(int(units)):
            paths.append(os.path.join(out, f'{stem}.{i}{ext}'))
            with open(paths[-1], 'w') as f:
                f.write(f'#define UNIT {i}\n#include "{path}"\n')
    return paths
