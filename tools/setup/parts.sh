# shellcheck shell=bash
# Sourced by ./tessera and setup.sh: which parts of the program (cmake/TesseraParts.cmake) a build has, and which a
# command needs. Lists are sorted and separated by semicolons; all parts are "all", none is "".

# parts_built FOLDER: of a build; none where there is no build.
parts_built() {
  local list
  [ -f "$1/CMakeCache.txt" ] || return 0
  list=$(sed -n 's/^TESSERA_PARTS:[A-Z]*=//p' "$1/CMakeCache.txt")
  # Without the line it is a build from before there were parts.
  printf '%s' "${list:-all}"
}

# parts_needed ROOT COMMAND [ARGUMENT...]: of a command on a deck or a run folder, the components that the deck names,
# if only in passing; none of what looks at results; of any other, all.
parts_needed() {
  local root=$1 command=${2:-} deck='' word names list=''
  shift
  case $command in
    --version | --help | -h | compare | info | trace) return ;;
    run | check | graph | restart)
      for word in "${@:2}"; do
        if [[ $word = *.toml ]] && [ -f "$word" ]; then deck=$word; fi
        if [ -f "$word/resolved.toml" ]; then deck=$word/resolved.toml; fi
      done
      ;;
  esac
  if [ -n "$deck" ] && [[ "$*" != *simulation.components* ]]; then
    names=$(sed -n 's/^set(TESSERA_COMPONENTS \(.*\))$/\1/p' "$root/cmake/TesseraParts.cmake")
    list=$(sed -E "s/^(([^\"'#]|\"[^\"]*\"|'[^']*')*)#.*/\1/" "$deck" | grep -owE "${names// /|}" | sort -u | paste -sd ';') || true
  fi
  printf '%s' "${list:-all}"
}

# parts_together A B: the parts of both lists; all where neither has one.
parts_together() {
  if [ "$1" = all ] || [ "$2" = all ] || [ -z "$1$2" ]; then
    printf all
  else
    tr ';' '\n' <<<"$1;$2" | grep . | sort -u | paste -sd ';' | tr -d '\n'
  fi
}
