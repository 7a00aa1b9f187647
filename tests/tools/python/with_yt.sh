#!/bin/bash
# with_yt.sh: the tests that need yt. Unpacks Debian's yt into a folder of its own: installed, it would bring a desktop's worth of
# packages, and nothing of it is needed here.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q download python3-yt python3-unyt python3-cmyt python3-colorspacious python3-tomli-w python3-ipywidgets \
  python3-traitlets python3-more-itertools python3-tqdm python3-sympy python3-mpmath python3-packaging >download.log 2>&1 ||
  { cat download.log >&2; exit 1; }
for package in *.deb; do dpkg-deb -x "$package" yt; done
export PYTHONPATH=$work/yt/usr/lib/python3/dist-packages
export TESSERA_PROGRAM=${TESSERA_PROGRAM:-$root/build/release/tools/tessera/tessera}
"$root/tools/setup/python.sh" exec "$here/run_tests.py" yt
