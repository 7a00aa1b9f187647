#include "datawarehouse/archive/detail/gathered_writes.hpp"

namespace tessera::detail {

void GatheredWrites::put(std::int64_t offset, std::span<const std::byte> bytes) {
  const bool follows = offset == offset_ + static_cast<std::int64_t>(waiting_.size());
  if (!follows || waiting_.size() + bytes.size() > kMost) flush();
  if (bytes.size() >= kMost / 4) {
    flush();
    file_.writeAt(ops_, bytes, offset);
    return;
  }
  if (waiting_.empty()) offset_ = offset;
  waiting_.insert(waiting_.end(), bytes.begin(), bytes.end());
}

void GatheredWrites::flush() {
  if (waiting_.empty()) return;
  file_.writeAt(ops_, waiting_, offset_);
  waiting_.clear();
}

}  // namespace tessera::detail
