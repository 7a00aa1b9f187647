#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/geometry/box.hpp"
#include "core/memory/element_type.hpp"
#include "grid/hierarchy.hpp"

namespace tessera {

/// One variable on one patch, as a checkpoint stores it: everything but the bytes.
/// (label, level, patch) is unique in a checkpoint.
struct BlockDescription {
  std::string label;  ///< user-visible name, 1 to 256 bytes
  ElementType type;
  Centering centering = Centering::Cell;
  std::int32_t level = 0;
  std::int64_t patch = 0;  ///< patch id, the same on any number of ranks
  Box box;                 ///< the indices whose values are stored, in the index space of `centering`

  /// Size of the packed values: box volume times element size. Throws InternalError beyond 63 bits.
  std::int64_t bytes() const;
  friend bool operator==(const BlockDescription&, const BlockDescription&) = default;
};

/// "temperature, level 1, patch 42": how messages name a block.
std::string asText(const BlockDescription& block);

/// What one rank puts into a checkpoint. The descriptions come first so that the disk space can be reserved
/// before the first byte is written.
struct CheckpointBlocks {
  std::vector<BlockDescription> blocks;
  /// The packed values of blocks[n] (x fastest, numbers as the type orders them, native byte order). The span
  /// must stay valid until the next call, so one packing buffer is enough. Called once a block, in order.
  std::function<std::span<const std::byte>(std::size_t n)> bytesOf;
};

/// A value of `CheckpointState`. Texts are UTF-8. Doubles keep every bit, NaN payloads and the sign of zero
/// included.
using StateValue = std::variant<std::string, std::int64_t, double, std::vector<double>>;

/// Everything a restart needs beside the fields: time, dt, dt history, counters, random number states.
/// Keys are kept in alphabetical order, so equal states give equal files.
///
///   CheckpointState state;
///   state.set("time", 0.125);
///   state.set("regrids", std::int64_t{3});
///   restored.real("time");
class CheckpointState {
 public:
  void set(const std::string& key, StateValue value) { values_[key] = std::move(value); }
  bool has(std::string_view key) const { return values_.find(key) != values_.end(); }
  /// Typed look-up; InputError naming the key when it is missing or of another type.
  const std::string& text(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  double real(std::string_view key) const;
  const std::vector<double>& reals(std::string_view key) const;
  const std::map<std::string, StateValue, std::less<>>& values() const { return values_; }
  /// Equal bit by bit (NaN equals the same NaN, 0 differs from -0).
  friend bool operator==(const CheckpointState& a, const CheckpointState& b);

 private:
  std::map<std::string, StateValue, std::less<>> values_;
};

/// One variable that the program knows: what a checkpoint must hold.
struct CheckpointLabel {
  std::string name;
  ElementType type;
  Centering centering = Centering::Cell;
  friend bool operator==(const CheckpointLabel&, const CheckpointLabel&) = default;
};

/// Which simulation a checkpoint belongs to, and the mesh that it stood on at that moment.
/// `CheckpointReader::requireSame` compares domain and levels, components and labels; patches may differ, for
/// a run goes on with those of the checkpoint. Deck text and code version are for the caller (a deck may
/// change on restart where it says so).
struct CheckpointIdentity {
  std::shared_ptr<const Hierarchy> mesh;
  std::string deckText;
  std::string codeVersion;
  std::vector<std::string> components;
  std::vector<CheckpointLabel> labels;
};

}  // namespace tessera
