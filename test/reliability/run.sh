#!/bin/sh
# run.sh SUBJECT [OPTION...] - hostile input and failing calls; see run.py
exec python3 "$(dirname "$0")/run.py" "$@"
