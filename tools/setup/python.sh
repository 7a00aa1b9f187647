#!/bin/bash
# python.sh: the Python of `./tessera plot` and its kind. Called by ./tessera and setup.sh.
#
#   python.sh make          makes the private environment build/python, which sees Debian's packages and ours
#   python.sh run ARGS...   runs `python3 -m tessera ARGS` in it, or with the system's Python where there is none
#   python.sh exec ARGS...  runs `python3 ARGS` there
#
# TESSERA_PYTHON=PROGRAM names another Python than Debian's.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
environment=$root/build/python

# Debian's packages belong to Debian's Python; another one that comes first on the path does not see them.
system=${TESSERA_PYTHON:-/usr/bin/python3}
if [ -z "${TESSERA_PYTHON:-}" ] && ! [ -x "$system" ]; then system=python3; fi

if [ "$1" = make ]; then
  "$system" -m venv --system-site-packages --without-pip "$environment"
  packages=$("$environment/bin/python3" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
  printf '%s\n' "$root/tools/python" >"$packages/tessera.pth"
  "$environment/bin/python3" -c 'import h5py, matplotlib, numpy, tessera'
  printf 'tessera setup: build/python/bin/python3 has the package tessera with numpy, h5py and matplotlib\n' >&2
  exit 0
fi
action=$1
shift
if [ -z "${TESSERA_PYTHON:-}" ] && [ -x "$environment/bin/python3" ]; then system=$environment/bin/python3; fi
if ! command -v "$system" >/dev/null; then
  printf 'tessera: error: this command needs Python, which this machine does not have\n  fix  ./tessera setup --plot\n' >&2
  exit 6
fi
export PYTHONPATH="$root/tools/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1
if ! "$system" -c 'import numpy, h5py' 2>/dev/null; then
  printf 'tessera: error: this command needs the Python packages numpy and h5py\n  fix  ./tessera setup --plot\n' >&2
  exit 6
fi
if [ "$action" = exec ]; then exec "$system" "$@"; fi
exec "$system" -m tessera "$@"
