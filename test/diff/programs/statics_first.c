#include "statics.h"

__attribute__((noinline)) static int helper(int x) { return work(x, 20); }
int first(int x) { return helper(x) + helper(x + 1); }
