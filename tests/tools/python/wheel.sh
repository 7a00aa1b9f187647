#!/bin/bash
# wheel.sh: builds the wheel of tools/python without a network, installs it into an empty environment, and uses it there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=${TESSERA_PYTHON:-/usr/bin/python3}

cp -r "$root/tools/python" "$work/source" # a build leaves folders beside its sources
cd "$work"
"$python" -m pip wheel -q --no-deps --no-build-isolation --no-index -w . ./source
"$python" -m venv --system-site-packages fresh
fresh/bin/pip install -q --no-deps --no-index tessera_results-*.whl
rm -r source

cd fresh
passed=0
expect() {
  if ! grep -q "$1" said; then
    printf 'wheel: not said: %s\n' "$1" >&2
    cat said >&2
    printf '%d passed, 1 failed\n' "$passed"
    exit 1
  fi
  passed=$((passed + 1))
}
export TESSERA_PROGRAM=${TESSERA_PROGRAM:-$root/build/release/tools/tessera/tessera}
bin/python -c "import tessera; print(tessera.__file__)" >said
expect "$work/fresh/lib"
bin/python - >said <<END
import tessera
run = tessera.run("$root/inputs/levels/three_level.toml", "run", options=["--threads", "1"])
print(run.result["status"], len(run.fields[-1].levels))
END
expect "done 3"
bin/tessera-results report run >said
expect "wrote run_report.html"
bin/tessera-results new component salt >said
expect "salt.cpp"
if bin/tessera-results plot nowhere 2>said; then exit 1; fi
expect "there is no nowhere"
printf '%d passed, 0 failed\n' "$passed"
