#!/bin/sh
# Makes riscv64.so: every function below, compiled for riscv64. To be run again only if there is
# something to add; needs riscv64-linux-gnu-gcc.
cd "$(dirname "$0")" || exit 1
cat common.c - >riscv64.c <<'C'
__attribute__((section(".text.d"), optimize("no-omit-frame-pointer"))) int pointer(int n)
{
	return other(__builtin_alloca(n)) + n;
}
C
riscv64-linux-gnu-gcc -O2 -fPIC -nostdlib -shared -fno-stack-protector -fno-ident -Wl,--build-id=none,-s,-z,max-page-size=4096 \
	-fasynchronous-unwind-tables riscv64.c -o riscv64.so
rm -f riscv64.c
