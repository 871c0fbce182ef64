"""Profiles: what kin recorded, or any other format that it reads.

    import kin

    with kin.open('app.kin') as profile:
        for row in profile.report('flat')[:10]:
            print(row['name'], row['self'])              # times are seconds, shares 0..1
        for sample in profile.samples():
            print(sample.weight, [frame.name for frame in sample.stack])
        profile.report('flat').to_pandas()               # if pandas is there
        profile.export('pprof', 'app.pb.gz')

Reports are those of the commands: 'flat', 'graph', 'hists' (kin report), 'lines', 'annotate', 'asm', 'cycles',
'counts', 'latency', 'order', 'index', 'info'. The keys of their columns and what they mean are in kin/table.h and in
Table.columns. Everything is read by libkin (its headers are the manual of the options), through ctypes: no compiler is
needed. Errors are raised as kin.Error.
"""
import collections
import os
import warnings

from kin import _library
from kin._library import Error, PartialData

__all__ = ['open', 'diff', 'formats', 'Profile', 'Table', 'Row', 'Column', 'Sample', 'Frame', 'Error', 'PartialData']

Column = collections.namedtuple('Column', 'key title help is_hidden')
Sample = collections.namedtuple('Sample', 'event thread pid tid cpu weight count time_ns is_cut stack')
Sample.__doc__ = """weight is in the unit of the event: nanoseconds for times. cpu and time_ns are None if not known. stack
is a tuple of Frame, the innermost first."""
Frame = collections.namedtuple('Frame', 'name file line object address is_inlined')
Frame.__doc__ = """A function on a stack: the place in it is file and line (0: not known) and address (0: not known) in the
object, the path of a program or library."""


class Row(dict):
    """A row of a table: values by the keys of its columns. Times are seconds where the table's unit is time, shares are
    0..1, what has no value is None, "3/7" and "3+7" are pairs. `kind` is 'plain', 'caller', 'function', 'callee', 'cycle'
    or 'member', `depth` is 0 at top level, rows of one block share their `group`."""
    __slots__ = ('kind', 'depth', 'group')


class Table(list):
    """A report: a list of rows, with what it says of itself: `name`, `title`, `notes` (sentences), `properties` (a dict)
    and `columns` (a list of Column, in their order)."""

    def __init__(self, name, title, columns, notes, properties):
        super().__init__()
        self.name, self.title, self.columns, self.notes, self.properties = name, title, columns, notes, properties

    def to_pandas(self):
        """A DataFrame; ImportError if pandas is not installed."""
        import pandas
        return pandas.DataFrame.from_records(list(self), columns=[c.key for c in self.columns])


def formats():
    """A list of dicts: name, what, is_read, is_written."""
    return _library.formats()


def open(paths=(), **options):
    """The profile of a file, or the sum of several; with none the last recording here.

    Options are the members of struct kin_open_opts: executable, debug_dir, demangle, symfs, kallsyms, time, lines,
    no_inlines ..., and the lists threads, comms, objects and events, which choose what is read. What could be read of a
    damaged file is the profile, with a warning PartialData."""
    if isinstance(paths, (str, bytes, os.PathLike)):
        paths = [paths]
    handle, problem = _library.open_profile([os.fspath(p) for p in paths], options)
    if problem:
        warnings.warn(problem, PartialData, stacklevel=2)
    return Profile(handle)


def diff(before, after, **options):
    """What takes more time, or less, in the profile `after`: a Table. Options: struct kin_diff_opts."""
    return _library.read_table(_library.diff(before._handle, after._handle, options))


class Profile:
    """What kin.open() returns. To be closed, or used by `with`; not by two threads at a time."""

    def __init__(self, handle):
        self._handle = handle

    def close(self):
        _library.free_profile(self._handle)
        self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, '_handle', None):
            self.close()

    @property
    def is_sampled(self):
        """Whether it has samples with stacks, and not only counts."""
        return _library.is_sampled(self._handle)

    @property
    def warnings(self):
        """Oddities of the data, sentences."""
        return _library.sentences(self._handle, 'warning')

    @property
    def doubts(self):
        """Reasons not to rely on the data, sentences."""
        return _library.sentences(self._handle, 'doubt')

    def report(self, name, **options):
        """A Table. Options: the members of struct kin_report_opts (columns, sort, subjects, min_share, by ...), and for
        'hists' those of struct kin_hists_opts (sort, fields, call_graph, no_children ...). All columns are read, also those
        that commands hide, unless `columns` says which."""
        return _library.read_table(_library.report(self._handle, name, options))

    def samples(self):
        """Goes through the samples: Sample tuples, in the data's order. Each stack is made once."""
        return _library.Samples(self._handle)

    def samples_to_pandas(self):
        """A DataFrame with a row per sample; its column `stack` has the functions, the outermost first, joined by
        semicolons, and `function` the innermost one."""
        import pandas
        rows = [s._asdict() | {'stack': ';'.join(f.name for f in reversed(s.stack)),
                               'function': s.stack[0].name if s.stack else None} for s in self.samples()]
        return pandas.DataFrame.from_records(rows, columns=[*Sample._fields, 'function'])

    def export(self, format, path=None, title=None):
        """Writes it in a format of kin.formats(); without a path it is returned, as bytes."""
        if path is None:
            return _library.export_bytes(self._handle, format, title)
        _library.export_file(self._handle, format, path, title)
        return None
