#!/bin/sh
# dist.sh BUILD - "make dist": BUILD/kin-VERSION-MACHINE.tar.gz with kin as one file, gprof, the runtime, man pages and
# completions. It runs where it is unpacked, on any Linux.
set -e
build=$1
name=kin-$("$build/kin" --version | cut -d' ' -f2)-$(uname -m)
work=$build/dist
new=$work/$name

ninja -C "$build" --quiet kin-portable
rm -rf "$work"
mkdir -p "$new/bin" "$new/lib" "$new/include"
meson install -C "$build" --no-rebuild --quiet --destdir "$(realpath "$work")/all" >"$work/install.log"
bin=$(find "$work/all" -path '*/bin/kin')
prefix=${bin%/bin/kin}

strip -o "$new/bin/kin" "$build/kin-portable"
ln -s kin "$new/bin/gprof"
find "$prefix" -name 'libkinrt.*' -exec cp -a {} "$new/lib" ';'
strip --strip-unneeded "$new/lib/"libkinrt.so.*.*
cp -a "$prefix/include/kinrt.h" "$new/include"
cp -a "$prefix/share" "$new/share"
for other in agent fleet mpi push tidy; do # of other programs, which load libraries
	rm -f "$new/share/man/man1/kin-$other.1"
done
cp LICENSE README.md "$new"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-$(date +%s)}" \
	-czf "$build/$name.tar.gz" "$name"
rm -rf "$work"
echo "$build/$name.tar.gz"
