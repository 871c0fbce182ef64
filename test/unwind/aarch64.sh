#!/bin/sh
# Makes aarch64.so: every function below, compiled for aarch64 with signed return addresses. To be
# run again only if there is something to add; needs clang and lld.
cd "$(dirname "$0")" || exit 1
clang --target=aarch64-linux-gnu -O2 -mbranch-protection=pac-ret -fuse-ld=lld -nostdlib -shared \
	-fno-ident -Wl,--build-id=none,-s,-z,max-page-size=4096,-z,undefs -fasynchronous-unwind-tables \
	common.c -o aarch64.so
