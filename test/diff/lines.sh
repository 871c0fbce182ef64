#!/bin/sh
# lines.sh PRINT_LINES [OPTION...] - compare source lines with the installed binutils; see lines.py
exec python3 "$(dirname "$0")/lines.py" "$@"
