#!/bin/bash
# on_card.sh BUILD [-t SECONDS] [-o FILE] [-n] [PART]...: everything of docs/irregular.md that needs a GPU: decks with their
# right answers, forms against each other, rates, CPU and GPU together, overheads. BUILD is a build of preset cuda with the target
# tessera_jobs_card. All parts together end within SECONDS [300]; FILE gets the whole output; -n tries the script on an
# emulated device, with less work. The last line is "N passed, N failed, N skipped".
set -uo pipefail
all_parts="answers tests forms rates together load shadow overhead blas several"
without_gpu=emulated
total=300
source "$(dirname "${BASH_SOURCE[0]}")/../card_parts.sh"
card_options "$@"
tessera=$(program tessera)
bench=$(program tessera_jobs_bench)
blas=$(program tessera_jobs_blas_bench)
tests=$(program tessera_scheduler_jobs_tests)
[ -n "$tessera" ] || { echo "there is no program tessera in $build; build the target tessera_jobs_card" >&2; exit 2; }
forms="regular consumer consumer-producer wavefront"
# Sizes are divided by this much where there is no GPU.
small=1
[ "$device" = cuda ] || small=2000
card() { echo "--device $device --device-memory $((small > 1 ? 256 : 8192))"; }

# numbers: name and value of each number of the last run.
numbers() {
  awk '/^    "[a-z_0-9]+": \{/ {name = $1} /^      "value":/ {print name, $2}' "$work/run/result.json" 2>/dev/null | tr -d '":,'
}
# value NAME: one of them, or nothing. form: of the kernels of its jobs.
value() { numbers | awk -v name="$1" '$1 == name {print $2}'; }
form() { awk '$1 == "\"form\":" {print $2; exit}' "$work/run/result.json" | tr -d '",'; }
# bits: the numbers that are not times, and the sums of pictures and tables.
bits() {
  numbers | grep -vE '^(seconds|gflops|[a-z]*_per_second) '
  (cd "$work/run" && cksum -- *.png *.csv 2>/dev/null)
}
# rate: units of the last run a second, whatever its program calls them.
rate() {
  local key
  for key in photons_per_second paths_per_second stars_per_second gflops; do
    [ -z "$(value $key)" ] || { printf '%.3g' "$(value $key)"; return; }
  done
  printf '%s' -
}
# job SECONDS NAME DECK ARGUMENT...: one run.
job() {
  local limit=$1 name=$2 deck=$3 status=0
  shift 3
  rm -rf "$work/run"
  run "$limit" "$tessera" job "$root/inputs/jobs/$deck.toml" --out "$work/run" "$@" || status=$?
  note "$status" "$name"
  return "$status"
}
# by_form NAME DECK ARGUMENT...: a line with the rate in each form, and consumer-producer over regular.
by_form() {
  local name=$1 deck=$2 form rates=()
  shift 2
  for form in $forms; do
    if job 40 "$name, $form" "$deck" $(card) --form "$form" "$@"; then rates+=("$(rate)"); else rates+=(-); fi
  done
  awk -v name="$name" -v r="${rates[0]}" -v c="${rates[1]}" -v p="${rates[2]}" -v w="${rates[3]}" 'BEGIN {
    printf "%-34s %10s %10s %10s %10s  %s\n", name, r, c, p, w, (r + 0 > 0 && p + 0 > 0) ? sprintf("%.2f", p / r) : "-"}'
}
head_of_forms() { printf '%-34s %10s %10s %10s %10s  %s\n' "$1" regular consumer cons-prod wavefront "c-p/regular"; }
photons() { echo "--set photons.photons=$(($1 / small + 1000))"; }
frame() { echo "--set path_tracer.width=$(($1 / (small > 1 ? 16 : 1))) --set path_tracer.height=$(($2 / (small > 1 ? 16 : 1)))"; }
stars() {
  echo "--set barnes_hut.stars=$(($1 / small + 500)) --set barnes_hut.targets=100 --set job.expect=[]"
}
square() { for side in rows inner columns; do printf -- '--set matrix_product.%s=%s ' $side $(($1 / (small > 1 ? 32 : 1))); done; }

