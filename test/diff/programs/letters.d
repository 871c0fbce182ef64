// Names as D compilers make them: modules, templates, nested functions, delegates, operators, CTFE.
module tools.letters;

import core.stdc.stdio;

__gshared ulong total;

struct Pair(T, U)
{
    T first;
    U second;
    Pair opBinary(string op)(Pair other) const
    {
        return Pair(mixin("cast(T)(first " ~ op ~ " other.first)"), cast(U)(second + other.second));
    }
    ~this() { total += 1; }
}

class Shape
{
    abstract ulong area() const;
    invariant { assert(total >= 0); }
}

final class Square : Shape
{
    ulong side;
    this(ulong side) { this.side = side; }
    override ulong area() const { return side * side; }
    @property ulong edge() const { return side; }
}

ulong spend(ulong n) pure nothrow @nogc @safe
{
    ulong s = 0;
    foreach (i; 0 .. n)
        s += i ^ s;
    return s;
}

T sum(T)(T[] values, T delegate(T) f)
{
    T s = 0;
    foreach (v; values)
        s += f(v);
    return s;
}

ulong depth(int n) { return n < 2 ? n : depth(n - 1) + depth(n - 2); }

extern (C) void plain_c_name() { total += spend(20_000_000); }

static this() { total = 1; }

unittest { assert(depth(3) == 2); }

void main()
{
    auto p = Pair!(int, long)(1, 2);
    foreach (i; 0 .. 300)
        p = p + Pair!(int, long)(i, i);
    ulong twice(ulong n) { return spend(n * 20_000) + total; }
    ulong[] values = [100, 200, 300, 400];
    total += sum(values, &twice);
    total += sum!ulong(values, n => spend(n * 1000));
    Shape s = new Square(7);
    total += s.area + (cast(Square) s).edge + depth(27);
    plain_c_name();
    if (total == 42)
        printf("%lu\n", total);
}
