#!/bin/sh
# run.sh SUBJECT [CASE...] - golden tests; see run.py
exec python3 "$(dirname "$0")/run.py" "$@"
