/* Drives odd_x86.S. */
#include <stddef.h>

unsigned long spend(unsigned long n);
extern unsigned long fell_through(unsigned long n), half_named(unsigned long n),
	as_you_like_it(unsigned long n), other_name(unsigned long n), old_way(unsigned long n),
	dollar(unsigned long n), dotted(unsigned long n), spaced(unsigned long n),
	untyped(unsigned long n), sized_too_far(unsigned long n), data_like(unsigned long n);

static volatile unsigned long sum;

int main(void)
{
	static unsigned long (*const all[])(unsigned long) = {
		fell_through, half_named, as_you_like_it, other_name,    old_way,  dollar,
		dotted,       spaced,     untyped,        sized_too_far, data_like
	};
	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
			sum += all[i](600000 * (i + 1)) + spend(1000000);
	return 0;
}
