# Sourced by each run.sh: builds the example of that folder against an installed Tessera, far from the repository, and
# reads what its runs leave.
set -euo pipefail
example=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
name=$(basename "$example")
[ $# -eq 1 ] || { echo "usage: $example/run.sh INSTALLED, the folder that cmake --install --prefix got" >&2; exit 2; }
installed=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  printf '%s: %s\n' "$name" "$*" >&2
  exit 1
}

# build: a copy is built, so that nothing but the install tree can be found from there. Ends in the copy's folder.
build() {
  cp -r "$example" "$work/$name"
  cmake -S "$work/$name" -B "$work/build" -DCMAKE_PREFIX_PATH="$installed" -G Ninja
  cmake --build "$work/build"
  cd "$work/$name"
}

# column RUN NAME: the last value of that column of the run's history.
column() {
  awk -F, -v name="$2" '!/^#/ && !at {for (i = 1; i <= NF; ++i) if ($i == name) at = i; next}
    at {value = $at} END {print value}' "$1/history.csv"
}

# expect RUN NAME VALUE: the last value of the column is that number, to twelve digits.
expect() {
  local value
  value=$(column "$1" "$2")
  [ "$(printf '%.12f' "$value")" = "$(printf '%.12f' "$3")" ] || fail "$2 of $1 is '$value', not $3"
}

# expectSameHistory RUN RUN: both runs have the same lines but comments.
expectSameHistory() {
  diff <(grep -v '^#' "$1/history.csv") <(grep -v '^#' "$2/history.csv") || fail "$1 and $2 differ"
}
