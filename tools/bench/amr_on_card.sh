#!/bin/bash
# amr_on_card.sh TESSERA [OUT]: compressible flow on a GPU, on one level and on meshes that follow it, with the program of a
# build of preset cuda; about two minutes. First the bits of the host against those of the GPU for decks of euler, then
# million cell updates a second (a cell in a step of its level is one): 256^3 cells in patches of 64^3, 32^3 and 16^3, and
# three levels around a shell in patches of 32^3 and 16^3, with steps of their own and without. OUT: an empty folder.
# Each run has a limit of its own; the last line is "N passed, N failed". DEVICE=emulated tries the script without a GPU, and
# SMALL=1 with few cells.
set -uo pipefail
[ $# -ge 1 ] || { echo "usage: $0 TESSERA [OUT]" >&2; exit 2; }
tessera=$1
out=${2:-$(mktemp -d)}
mkdir -p "$out"
decks=$(cd "$(dirname "$0")/../.." && pwd)/inputs/euler
device=${DEVICE:-cuda}
threads=${THREADS:-8}
passed=0
failed=0

note() { if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi; }

# left SECONDS: that limit, or what is left of 140 s.
left() { local rest=$((140 - SECONDS)); echo $((rest < 1 ? 1 : rest < $1 ? rest : $1)); }

# run NAME DEVICE DECK OPTION...: a run without files for viewing, of at most 30 s; its folder is $out/NAME.
run() {
  local name=$1 device=$2 deck=$3
  shift 3
  timeout -k 5 "$(left 30)" "$tessera" run "$deck" -q --device "$device" --threads "$threads" --out "$out/$name" \
    --set checkpoint.at_end=false --set history.every_steps=0 "$@" > "$out/$name.log" 2>&1 && return
  echo "$name: exit $?: $(tail -1 "$out/$name.log")"
  return 1
}

# number NAME KEY: of the result of a run.
number() { sed -n "s/^ *\"$2\": \([-0-9.e+]*\),*\$/\1/p" "$out/$1/result.json" | head -1; }

# sameBits DECK
sameBits() {
  local name=${1%.toml}
  run "$name-host" none "$decks/$1" && run "$name-card" "$device" "$decks/$1" || return
  if "$tessera" compare "$out/$name-host" "$out/$name-card" > "$out/$name.compare" 2>&1; then
    echo "$name: the bits of the host"
  else
    echo "$name: OTHER BITS: $(tail -2 "$out/$name.compare" | tr '\n' ' ')"
    return 1
  fi
}

# rate NAME DECK STEPS OPTION...: cell updates a second of the steps after the first two; in `rate`.
rate() {
  local name=$1 deck=$2 steps=$3
  shift 3
  rate=0
  run "$name-2" "$device" "$deck" --set time.max_steps=2 "$@" || return
  run "$name-$steps" "$device" "$deck" --set "time.max_steps=$steps" "$@" || return
  rate=$(awk -v r="$(number "$name-$steps" cells_per_second)" -v s="$(number "$name-$steps" wall_seconds)" \
    -v q="$(number "$name-2" cells_per_second)" -v t="$(number "$name-2" wall_seconds)" \
    'BEGIN { if (s > t) printf "%.4g", (r * s - q * t) / (s - t); else print 0 }')
}

# atLeast WHAT RATE LEAST
atLeast() {
  local verdict=missed
  awk -v a="$2" -v b="$3" 'BEGIN { exit !(a + 0 > 0 && a + 0 >= b + 0) }' && verdict=reached
  printf '%-58s %10.1f million, wanted %8.1f: %s\n' "$1" "$(awk -v a="$2" 'BEGIN { print a / 1e6 }')" \
    "$(awk -v a="$3" 'BEGIN { print a / 1e6 }')" $verdict
  [ $verdict = reached ]
}

echo "== bits"
for deck in sod.toml vortex_two_level.toml blast_three_level.toml sedov_following.toml sedov_spherical.toml; do
  note sameBits "$deck"
done

cells=256 shell=64 steps=62 sub=42 lock=102 tiles="32 16" patches="64 32 16"
[ -n "${SMALL:-}" ] && cells=32 shell=16 steps=4 sub=3 lock=3 tiles=8 patches="16 8"
least=800000000
cat > "$out/uniform.toml" << 'DECK'
[simulation]
components = ["euler"]
[grid]
periodic = [true, true, true]
[time]
cfl = 0.4
[euler]
initial.points = 1
initial.density = "1 + 0.2*x"
initial.velocity = { x = 1, y = 0.5, z = 0.25 }
initial.pressure = "1"
[output]
fields = []
DECK
# The shell is what a mesh would follow: where it is does not depend on the flow, so that all runs have the same cells.
cat > "$out/shell.toml" << 'DECK'
[simulation]
components = ["euler"]
[grid]
periodic = [true, true, true]
[amr]
max_levels = 3
buffer = 2
[[amr.criterion]]
kind = "expression"
expression = "abs(sqrt((x-0.5)^2 + (y-0.5)^2 + (z-0.5)^2) - 0.3 - 0.05*t) < 0.01"
[time]
cfl = 0.4
[euler]
initial.points = 1
initial.density = "1 + 0.2*x"
initial.velocity = { x = 1, y = 0.5, z = 0.25 }
initial.pressure = "1"
[output]
fields = []
DECK

cube() { printf '[%s, %s, %s]' "$1" "$1" "$1"; }

echo "== million cell updates a second"
uniform=0
for patch in $patches; do
  rate "uniform-$patch" "$out/uniform.toml" "$steps" --set "grid.cells=$(cube $cells)" --set "grid.patch_size=$(cube "$patch")"
  if [ "$uniform" = 0 ]; then
    uniform=$rate
    note atLeast "one level, $cells^3 in $patch^3" "$rate" $least
  else
    printf '%-58s %10.1f million\n' "one level, $cells^3 in $patch^3" "$(awk -v a="$rate" 'BEGIN { print a / 1e6 }')"
  fi
done
wanted=$(awk -v u="$uniform" 'BEGIN { print 0.6 * u }')
for tile in $tiles; do
  mesh=(--set "grid.cells=$(cube $shell)" --set "grid.patch_size=$(cube "$tile")" --set "amr.tile=$tile")
  for subcycle in true false; do
    many=$lock
    [ $subcycle = true ] && many=$sub
    what="three levels in $tile^3, subcycle = $subcycle"
    rate "levels-$tile-$subcycle" "$out/shell.toml" "$many" "${mesh[@]}" --set amr.interval=1000 --set amr.subcycle=$subcycle
    note atLeast "$what" "$rate" "$wanted"
  done
  many=$((sub / 2 + 2))
  rate "regrids-$tile" "$out/shell.toml" "$many" "${mesh[@]}" --set amr.interval=4 --set amr.subcycle=true
  printf '%-58s %10.1f million; %s s of %s in %s regrids\n' "three levels in $tile^3, a regrid every 4 steps" \
    "$(awk -v a="$rate" 'BEGIN { print a / 1e6 }')" "$(number "regrids-$tile-$many" regrid_seconds)" \
    "$(number "regrids-$tile-$many" wall_seconds)" "$(number "regrids-$tile-$many" regrids)"
done
echo "$passed passed, $failed failed, $SECONDS s"
[ $failed = 0 ]
