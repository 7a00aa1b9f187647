#include "core/transport/detail/check_mpi.hpp"

#include <array>
#include <string>

#include <mpi.h>

#include "core/text/error.hpp"

namespace tessera::detail {

void mpiFailed(int code, std::string_view what) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
  std::string said;
  // MPICH's text has one line a call; they are indented like our own.
  for (const char c : std::string_view(text.data(), static_cast<std::size_t>(length))) {
    said += c;
    if (c == '\n') said += "       ";
  }
  throw InternalError(
      Message("an MPI call failed")
          .line("doing ", what)
          .line("MPI   ", said.empty() ? "error code " + std::to_string(code) : said)
          .line("fix   restart from the newest checkpoint; if it comes again, report this text")
          .text());
}

bool isTruncation(int code) {
  int kind = MPI_SUCCESS;
  return code != MPI_SUCCESS && MPI_Error_class(code, &kind) == MPI_SUCCESS && kind == MPI_ERR_TRUNCATE;
}

}  // namespace tessera::detail
