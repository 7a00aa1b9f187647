#include "core/text/contracts.hpp"

#include "core/text/error.hpp"

namespace tessera::detail {

void contractBroken(std::string_view kind, std::string_view condition, std::string_view explanation,
                    const char* file, int line) {
  Message message(kind);
  message.line("where     ", file, ":", line).line("condition ", condition);
  if (!explanation.empty()) message.line("fix       ", explanation);
  throw InternalError(message.text());
}

}  // namespace tessera::detail
