#!/bin/sh
# debsrc.sh DIR PACKAGE... - download Debian source packages into DIR and unpack them there, one folder each.
#
# Works whether or not the machine's apt has deb-src enabled, and changes nothing of its setup: the
# lists are fetched into DIR with the machine's own sources turned from deb to deb-src.
# Prints the folder of each package, or says on stderr why there is none and exits 1.
set -u
dir=$(realpath "$1") && shift || exit 1
parts=$dir/apt/parts
mkdir -p "$parts" "$dir/apt/lists/partial" "$dir/apt/cache/archives/partial" || exit 1
for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
	[ -f "$f" ] && sed -n 's/^deb[[:space:]]/deb-src /p' "$f" >"$parts/$(basename "$f" .list).list"
done
for f in /etc/apt/sources.list.d/*.sources; do
	[ -f "$f" ] && sed 's/^Types:.*/Types: deb-src/' "$f" >"$parts/$(basename "$f")"
done
# The sandbox user could not write into a private folder.
apt="apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts=$parts
	-o Dir::State::Lists=$dir/apt/lists -o Dir::Cache=$dir/apt/cache -o APT::Sandbox::User=root"
if ! ls "$dir"/apt/lists/*Sources* >/dev/null 2>&1; then
	timeout 300 $apt update >"$dir/apt/log" 2>&1 || { sed 's/^/# /' "$dir/apt/log" >&2; exit 1; }
fi
cd "$dir" || exit 1
unpack() { # package: without dpkg-dev as its authors made it, without Debian's changes
	if command -v dpkg-source >/dev/null; then
		dpkg-source --no-check -x "$1"_*.dsc
	else
		set -- "$1" "$(ls "$1"_*.orig.tar.*)"
		version=${2#*_}
		mkdir "$1-${version%.orig.tar.*}" && tar -C "$1-${version%.orig.tar.*}" --strip-components=1 -xf "$2"
	fi
}
for p; do
	if ! ls -d "$p"-[0-9]*/ >/dev/null 2>&1; then
		timeout 300 $apt source --download-only "$p" >"$dir/apt/log" 2>&1 &&
			unpack "$p" >>"$dir/apt/log" 2>&1 ||
			{ sed 's/^/# /' "$dir/apt/log" >&2; exit 1; }
	fi
	echo "$dir/$(ls -d "$p"-[0-9]*/ | head -n 1)"
done
