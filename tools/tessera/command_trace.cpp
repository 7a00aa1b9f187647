#include <iostream>

#include "tools/tessera/commands.hpp"
#include "tools/tessera/trace/trace_summary.hpp"

namespace tessera {

int traceSummaryCommand(const TraceRequest& request) {
  TraceModel trace = readTrace(request.target);
  if (request.step >= 0) keepStep(trace, request.step);
  const TraceSummary summary = summarise(trace);
  std::cout << (request.format == TableFormat::Json ? asJson(summary) : asText(summary));
  return 0;
}

}  // namespace tessera
