#include "grid/label.hpp"

#include <algorithm>

#include "core/text/error.hpp"

namespace tessera {
namespace {

void expectName(std::string_view name) {
  const bool allowed = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
  if (name.empty() || name.size() > 100 || name.front() == '.' || !allowed) {
    throw InternalError(
        Message("a label has a name that cannot be a file or field name")
            .line("name  \"", name, "\"")
            .line("fix   use 1 to 100 letters, digits, '.', '_' or '-', not starting with '.'")
            .text());
  }
}

}  // namespace

LabelId LabelTable::idOf(std::string_view name) const {
  const auto at =
      std::find_if(infos_.begin(), infos_.end(), [&](const LabelInfo& i) { return i.name == name; });
  return at == infos_.end() ? -1 : static_cast<LabelId>(at - infos_.begin());
}

LabelId LabelTable::find(std::string_view name, ElementType type, Centering centering,
                         std::string_view unit) {
  expectName(name);
  const LabelId known = idOf(name);
  if (known < 0) {
    infos_.push_back({std::string(name), type, centering, std::string(unit), {}});
    return count() - 1;
  }
  const LabelInfo& info = infos_[static_cast<std::size_t>(known)];
  if (info.type != type || info.centering != centering) {
    faults_.push_back(Message("two components use one label with different kinds of data")
                          .line("label  ", name)
                          .line("known  ", asText(info.type), ", ", asText(info.centering), " centred")
                          .line("asked  ", asText(type), ", ", asText(centering), " centred")
                          .line("fix    give one of them another name, or use the same type in both")
                          .text());
  }
  return known;
}

ReductionLabel LabelTable::reduction(std::string_view name) {
  expectName(name);
  const auto at = std::find(reductions_.begin(), reductions_.end(), name);
  if (at != reductions_.end()) return {static_cast<LabelId>(at - reductions_.begin())};
  reductions_.emplace_back(name);
  return {reductionCount() - 1};
}

}  // namespace tessera
