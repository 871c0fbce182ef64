#!/bin/sh
# make_cxx.sh DIR: builds a real, large C++ program with DWARF and -pg, runs it, and leaves
# DIR/cxx (the program), DIR/cxx.gmon (its profile) and its sources where the DWARF says they are.
#
# It is cppcheck, from the Debian source archive, checking a part of itself: 200,000 lines, some
# 20 MB of code and 100 MB of debug information. Takes ten minutes on two cores, once. To use
# another program, put its files there yourself.
set -eu

dir=${1:?usage: make_cxx.sh DIR}
mkdir -p "$dir"
cd "$dir"
dir=$(pwd)
[ -s cxx ] && [ -s cxx.gmon ] && exit 0

# A package list of our own: the machine's is left as it is.
mkdir -p apt/lists/partial
. /etc/os-release
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
	"http://deb.debian.org/debian ${VERSION_CODENAME:-bookworm} main" >apt/sources.list
apt() {
	apt-get -qq -o Dir::Etc::sourcelist="$dir/apt/sources.list" -o Dir::Etc::sourceparts=- \
		-o Dir::State::lists="$dir/apt/lists" -o APT::Sandbox::User="$(id -un)" "$@"
}
[ -n "$(ls -d cppcheck-*/ 2>/dev/null)" ] || { apt update && apt source --download-only cppcheck; }
[ -n "$(ls -d cppcheck-*/ 2>/dev/null)" ] || tar -xzf cppcheck_*.orig.tar.gz
cd "$(ls -d cppcheck-*/)"

make -j"${JOBS:-$(nproc)}" CXXFLAGS='-O1 -g -pg -std=c++11 -fno-pie' LDFLAGS='-pg -no-pie' \
	FILESDIR="$(pwd)" cppcheck
# What it is given decides how long it runs: a minute or so.
GMON_OUT_PREFIX=$dir/cxx.out ./cppcheck -q --std=c++11 -Ilib lib/token.cpp >/dev/null
mv "$dir"/cxx.out.* "$dir/cxx.gmon"
cp cppcheck "$dir/cxx"
