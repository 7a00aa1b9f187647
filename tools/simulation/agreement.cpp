#include "tools/simulation/agreement.hpp"

#include <new>
#include <span>
#include <string>
#include <vector>

namespace tessera {
namespace {

/// "3 rest of the text", or nothing where there is no error.
std::string packed(const Error& error) { return std::to_string(error.exitCode()) + " " + error.message(); }

std::string firstFailure(const std::vector<std::string>& ofRanks) {
  std::size_t failed = 0;
  std::size_t first = ofRanks.size();
  for (std::size_t rank = ofRanks.size(); rank-- > 0;) {
    if (ofRanks[rank].empty()) continue;
    ++failed;
    first = rank;
  }
  if (failed == 0) return {};
  if (failed == ofRanks.size() || first == 0)
    return ofRanks[first];  // no rank is special, or it is what rank 0 reads
  return ofRanks[first] + "\n  on rank " + std::to_string(first) + " of " + std::to_string(ofRanks.size());
}

}  // namespace

Error currentError() {
  try {
    throw;
  } catch (const Error& error) {
    return Error(error.kind(), error.message());
  } catch (const std::bad_alloc&) {
    return InternalError("the memory of this machine is used up; use fewer cells or more machines");
  } catch (const std::exception& error) {
    return InternalError(error.what());
  } catch (...) {
    return InternalError(
        "an exception of unknown type was thrown; this is a bug in Tessera or in a component");
  }
}

void together(Transport& transport, const std::function<void()>& body) {
  std::string mine;
  try {
    body();
  } catch (...) {
    mine = packed(currentError());
  }
  std::string verdict = firstFailure(transport.gather(mine, 0));
  transport.broadcast(verdict, 0);
  if (verdict.empty()) return;
  const std::size_t space = verdict.find(' ');
  throw AgreedError(static_cast<ErrorKind>(std::stoi(verdict.substr(0, space))), verdict.substr(space + 1));
}

double largestOf(Transport& transport, double value) {
  transport.wait(transport.allReduceMax(std::span(&value, 1)));
  return value;
}

}  // namespace tessera
