# tap.sh - Test Anything Protocol for drivers written in sh; source it.
#
#	check "name" command...		a point that passes if the command succeeds; its output is
#					shown if it does not
#	skip "name" "reason"
#	finish				print the plan and exit; 1 if a point failed or there was none
tap_count=0 tap_failed=0

tap_result() { # 0|1 name
	tap_count=$((tap_count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_count - $2"
	else
		echo "not ok $tap_count - $2"
		tap_failed=$((tap_failed + 1))
	fi
}

check() {
	tap_name=$1
	shift
	if tap_output=$("$@" 2>&1 </dev/null); then
		tap_result 0 "$tap_name"
	else
		tap_result 1 "$tap_name"
		printf '%s\n' "$tap_output" | head -n 200 | sed 's/^/# /'
	fi
}

skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

finish() {
	echo "1..$tap_count"
	[ "$tap_failed" = 0 ] && [ "$tap_count" -gt 0 ]
	exit
}
