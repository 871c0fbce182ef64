/* many.c - two callers of one function; most of its calls and time are for one, from two places. */
static volatile long sink;

__attribute__((noipa)) void tiny(void)
{
	for (int i = 0; i < 60; i++)
		sink += i;
}

__attribute__((noipa)) void many(void)
{
	for (int i = 0; i < 2000000; i++) {
		tiny();
		tiny();
	}
}

__attribute__((noipa)) void few(void)
{
	for (int i = 0; i < 1000000; i++)
		tiny();
}

int main(void)
{
	many();
	few();
	return 0;
}
