/* A library that is loaded and unloaded; WHICH makes them differ. */
static volatile unsigned long sink;
#define CAT2(a, b) a##b
#define CAT(a, b)  CAT2(a, b)

__attribute__((noinline)) void CAT(plug_leaf_, WHICH)(void) { sink += WHICH; }

void plug(int n);
void plug(int n)
{
	while (n--)
		CAT(plug_leaf_, WHICH)();
}
