#!/bin/sh
# Makes aarch64.so: every function below, compiled for aarch64 with signed return addresses. To be
# run again only if there is something to add; needs clang and lld.
cd "$(dirname "$0")" || exit 1
cat >aarch64.c <<'C'
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
C
clang --target=aarch64-linux-gnu -O2 -mbranch-protection=pac-ret -fuse-ld=lld -nostdlib -shared \
	-fno-ident -Wl,--build-id=none,-s,-z,max-page-size=4096,-z,undefs -fasynchronous-unwind-tables \
	aarch64.c -o aarch64.so
rm -f aarch64.c
