#!/bin/bash
# build.sh [--no-gallery] [OUT]: the papers as a site, in OUT (default build/site). Needs mkdocs, node and KaTeX of Debian, which
# ./tessera setup --develop installs, and the built program.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
gallery=yes
if [ "${1:-}" = --no-gallery ]; then
  gallery=no
  shift
fi
out=${1:-$root/build/site}
program=${TESSERA_PROGRAM:-$root/build/release/tools/tessera/tessera}
export TESSERA_PROGRAM=$program

for need in mkdocs node; do
  if ! command -v $need >/dev/null; then
    printf 'site: %s is not there\n  fix  ./tessera setup --develop --no-build\n' $need >&2
    exit 6
  fi
done
if ! [ -x "$program" ]; then
  printf 'site: the program is not built, and the reference of all keys comes from it\n  fix  ./tessera setup\n' >&2
  exit 6
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$root/docs" "$work/pages"
cp "$here"/{mkdocs.yml,hooks.py,math.js,search.js} "$work/"
cp "$here/extra.css" "$work/pages/"
mkdir -p "$work/pages/reference"
{
  printf '# All keys of a deck\n\n'
  "$program" describe --format md
} >"$work/pages/reference/deck.md"
# What only the site has is found from its first page too.
sed -i 's#| `tessera describe` |#| [all keys](reference/deck.md), as `tessera describe` shows them |#' "$work/pages/README.md"
if [ $gallery = yes ]; then
  sed -i 's#^| How do I run a first case? |.*#&\n| What does it look like? | [a picture of each deck](gallery/gallery.md) |#' "$work/pages/README.md"
  "$root/tools/setup/python.sh" run gallery --runs "$root/build/gallery_runs" -o "$work/pages/gallery" >&2
  # A picture of each deck on the page of its component.
  for page in "$work"/pages/components/*.md; do
    name=$(basename "$page" .md)
    for picture in "$work/pages/gallery/${name}"_*.png; do
      if ! [ -f "$picture" ]; then continue; fi
      deck=$(basename "$picture" .png)
      printf '\n## inputs/%s/%s.toml\n\n![%s](../gallery/%s.png)\n' "$name" "${deck#"${name}"_}" "$deck" "$deck" >>"$page"
    done
  done
fi
if ! [ -f "$work/pages/index.md" ] && ! [ -f "$work/pages/README.md" ]; then
  sed 's#(docs/#(#g' "$root/README.md" >"$work/pages/index.md"
fi
(cd "$work" && mkdocs build -q)
"$here/check_site.py" "$work/site"
rm -rf "$out"
mkdir -p "$(dirname "$out")"
cp -r "$work/site" "$out"
printf 'site: %s/index.html, %s pages\n' "$out" "$(find "$out" -name '*.html' | wc -l)"
