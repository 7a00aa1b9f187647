#!/bin/bash
# hypre.sh prefix|build: prints where the pinned hypre is (or would be) installed; build makes it so first.
# It lies in the cache beside Kokkos, named by everything that shapes it, and is built once per machine. Only its
# solvers on structured grids, BoomerAMG for matrices by rows, and what these need are compiled: some three CPU minutes.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
action=${1:?usage: hypre.sh prefix|build}

# shellcheck source=tools/setup/build_once.sh
. "$here/build_once.sh"

version=$(awk '$1 == "hypre" {print $2}' "$root/cmake/dependencies.txt")
compiler=${CC:-cc}
folders="utilities struct_mv struct_ls krylov multivector blas lapack seq_mv seq_block_mv parcsr_mv parcsr_block_mv
  parcsr_ls IJ_mv distributed_matrix matrix_matrix distributed_ls/Euclid distributed_ls/ParaSails distributed_ls/pilut"
flags="-O2 -DNDEBUG -fPIE -fstack-protector-strong -ffp-contract=off -w"
# MPI is MPICH, always by its own name.
mpi=$(pkg-config --cflags mpich)
identity=$("$compiler" --version | sed -n "1s/^[^ ]* //p")
key=$(printf '%s\n' "$identity" "$(uname -m)" "$folders" "$flags" "$mpi" | sha256sum | cut -c 1-12)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/tessera
prefix=$cache/hypre-$version-$key

if [ "$action" = prefix ] || [ -f "$prefix/complete" ]; then
  printf '%s\n' "$prefix"
  exit 0
fi

build() {
  cd src || return 1
  # What its own configuration would find out: MPI, its own BLAS and LAPACK, whole numbers of 32 bits.
  cat >HYPRE_config.h <<'END'
#define HYPRE_RELEASE_NAME "hypre"
#define HYPRE_HAVE_MPI 1
#define HYPRE_HAVE_MPI_COMM_F2C 1
#define HYPRE_USING_HYPRE_BLAS 1
#define HYPRE_USING_HYPRE_LAPACK 1
#define HYPRE_USING_HOST_MEMORY 1
#define HYPRE_MAXDIM 3
#define HYPRE_FMANGLE 0
#define HYPRE_FMANGLE_BLAS 0
#define HYPRE_FMANGLE_LAPACK 0
#define HYPRE_F77_FUNC(name, NAME) name##_
#define HYPRE_F77_FUNC_(name, NAME) name##__
END
  printf '#define HYPRE_RELEASE_VERSION "%s"\n#define HYPRE_RELEASE_NUMBER 0\n' "$version" >>HYPRE_config.h
  local includes=() folder
  for folder in . $folders distributed_ls; do includes+=("-I$folder"); done
  mkdir objects
  # Programs, and sources that hypre's own lists leave out: they do not compile, or are for other libraries.
  local others=(multivector/*csr*.c multivector/seq_multi*.c multivector/par_multi*.c multivector/backup.c */driver*.c
    IJ_mv/IJMatrix_{isis,petsc}.c parcsr_block_mv/csr_block_matop.c parcsr_ls/par_sv_interp_lsfit.c
    distributed_ls/ParaSails/{convert,permute}.c)
  rm "${others[@]}"
  # shellcheck disable=SC2086  # flags are words
  find $folders -maxdepth 1 -name '*.c' ! -name 'F90_*' -print0 | xargs -0 -P "$(nproc)" -I SOURCE sh -c '
    source=$1; shift
    "$@" -c "$source" -o "objects/$(echo "$source" | tr / _).o"' sh SOURCE "$compiler" $flags $mpi "${includes[@]}" || return 1
  mkdir -p "$prefix/lib" "$prefix/include"
  ar rcs "$prefix/lib/libHYPRE.a" objects/*.o || return 1
  cp HYPRE.h HYPRE_config.h */HYPRE_{utilities,error,struct_mv,struct_ls,krylov,lobpcg,MatvecFunctions,seq_mv,parcsr_mv,parcsr_ls,IJ_mv}*.h \
    utilities/fortran_matrix.h multivector/{multivector,interpreter,temp_multivector}.h "$prefix/include"
}
buildOnce hypre "$prefix" "hypre $version, some three minutes of a core," build
printf '%s\n' "$prefix"
