/* Labels in the code of functions, with no type, where a source line begins: which name stands for
 * the place with -l, the label's or the line's. */
static volatile unsigned sum;

static void spend(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += i;
}

int plain_name(void)
{
	spend(15000000);
	asm(".globl label_in_plain\nlabel_in_plain: nop");
	spend(10000000);
	asm("local_in_plain: nop");
	spend(5000000);
	return 0;
}

int _one_underscore(void)
{
	spend(5000000);
	asm(".globl label_in_one\nlabel_in_one: nop");
	asm(".globl _label_in_one\n_label_in_one: nop");
	spend(5000000);
	return 0;
}

static int __attribute__((noinline)) __two_underscores(void)
{
	spend(5000000);
	asm("local_in_two: nop");
	asm(".globl _label_in_two\n_label_in_two: nop");
	asm(".globl __label_in_two\n__label_in_two: nop");
	asm("__local_in_two: nop");
	spend(5000000);
	return 0;
}

int main(void) { return plain_name() + _one_underscore() + __two_underscores(); }
