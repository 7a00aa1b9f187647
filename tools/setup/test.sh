#!/bin/bash
# test.sh: builds what it tests, runs it with ctest, ends with "N passed, N failed, N skipped". Called by ./tessera test.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)

usage() {
  cat <<'END'
usage: ./tessera test [--quick | --all] [--preset NAME] [--target NAME]... [ctest options]

Builds the program and all tests, then runs them, as many at once as there are cores: all but the test of the bundle,
which -L bundle or -R Bundle runs (in .ci/run it is a lane of its own), and of the long suites over decks the decks that
have nothing which another one has not (Others/...).

  --quick         the core promises only, with few seeds (under two minutes on two cores, after the build): the libraries
                  below the components, and every deck on the host: its answers, its bits on any ranks and threads
  --all           every suite on every deck
  --preset NAME   which build to test: release (default), cuda, debug, checked, asan, tsan
  --target NAME   build only this, for example tessera_core_tests; then select its tests too: -L core
  ctest options   for example -R Deck (only tests whose name matches), -L grid (a folder), -j 1, -N (list)
END
}

preset=release
targets=()
quick=()
others=(-E '^Others/')
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --quick)
      export TESSERA_SEEDS=${TESSERA_SEEDS:-8}
      for name in core grid taskgraph datawarehouse scheduler components; do targets+=(--target "tessera_${name}_tests"); done
      quick=(-L '^(core|grid|taskgraph|datawarehouse|scheduler|components)$'
        -E '^Others/|Device|GraphsOf|Gpu|Paging|SeedsOf|VirtualRun|DeckFills|Typos|FieldOutput.TheAudit|EveryDroppedEdge|TagBound')
      others=()
      shift
      ;;
    --all) others=(); shift ;;
    --preset) preset=${2:?--preset needs a name}; shift 2 ;;
    --target) targets+=(--target "${2:?--target needs a name}"); shift 2 ;;
    *) break ;;
  esac
done
if [ ${#targets[@]} -eq 0 ]; then targets=(--target all); fi
case " $* " in
  *" -L"* | *" -R"* | *" -I"* | *" --label"* | *" --tests-regex"*) chosen=() ;;
  *) chosen=(-LE '^bundle$') ;;
esac

case " $* " in *" -R"* | *" --tests-regex"*) others=() ;; esac

"$here/setup.sh" --implicit --test --preset "$preset" "${targets[@]}"
log=$root/build/$preset/test.log
status=0
ctest --test-dir "$root/build/$preset" -j "$(nproc)" --output-on-failure --no-tests=error "${chosen[@]}" "${quick[@]}" "${others[@]}" "$@" 2>&1 |
  tee "$log" | grep --line-buffered -v '^ *Start ' || status=$?

# "98% tests passed, 2 tests failed out of 120", and a line for each test that was skipped; ctest counts those as passed.
read -r failed total < <(sed -n 's/.*tests passed, \([0-9]*\) tests failed out of \([0-9]*\).*/\1 \2/p' "$log") || true
skipped=$(grep -Ec '^ *[0-9]+/[0-9]+ Test +#[0-9]+: .*\*\*\*(Skipped|Not Run \(Disabled\))' "$log") || true
if [ -n "${total:-}" ]; then printf '%d passed, %d failed, %d skipped\n' $((total - failed - skipped)) "$failed" "$skipped"; fi
exit "$status"
