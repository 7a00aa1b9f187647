#!/bin/bash
# hardening_test.sh PROGRAM: the program is what SECURITY.md says that programs are.
set -euo pipefail
program=$1

expect() {
  local what=$1 pattern=$2
  shift 2
  if ! "$@" "$program" | grep -E "$pattern" >/dev/null; then
    echo "hardening: $program is not $what" >&2
    exit 1
  fi
}

expect "position independent" 'Type: +DYN' readelf -hW
expect "resolved at start (BIND_NOW)" 'BIND_NOW|FLAGS.*NOW' readelf -dW
expect "read-only after relocation (RELRO)" 'GNU_RELRO' readelf -lW
expect "without an executable stack" 'GNU_STACK.* RW ' readelf -lW
expect "protected on its stack" '__stack_chk_fail' readelf -sW
expect "built with fortified library calls" '__[a-z]+_chk' readelf -sW
# A program that looks for libraries in the current folder runs what others put there.
if readelf -dW "$program" | grep -E '(RPATH|RUNPATH)' | grep -E '\[(\.|:|.*::|.*:\.|.*:\])'; then
  echo "hardening: $program looks for libraries in the current folder" >&2
  exit 1
fi
