#include <iostream>

#include <CLI/CLI.hpp>

#include "tests/graph_fuzz/draw_case.hpp"
#include "tests/graph_fuzz/fuzz_run.hpp"

namespace tessera::fuzz {
namespace {

struct Request {
  std::uint64_t seed = 1;
  std::int64_t cases = 200;
  std::int64_t number = -1;
  std::vector<std::size_t> smaller;
};

/// One case again, told in full.
int replay(const Request& request) {
  const FuzzCase c = follow(drawCase(request.seed, request.number), request.smaller);
  std::cout << "case " << request.number << " of seed " << request.seed << '\n' << asText(c);
  const Outcome outcome = checkCase(c);
  switch (outcome.kind) {
    case Outcome::Kind::Passed:
      std::cout << "passed, " << outcome.conflicts << " conflicting pairs ordered\n";
      return 0;
    case Outcome::Kind::Refused:
      for (const std::string& fault : outcome.faults) std::cout << "refused: " << fault << '\n';
      return 0;
    case Outcome::Kind::Failed:
      break;
  }
  std::cout << "FAILED  " << outcome.text << '\n';
  return 1;
}

int run(const Request& request) {
  const FuzzReport report = fuzz(request.seed, 0, request.cases);
  std::cout << report.passed << " cases passed, " << report.refused << " refused, " << report.conflicts
            << " conflicting pairs ordered, " << report.carried << " values carried (seed " << request.seed
            << ")\n";
  for (const auto& [fault, count] : report.refusals)
    std::cout << "  refused " << count << ": " << fault << '\n';
  if (!report.failure) return 0;
  const Failure& failure = *report.failure;
  std::cout << "FAILED  " << failure.shrunk.outcome.text << "\ncase " << failure.number << ", after "
            << failure.shrunk.path.size() << " steps of shrinking:\n"
            << asText(failure.shrunk.least) << "replay  " << failure.replay << std::endl;
  return 1;
}

}  // namespace
}  // namespace tessera::fuzz

int main(int argc, char** argv) {
  CLI::App app{"Runs random step plans on random meshes and compares every value with a plain model"};
  tessera::fuzz::Request request;
  app.add_option("--seed", request.seed, "Cases are numbered within a seed")->capture_default_str();
  app.add_option("--cases", request.cases, "Cases that have to be accepted and pass")->capture_default_str();
  app.add_option("--case", request.number, "Run this case alone, and tell what it is");
  app.add_option("--smaller", request.smaller, "How the case was made smaller, as a failure prints it")
      ->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  return request.number >= 0 ? tessera::fuzz::replay(request) : tessera::fuzz::run(request);
}
