#ifndef STATICS_H
#define STATICS_H

int first(int x);
int second(int x);

__attribute__((noinline, unused)) static int in_header(int x)
{
	volatile int y = x;
	return y + 1;
}

__attribute__((noinline, unused)) static int work(int x, int rounds)
{
	volatile int y = x;

	for (int i = 0; i < rounds; i++)
		y += in_header(i);
	for (int i = 0; i < rounds * 100; i++)
		y += i;
	return y;
}

#endif
