#!/bin/sh
# run.sh BUILD [--update] [SESSION...]: golden sessions of the command line, see run.py.
exec python3 "$(dirname "$0")/run.py" "$@"
