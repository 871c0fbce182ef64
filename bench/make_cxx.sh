#!/bin/sh
# make_cxx.sh DIR: builds a real, large C++ program with DWARF and -pg, runs it, and leaves
# DIR/cxx (the program), DIR/cxx.gmon (its profile) and its sources where the DWARF says they are.
#
# It is cppcheck, from the Debian source archive, checking one of its own files: 38,000 functions,
# 60 MB with debug information. Takes five minutes of two cores and half a minute to run, once; to
# use another program, put its files there yourself. Not optimised: GNU gprof 2.40 -l gives up on
# code with inlined functions ("somebody miscounted").
set -eu

here=$(cd "$(dirname "$0")" && pwd)
dir=${1:?usage: make_cxx.sh DIR}
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
[ -s "$dir/cxx" ] && [ -s "$dir/cxx.gmon" ] && exit 0

source=$("$here/../test/diff/debsrc.sh" "$dir" cppcheck)
cd "$source"
make -j"${JOBS:-$(nproc)}" CXXFLAGS='-O0 -g -pg -std=c++11 -fno-pie' LDFLAGS='-pg -no-pie' \
	FILESDIR="$(pwd)" cppcheck
rm -f "$dir"/run.*
GMON_OUT_PREFIX=$dir/run ./cppcheck -q --std=c++11 -Ilib lib/errorlogger.cpp >/dev/null
cp cppcheck "$dir/cxx"
mv "$dir"/run.* "$dir/cxx.gmon"
