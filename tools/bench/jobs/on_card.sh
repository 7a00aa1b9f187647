#!/bin/bash
# on_card.sh BUILD [SECONDS]: everything of docs/irregular.md that needs a GPU: tests' decks with their right answers, forms
# against each other on the programs and on made-up work, the sizes of the reference, CPU and GPU together. BUILD is a build
# of preset cuda with the targets tessera and tessera_jobs_bench. Each part ends within SECONDS [60]; the last line counts.
set -uo pipefail
[ $# -ge 1 ] || { echo "usage: $0 BUILD [SECONDS]" >&2; exit 2; }
build=$1
limit=${2:-60}
root=$(cd "$(dirname "$0")/../../.." && pwd)
tessera=$(find "$build" -name tessera -type f -perm -u+x | head -1)
bench=$(find "$build" -name tessera_jobs_bench -type f | head -1)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
passed=0
failed=0

# part NAME COMMAND...: one part with its limit.
part() {
  local name=$1
  shift
  printf '\n== %s\n' "$name"
  if timeout -k 5 "$limit" "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "-- FAILED ($?): $name"; fi
}
# job DECK ARGUMENT...: one run on the card, with its numbers.
job() { "$tessera" job "$root/inputs/jobs/$1.toml" --out "$out/run" "${@:2}"; }

for deck in "$root"/inputs/jobs/*.toml; do part "$(basename "$deck" .toml)" job "$(basename "$deck" .toml)" --device cuda; done
for form in regular consumer consumer-producer wavefront; do
  part "7-layer skin, $form" job skin --device cuda --form $form --set photons.photons=20000000
  part "fluorescence, $form" job fluorescence_thick --device cuda --form $form --set photons.photons=2000000
  part "room 1024 x 768 x 16, $form" job path_tracer --device cuda --form $form --set path_tracer.width=1024 \
    --set path_tracer.height=768
  for rays in 1 4 16; do
    part "room, $rays shadow rays, $form" job path_tracer --device cuda --form $form --set path_tracer.width=512 \
      --set path_tracer.height=384 --set path_tracer.shadow_rays=$rays
  done
  for load in 10 100 1000; do
    part "L-shaped furnace, load $load, $form" job furnace_mesh --device cuda --form $form --set path_tracer.width=256 \
      --set path_tracer.height=192 --set path_tracer.load=$load
  done
  part "forces of 10^6 stars, $form" job cluster_forces --device cuda --form $form --device-memory 4096 \
    --set barnes_hut.stars=1000000 --set barnes_hut.targets=100 --set 'job.expect=[]'
done
part "tree built on the card" job cluster_forces --device cuda --set "barnes_hut.tree='jobs'"
part "matrix product 4096" job matrix_product --device cuda --device-memory 4096 --set matrix_product.rows=4096 \
  --set matrix_product.inner=4096 --set matrix_product.columns=4096
for deck in skin path_tracer fluorescence_thick; do
  part "$deck, all cores" job "$deck" --threads 0
  part "$deck, all cores and the card" job "$deck" --threads 0 --device cuda --trace
done
part "overheads and forms on made-up work" "$bench" cuda
printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
