#include "datawarehouse/archive/detail/agreement.hpp"

#include <exception>
#include <vector>

#include "core/text/error.hpp"

namespace tessera::detail {
namespace {

std::string pack(const Outcome& outcome) { return (outcome.ok ? "+" : "-") + outcome.text; }

Outcome unpack(const std::string& packed) {
  if (packed.empty()) return {false, "a rank sent no answer"};
  return {packed.front() == '+', packed.substr(1)};
}

}  // namespace

Outcome attempt(const std::function<std::string()>& work) {
  try {
    return {true, work()};
  } catch (const std::exception& failure) {
    return {false, failure.what()};
  } catch (...) {
    return {false, "an exception of unknown type was thrown"};
  }
}

Outcome attemptOnRoot(Transport& transport, const std::function<std::string()>& work) {
  std::string packed;
  if (transport.rank() == 0) packed = pack(attempt(work));
  transport.broadcast(packed, 0);
  return unpack(packed);
}

Outcome agree(Transport& transport, const Outcome& mine,
              const std::function<std::string(const std::vector<std::string>&)>& onSuccess,
              const std::function<void()>& onFailure) {
  const std::vector<std::string> packed = transport.gather(pack(mine), 0);
  return attemptOnRoot(transport, [&] {
    std::vector<std::string> results;
    std::string failures;
    for (std::size_t r = 0; r < packed.size(); ++r) {
      const Outcome one = unpack(packed[r]);
      results.push_back(one.text);
      // One reason is enough to act on; a full disk would give the same one from every rank.
      if (!one.ok && failures.empty()) failures = "rank " + std::to_string(r) + ": " + one.text;
    }
    const Outcome done =
        failures.empty() ? attempt([&] { return onSuccess(results); }) : Outcome{false, failures};
    if (done.ok) return done.text;
    const Outcome cleaned = attempt([&] {
      onFailure();
      return std::string();
    });
    throw OutputError(cleaned.ok ? done.text : done.text + "; also, " + cleaned.text);
  });
}

}  // namespace tessera::detail
