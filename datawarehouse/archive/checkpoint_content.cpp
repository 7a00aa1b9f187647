#include "datawarehouse/archive/checkpoint_content.hpp"

#include <bit>
#include <limits>

#include "core/text/error.hpp"

namespace tessera {
namespace {

template <class T>
const T& typed(const CheckpointState& state, std::string_view key, const char* typeName) {
  const auto found = state.values().find(key);
  if (found == state.values().end()) {
    throw InputError("the checkpoint's state has no entry '" + std::string(key) +
                     "'; it was written by another version of the program or with other components");
  }
  const T* value = std::get_if<T>(&found->second);
  if (value == nullptr) {
    throw InputError("the entry '" + std::string(key) + "' of the checkpoint's state is not a " + typeName +
                     "; it was written by another version of the program");
  }
  return *value;
}

bool sameBits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool sameBits(const StateValue& a, const StateValue& b) {
  if (a.index() != b.index()) return false;
  if (const auto* x = std::get_if<double>(&a)) return sameBits(*x, std::get<double>(b));
  if (const auto* x = std::get_if<std::vector<double>>(&a)) {
    const auto& y = std::get<std::vector<double>>(b);
    if (x->size() != y.size()) return false;
    for (std::size_t n = 0; n < y.size(); ++n) {
      if (!sameBits((*x)[n], y[n])) return false;
    }
    return true;
  }
  return a == b;
}

}  // namespace

std::int64_t BlockDescription::bytes() const {
  const std::int64_t elements = box.volume();
  const std::int64_t each = type.bytes();
  if (each > 0 && elements > std::numeric_limits<std::int64_t>::max() / each) {
    throw InternalError("the block " + asText(*this) +
                        " is larger than 63 bits can count; use smaller patches");
  }
  return elements * each;
}

std::string asText(const BlockDescription& block) {
  return block.label + ", level " + std::to_string(block.level) + ", patch " + std::to_string(block.patch);
}

const std::string& CheckpointState::text(std::string_view key) const {
  return typed<std::string>(*this, key, "text");
}
std::int64_t CheckpointState::integer(std::string_view key) const {
  return typed<std::int64_t>(*this, key, "whole number");
}
double CheckpointState::real(std::string_view key) const { return typed<double>(*this, key, "real number"); }
const std::vector<double>& CheckpointState::reals(std::string_view key) const {
  return typed<std::vector<double>>(*this, key, "list of real numbers");
}

bool operator==(const CheckpointState& a, const CheckpointState& b) {
  if (a.values_.size() != b.values_.size()) return false;
  for (auto x = a.values_.begin(), y = b.values_.begin(); x != a.values_.end(); ++x, ++y) {
    if (x->first != y->first || !sameBits(x->second, y->second)) return false;
  }
  return true;
}

}  // namespace tessera
