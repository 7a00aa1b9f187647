#include "tests/graph_fuzz/fuzz_run.hpp"

#include "tests/graph_fuzz/draw_case.hpp"

namespace tessera::fuzz {

FuzzReport fuzz(std::uint64_t seed, std::int64_t first, std::int64_t cases, std::int64_t shrinkTries) {
  FuzzReport report;
  for (report.next = first; report.passed < cases && !report.failure;) {
    const std::int64_t number = report.next++;
    const FuzzCase c = drawCase(seed, number);
    const Outcome outcome = checkCase(c);
    switch (outcome.kind) {
      case Outcome::Kind::Passed:
        ++report.passed;
        report.conflicts += outcome.conflicts;
        report.carried += outcome.carried;
        break;
      case Outcome::Kind::Refused:
        ++report.refused;
        ++report.refusals[outcome.faults.front()];
        break;
      case Outcome::Kind::Failed: {
        const Shrunk shrunk = shrink(c, outcome, shrinkTries, checkCase);
        report.failure = Failure{number, shrunk, replayLine(seed, number, shrunk.path)};
        break;
      }
    }
  }
  return report;
}

std::string replayLine(std::uint64_t seed, std::int64_t number, const std::vector<std::size_t>& path) {
  std::string line =
      "tessera_graph_fuzz --seed " + std::to_string(seed) + " --case " + std::to_string(number);
  if (path.empty()) return line;
  line += " --smaller ";
  for (std::size_t n = 0; n < path.size(); ++n) line += (n == 0 ? "" : ",") + std::to_string(path[n]);
  return line;
}

}  // namespace tessera::fuzz