# answers: every deck, as it ships, against its right answers, and against the bits of the host.
answers() {
  local deck name host same
  printf '== right answers of every deck on %s\n%-22s %-9s %10s  %s\n' "$device" deck answers "a second" "bits of the host"
  for deck in "$root"/inputs/jobs/*.toml; do
    name=$(basename "$deck" .toml)
    host=
    job 60 "$name on the host" "$name" --threads 0 --form regular && host=$(bits)
    if job 60 "$name" "$name" $(card); then
      [ "$(bits)" = "$host" ] && same=all || same=OTHERS
      printf '%-22s %-9s %10s  %s\n' "$name" right "$(rate)" $same
      [ $same = all ] || { failed=$((failed + 1)); diff <(echo "$host") <(bits) | grep '^[<>]' | head -4; }
    else
      printf '%-22s %-9s\n' "$name" "NOT RIGHT"
    fi
  done
}
# together DECK FEW MANY: the rates of all cores with few units, of the card and of both with many; the last over the sum of
# the others. The card has a second of work, so that loading and comparing forms does not count.
together() {
  local deck=$1 few=$2 many=$3 host=- card=- both=-
  job 40 "$deck, all cores" "$deck" --threads 0 $few && host=$(rate)
  job 40 "$deck, the card" "$deck" $(card) $many && card=$(rate)
  job 40 "$deck, both" "$deck" --threads 0 $(card) $many && both=$(rate)
  awk -v d="$deck" -v h="$host" -v c="$card" -v b="$both" 'BEGIN {
    printf "%-22s %10s %10s %10s  %s\n", d, h, c, b, (h + c > 0 && b + 0 > 0) ? sprintf("%.3f", b / (h + c)) : "-"}'
}

for each in $parts; do
  case $each in
    answers) answers ;;
    tests) [ -z "$tests" ] || TESSERA_JOBS_TEST_CUDA=$([ "$device" = cuda ] && echo 1) part 60 6 "tests of jobs" "$tests" --gtest_brief=1 ;;
    forms)
      head_of_forms "units a second by form"
      by_form "7-layer skin, 1e8 photons" skin $(photons 100000000)
      by_form "the same in float" skin $(photons 100000000) --set photons.precision='"float"'
      by_form "fluorescence, 4e7 photons" fluorescence_thick $(photons 40000000)
      by_form "the same in float" fluorescence_float $(photons 40000000)
      by_form "room 1024 x 768 x 16" path_tracer $(frame 1024 768)
      by_form "forces of 1e6 stars" cluster_forces $(stars 1000000) ;;
    rates)
      echo "== rates, forms by calibration"
      job 40 "skin" skin $(card) $(photons 100000000) && echo "7-layer skin, 1e8 photons: $(rate) photons/s, form $(form)"
      job 40 "skin in float" skin $(card) $(photons 400000000) --set photons.precision='"float"' &&
        echo "7-layer skin in float, 4e8 photons: $(rate) photons/s, form $(form)"
      job 40 "room" path_tracer $(card) $(frame 2048 1536) && echo "room 2048 x 1536 x 16: $(rate) paths/s, form $(form)"
      job 60 "stars" cluster_forces $(card) $(stars 1000000) && echo "forces of 1e6 stars: $(rate) stars/s, form $(form)"
      job 60 "stars, tree by jobs" cluster_forces $(card) $(stars 1000000) --set "barnes_hut.tree='jobs'" &&
        echo "the same, tree built on the card: $(rate) stars/s"
      job 40 "product" matrix_product $(card) $(square 4096) && echo "matrix product 4096: $(rate) GFLOP/s" ;;
    together)
      printf '== %-19s %10s %10s %10s  %s\n' "units a second" "all cores" card both "both/sum"
      together skin "$(photons 2000000)" "$(photons 40000000)"
      together fluorescence_thick "$(photons 4000000)" "$(photons 80000000)"
      together path_tracer "$(frame 1024 768)" "$(frame 6144 4608)"
      together cluster_forces "$(stars 300000)" "$(stars 4000000)"
      together matrix_product "$(square 2048)" "$(square 12288)" ;;
    shadow)
      head_of_forms "room 512 x 384 x 16"
      for rays in 1 4 16; do by_form "$rays shadow rays" path_tracer $(frame 512 384) --set path_tracer.shadow_rays=$rays; done ;;
    load)
      head_of_forms "L-shaped furnace 256 x 192 x 4"
      for load in 10 100 1000; do by_form "load $load" furnace_mesh $(frame 256 192) --set path_tracer.load=$load; done ;;
    overhead)
      part 40 4 "overheads" "$bench" $([ "$device" = cuda ] && echo cuda) overhead
      part 60 5 "forms on made-up work" "$bench" $([ "$device" = cuda ] && echo cuda) forms ;;
    blas) [ -z "$blas" ] || part 40 6 "cuBLAS" "$blas" ;;
    several)
      for count in 2 4 8; do
        [ "$device" = cuda ] && [ "$(ls /dev/nvidia[0-9]* 2>/dev/null | wc -l)" -lt "$count" ] && continue
        list=$(seq -s, 0 $((count - 1)))
        devices=$([ "$device" = cuda ] && echo "cuda:$list" || echo "emulated:$count")
        echo "== $count devices"
        job 60 "skin on $count" skin --device "$devices" --device-memory 256 $(photons 100000000) && echo "7-layer skin: $(rate) photons/s"
        job 60 "room on $count" path_tracer --device "$devices" --device-memory 1024 $(frame 2048 1536) && echo "room: $(rate) paths/s"
      done ;;
  esac
done
card_end
