#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/error.hpp"
#include "core/transport/transport.hpp"

/// What every transport promises, as functions that each rank runs. A claim that does not hold is thrown, so
/// that a GoogleTest over the loopback world and a plain MPI program can both use them.
namespace tessera::claims {

struct Claim {
  const char* name;
  std::function<void(Transport&)> run;
};

/// All of them, in the order in which an MPI program can run them one after the other. `longText` is the
/// length of the longest text that is broadcast or gathered.
std::vector<Claim> all(std::size_t longText = 3'000'000);

/// Throws std::runtime_error where `holds` is false.
inline void require(bool holds, std::string_view what) {
  if (!holds) throw std::runtime_error("does not hold: " + std::string(what));
}

/// The text of the InternalError that `action` throws.
template <class Action>
std::string internalErrorOf(const Action& action) {
  try {
    action();
  } catch (const InternalError& error) {
    return error.message();
  }
  throw std::runtime_error("does not hold: an InternalError is thrown");
}

}  // namespace tessera::claims
