/* plug.c - a library that is loaded and unloaded all the time */
static volatile unsigned long sink;

__attribute__((noinline)) void plug_leaf(void) { sink++; }

void plug(int n)
{
	while (n--)
		plug_leaf();
}
