#include "statics.h"

__attribute__((noinline)) static int helper(int x) { return work(x, 30); }
__attribute__((noinline)) static int never_called(int x) { return helper(x); }
int second(int x) { return x < 0 ? never_called(x) : helper(x); }
