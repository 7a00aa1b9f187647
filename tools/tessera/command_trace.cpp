#include <iostream>

#include "tools/tessera/commands.hpp"
#include "tools/tessera/trace/trace_summary.hpp"

namespace tessera {

int traceSummaryCommand(const TraceRequest& request) {
  TraceModel trace = readTrace(request.target);
  if (request.step >= 0) keepStep(trace, request.step);
  std::cout << asText(summarise(trace));
  return 0;
}

}  // namespace tessera
