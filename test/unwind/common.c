/* Functions to be unwound through, compiled for other machines: aarch64.sh, riscv64.sh. */
int other(int *);
__attribute__((section(".text.a"))) int leaf(int x) { return x * 3; }
__attribute__((section(".text.b"))) int caller(int x)
{
	int a[4] = { x };
	return other(a) + x;
}
__attribute__((section(".text.c"))) int large(int x)
{
	int a[100000];
	a[x] = x;
	return other(a) + a[1];
}
