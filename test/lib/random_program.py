"""Random C programs whose statements have lines of their own, and the same ones with counters: how often each line is
executed, by the program itself.

Templates of lines are marked: `@` is before a statement, `#(` before a condition, `^` behind a label."""
import random
import re

HEAD = """#include <stdio.h>
static unsigned fuel, noted;
static volatile unsigned v[8];
static __attribute__((noinline)) void note(unsigned n) { noted += n; }
"""
COUNTERS = """#include <stdio.h>
static unsigned long counted_[100000];
#define C(n) (void)counted_[n]++
static __attribute__((destructor)) void print_counts_(void)
{
    FILE *f = fopen("counts", "w");
    for (int i = 0; i < 100000; i++)
        fprintf(f, "%lu\\n", counted_[i]);
    fclose(f);
}
#line 1
"""
N_FUNCTIONS = 30


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = HEAD.splitlines() + [f'static unsigned f{i}(unsigned a, unsigned b);' for i in range(N_FUNCTIONS)]
        for i in range(N_FUNCTIONS):
            self.function(i)
        self.main()

    # ---- expressions ----

    def chance(self, p):
        return self.random.random() < p

    def variable(self):
        return self.random.choice('abxy')

    def operand(self):
        r = self.random
        return r.choice([self.variable(), self.variable(), str(r.randrange(20)), f'v[{r.randrange(8)}]',
                         f'({self.variable()} {r.choice("+-^&|*")} {r.randrange(1, 9)})'])

    def comparison(self):
        r = self.random
        return r.choice([f'({self.variable()} & {1 << r.randrange(4)})', f'{self.variable()} % {r.randrange(2, 6)} == 1',
                         f'{self.variable()} > {self.operand()}', f'{self.variable()} != {self.operand()}'])

    def condition(self, depth=0):
        if depth < 2 and self.chance(.3):
            return f'({self.condition(depth + 1)} {self.random.choice(["&&", "||"])} {self.condition(depth + 1)})'
        return self.comparison()

    def value(self):
        kind = self.random.randrange(8)
        if kind == 0:
            return f'{self.condition()} ? {self.operand()} : {self.operand()}'
        if kind == 1:
            return self.condition()
        if kind == 2 and self.number < N_FUNCTIONS - 1 and self.loops < 2:
            return f'f{self.random.randrange(self.number + 1, N_FUNCTIONS)}({self.operand()}, {self.operand()})'
        return f'{self.operand()} {self.random.choice("+-^*|")} {self.operand()}'

    # ---- statements ----

    def add(self, indent, text):
        self.lines.append('\t' * indent + text)

    def simple(self):
        return self.random.choice([f'{self.variable()} {self.random.choice(["=", "+=", "^=", "-="])} {self.value()};',
                                   f'{self.variable()}++;', f'note({self.operand()});',
                                   f'v[{self.random.randrange(8)}] = {self.value()};'])

    def jump(self):
        return self.random.choice([f'return {self.operand()};', f'goto out{self.number};'] +
                                  ['break;'] * 2 * (self.loops + self.switches > 0) + ['continue;'] * 2 * (self.loops > 0))

    def body(self, indent, most=3, may_jump=True):
        for _ in range(self.random.randrange(1, most + 1)):
            self.statement(indent)
        if may_jump and self.chance(.15):
            self.add(indent, '@' + self.jump())

    def branch(self, indent):
        if self.chance(.15):
            self.add(indent, f'@if ({self.condition()}) {self.simple() if self.chance(.6) else self.jump()}')
            return
        if self.chance(.35):
            self.add(indent, f'@if ({self.condition()})')
            self.add(indent + 1, '@@' + (self.simple() if self.chance(.7) else self.jump()))
            return
        self.add(indent, f'@if ({self.condition()}) {{')
        self.body(indent + 1)
        while self.chance(.2):
            self.add(indent, f'}} else if (#({self.condition()})) {{')
            self.body(indent + 1)
        if self.chance(.4):
            self.add(indent, '} else {')
            self.body(indent + 1)
        self.add(indent, '}')

    def loop(self, indent):
        i, n = f'i{self.n_loops}', self.random.randrange(1, 6)
        more = f' && {self.condition()}' if self.chance(.3) else ''
        self.n_loops += 1
        switches, self.switches = self.switches, 0
        self.loops += 1
        self.add(indent, f'@{i} = {n};')
        head, end = self.random.choice([(f'for ({i} = 0; #({i} < {n}{more}); {i}++) {{', '}'), (f'while (#({i}--{more})) {{', '}'),
                                        ('do {', f'}} while (#({i}--));'), ('for (;;) {', '}')])
        self.add(indent, head)
        if head == 'for (;;) {':
            self.add(indent + 1, f'@if (!{i}--)')
            self.add(indent + 2, '@@break;')
        self.body(indent + 1)
        self.add(indent, end)
        self.loops -= 1
        self.switches = switches

    def switch(self, indent):
        n = self.random.randrange(2, 7)
        self.add(indent, f'@switch ({self.variable()} % {self.random.choice([n, n + 2, 9])}) {{')
        self.switches += 1
        for case in range(n):
            self.add(indent, f'case {case if self.chance(.9) else case + 20}:^')
            self.body(indent + 1, 2, False)
            if self.chance(.8):
                self.add(indent + 1, '@break;' if self.chance(.8) else '@' + self.jump())
        self.add(indent, '}')
        self.switches -= 1

    def statement(self, indent):
        kind = self.random.random()
        if indent > 4 or kind < .5:
            self.add(indent, '@' + self.simple())
        elif kind < .78:
            self.branch(indent)
        elif kind < .9 and self.loops < 3:
            self.loop(indent)
        else:
            self.switch(indent)

    # ---- functions ----

    def function(self, number):
        self.number, self.loops, self.switches, self.n_loops = number, 0, 0, 0
        self.lines += [f'static __attribute__((noinline)) unsigned f{number}(unsigned a, unsigned b)', '{']
        self.add(1, '@unsigned x = a + 3;')
        self.add(1, '@unsigned y = b ^ a;')
        variables = len(self.lines)
        self.add(1, '')
        self.add(1, '@if (!fuel)')
        self.add(2, '@@return a;')
        self.add(1, '@fuel--;')
        self.body(1, 8, False)
        self.lines.append(f'out{number}:^')
        self.add(1, '@x += y;')
        self.add(1, '@return x;')
        self.lines += ['}', '']
        if self.n_loops:
            self.lines[variables] = '\tunsigned ' + ', '.join(f'i{i}' for i in range(self.n_loops)) + ';'

    def main(self):
        self.lines += ['int main(void)', '{']
        self.add(1, 'unsigned s = 0;')
        for i in range(N_FUNCTIONS):
            self.add(1, 'fuel = 40;')
            self.add(1, f'for (unsigned i = 0; i < {self.random.randrange(3, 20)}; i++)')
            self.add(2, f's += f{i}(i, i * 7 + s % 5);')
        self.add(1, 'printf("%u %u\\n", s, noted);')
        self.lines += ['\treturn 0;', '}']

    # ---- results ----

    def plain(self):
        return ''.join(line.replace('@', '').replace('#(', '(').replace(':^', ':') + '\n' for line in self.lines)

    def counted(self):
        """Writes file "counts": how often each line was executed, from line 0 on."""
        out = []
        for i, line in enumerate(self.lines, 1):
            if '@@' in line:
                line = line.replace('@@', f'{{ C({i}); ') + ' }'
            out.append(line.replace('@', f'C({i}); ').replace('#(', f'(C({i}), 1) && (') if not line.startswith('#') else line)
        return COUNTERS + ''.join(line.replace(':^', ':;') + '\n' for line in out)

    def marked(self):
        """The lines that count themselves, without labels."""
        return [i for i, line in enumerate(self.lines, 1) if not line.startswith('#') and re.search('@|#\\(', line)]
