#!/bin/sh
# install.sh ROOT BUILD - "make install" respects PREFIX, DESTDIR and GPROF, and "make uninstall" leaves
# nothing behind. Changes the settings of BUILD.
cd "$1" || exit 1
. test/lib/tap.sh
build=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

run_make() { make "$@" BUILD="$build" DESTDIR="$work/root" >"$work/log" 2>&1 || { sed 's/^/# /' "$work/log"; false; }; }
put_below() { # prefix: all files are below it, and there are some
	find "$work/root" ! -type d >"$work/files"
	grep -q "^$work/root$1/bin/kin$" "$work/files" && ! grep -v "^$work/root$1/" "$work/files"
}
works() { [ "$("$work/root$1/bin/kin" --version | cut -d' ' -f1)" = kin ]; }
no_gprof() { ! grep gprof "$work/files" | grep -v kin-gprof.1; }
nothing_left() { [ ! -e "$work/root" ] || ! find "$work/root" ! -type d | grep .; }

check 'make install PREFIX=/opt/kin GPROF=no' run_make install PREFIX=/opt/kin GPROF=no
check 'all of it is below the prefix' put_below /opt/kin
check 'what is installed runs' works /opt/kin
check 'there is no gprof' no_gprof
check 'make uninstall' run_make uninstall
check 'nothing is left' nothing_left
check 'make install PREFIX=/usr/local GPROF=yes' run_make install PREFIX=/usr/local GPROF=yes
check 'gprof is there' [ -L "$work/root/usr/local/bin/gprof" ]
check 'make uninstall, again' run_make uninstall
finish
