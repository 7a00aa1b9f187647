#!/bin/bash
# pack.sh [--only-check] BUILD DIR LIMIT: packs what is built in the folder BUILD into the new folder DIR, and that into
# DIR.tar.xz, of at most LIMIT MB. --only-check: says whether DIR may be made, and makes nothing. Called by bundle.sh, and
# by the tests.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
only=pack
if [ "$1" = --only-check ]; then
  only=check
  shift
fi
build=$1
bundle=$2
limit=$3

# fail CODE SENTENCE LINE...
fail() {
  printf 'tessera bundle: error: %s\n' "$2" >&2
  if [ $# -gt 2 ]; then printf '  %s\n' "${@:3}" >&2; fi
  exit "$1"
}

[[ $limit =~ ^[1-9][0-9]*$ ]] || fail 2 "\"$limit\" is not a valid limit" "fix  a whole number of MB, for example --limit 60"
for path in "$bundle" "$bundle.tar.xz"; do
  [ ! -e "$path" ] || fail 2 "$path is there already" "fix  name a folder that is not there yet, or remove it first"
done
command -v patchelf >/dev/null || [ $only = check ] || fail 2 "the command patchelf is not here" \
  "fix  install the package patchelf"
if [ $only = check ]; then exit 0; fi

# Beside the folder to make, so that it appears whole or not at all.
mkdir -p "$(dirname "$bundle")"
new=$(mktemp -d "$(dirname "$bundle")/.bundle.XXXXXX")
trap 'rm -rf "$new" "$new.tar.xz"' EXIT
mkdir -p "$new/bin" "$new/lib"

addPrograms() {
  local program
  for program in tools/tessera/tessera tests/tessera_{faulty,regression_tests,scheduler_device_tests} \
    tools/bench/tessera_{device_bench,device_patterns,halo_memory,step_bench,stencil_bench,taskbench}; do
    if [ -f "$build/$program" ]; then
      cp "$build/$program" "$new/bin/"
    elif [[ $program != tools/bench/* ]]; then # benchmarks are not part of every build
      fail 6 "$build/$program is not built" "fix  ./tessera bundle builds what it packs"
    fi
  done
}

# Under the name that Tessera asks for; hydra looks for its proxy where it is itself.
addLauncher() {
  local launcher
  launcher=$(readlink -f "$(command -v mpiexec.mpich)") || fail 6 "mpiexec.mpich is not here" \
    "fix  install the package mpich"
  cp "$launcher" "$new/bin/mpiexec.mpich"
  ln -s mpiexec.mpich "$new/bin/mpiexec.hydra"
  cp "$(dirname "$launcher")/hydra_pmi_proxy" "$new/bin/"
}

# What the loader finds for these files, without glibc, which comes with the host's loader, and the driver's own.
librariesOf() {
  local missing
  missing=$(ldd "$@" 2>/dev/null | awk '/=> not found/ {print $1}' | sort -u)
  [ -z "$missing" ] || fail 6 "the loader does not find a library here" "missing  ${missing//$'\n'/, }" \
    "fix      install its package"
  ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// {print $3}' | sort -u |
    grep -vE '/(ld-linux[^/]*|lib(c|m|mvec|dl|rt|pthread|resolv|util|anl|nsl|nss_[a-z]+|cuda|nvidia-[a-z]+))\.so\.[0-9]+$'
}

addLibraries() {
  local libraries library folder
  libraries=$(librariesOf "$new"/bin/*)
  while read -r library; do
    cp -L "$library" "$new/lib/$(basename "$library")"
    # UCX, inside MPICH, loads the copies between processes of one host from a folder beside it; networks stay behind.
    if [[ $library == */libucs.so* ]]; then
      folder=$(dirname "$(readlink -f "$library")")/ucx
      mkdir "$new/lib/ucx"
      cp -L "$folder/libuct_cma.so.0" "$new/lib/ucx/"
    fi
  done <<<"$libraries"
}

# Found relative to where they are (decision 0027). Stripped first: patchelf moves what strip would trip over.
relocate() {
  find "$new/bin" "$new/lib" -type f -exec chmod u+w {} + -exec strip --strip-unneeded {} +
  find "$new/bin" -type f -exec patchelf --set-rpath "\$ORIGIN/../lib" {} \;
  find "$new/lib" -maxdepth 1 -type f -exec patchelf --set-rpath "\$ORIGIN" {} \;
  find "$new/lib" -mindepth 2 -type f -exec patchelf --set-rpath "\$ORIGIN/.." {} \;
  find "$new/bin" -type f -exec chmod 755 {} +
}

# about: what verify compares with the host, a word and its value a line; files: how each file has to be.
describe() {
  local glibc version
  version=$("$build/tools/tessera/tessera" --version)
  glibc=$(find "$new/bin" "$new/lib" -type f -exec readelf -VW {} + 2>/dev/null | grep -oE 'GLIBC_[0-9][0-9.]*' |
    sort -uV | sed -n '$s/GLIBC_//p')
  {
    printf 'program %s\n' "$(sed -n 1p <<<"$version")"
    printf 'machine %s\n' "$(uname -m)"
    printf 'glibc %s\n' "$glibc"
  } >"$new/about"
  # shellcheck disable=SC2094  # the list itself is not in the list
  (cd "$new" && find . -type f ! -name files -printf '%P\0' | sort -z | xargs -0 sha256sum >files)
}

# The limit is for what travels, the archive (decision 0028).
checkSize() {
  local bytes
  tar -C "$new" --owner=0 --group=0 --transform "s,^\.,$(basename "$bundle")," -I 'xz -T0 -6' -cf "$new.tar.xz" .
  bytes=$(stat -c %s "$new.tar.xz")
  size=$(inMegabytes "$bytes")
  if [ "$bytes" -gt $((limit * 1000000)) ]; then
    mapfile -t largest < <(find "$new" -type f -printf '%s %P\n' | sort -rn | head -n 5 |
      awk '{printf "largest  %s, unpacked %.1f MB\n", $2, $1 / 1e6}')
    fail 6 "the archive of the bundle takes $size MB, and its limit is $limit MB" "${largest[@]}" \
      "fix      name fewer architectures in TESSERA_CUDA_ARCHS, or raise --limit"
  fi
}

inMegabytes() { awk -v bytes="$1" 'BEGIN {printf "%.1f", bytes / 1e6}'; }

addPrograms
addLauncher
addLibraries
relocate
cp -r "$root/inputs" "$new/inputs"
cp "$here/verify.sh" "$new/verify"
cp "$here/rows.txt" "$here/README" "$new/"
chmod 755 "$new" "$new/verify"
describe
checkSize
mv "$new" "$bundle"
mv "$new.tar.xz" "$bundle.tar.xz"
trap - EXIT
unpacked=$(find "$bundle" -type f -printf '%s\n' | awk '{sum += $1} END {print sum}')
printf 'tessera bundle: %s (%s MB), and the same as %s.tar.xz (%s MB), for hosts with glibc %s or newer\n' "$bundle" \
  "$(inMegabytes "$unpacked")" "$bundle" "$size" "$(awk '$1 == "glibc" {print $2}' "$bundle/about")" >&2
