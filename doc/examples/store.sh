#!/bin/sh
# store.sh DIR [SERVERS [PORT]] - a store to try things with: ClickHouse servers (3) on this machine alone, at PORT
# (18123) and the ones after it, with all their files in DIR. Says how to ask them, and ends them when it is
# interrupted. What is in DIR stays, and is there the next time.
set -eu
[ $# -ge 1 ] || { sed -n 's/^# //p' "$0" >&2; exit 2; }
command -v clickhouse-server >/dev/null || { echo 'store.sh: clickhouse-server is not installed: apt install clickhouse-server' >&2; exit 1; }
servers=${2:-3} port=${3:-18123}
mkdir -p "$1"
dir=$(cd "$1" && pwd)
umask 077
if [ ! -e "$dir/login" ]; then
	printf 'user kin\npassword %s\n' "$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')" >"$dir/login"
fi
password=$(sed -n 's/^password //p' "$dir/login")
pids='' hosts=''
# shellcheck disable=SC2086 # a list
trap '[ -z "$pids" ] || kill $pids; wait' EXIT
trap 'exit 0' INT TERM
i=0
while [ $i -lt "$servers" ]; do
	own=$dir/$i http=$((port + i)) tcp=$((port + 1000 + i))
	mkdir -p "$own/data" "$own/tmp"
	cat >"$own/config.xml" <<END
<yandex>
	<logger><level>warning</level><log>$own/server.log</log><errorlog>$own/error.log</errorlog></logger>
	<http_port>$http</http_port><tcp_port>$tcp</tcp_port><listen_host>127.0.0.1</listen_host>
	<path>$own/data/</path><tmp_path>$own/tmp/</tmp_path>
	<users_config>$own/users.xml</users_config><default_profile>default</default_profile>
	<default_database>default</default_database><mark_cache_size>268435456</mark_cache_size>
</yandex>
END
	cat >"$own/users.xml" <<END
<yandex>
	<profiles><default><max_memory_usage>2000000000</max_memory_usage></default></profiles>
	<quotas><default/></quotas>
	<users>
		<default><password>$password</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
		<kin><password>$password</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></kin>
	</users>
</yandex>
END
	(cd "$own" && exec clickhouse-server --config-file="$own/config.xml" >"$own/out" 2>&1 </dev/null) &
	pids="$pids $!"
	hosts="$hosts,127.0.0.1:$http"
	i=$((i + 1))
done
listens() { grep -q ":$(printf %04X "$1") 00000000:0000 0A" /proc/net/tcp; }
i=0
for pid in $pids; do
	while ! listens $((port + i)); do
		kill -0 "$pid" 2>/dev/null || { tail -n 3 "$dir/$i/out" "$dir/$i/error.log" >&2; exit 1; }
		sleep 0.2
	done
	i=$((i + 1))
done
echo "export KIN_STORE_LOGIN='$dir/login'"
echo "kin push http://${hosts#,}/profiles *.kin"
wait
