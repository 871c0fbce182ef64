#!/bin/sh
# run.sh SUBJECT [OPTION...] - compare with the installed GNU gprof; see run.py
exec python3 "$(dirname "$0")/run.py" "$@"
