#include "grid/label.hpp"

#include <algorithm>

#include "core/text/contracts.hpp"
#include "core/text/error.hpp"

namespace tessera {
namespace {

void expectName(std::string_view name) {
  if (!isLabelName(name)) {
    throw InternalError(
        Message("a label has a name that cannot be a file or field name")
            .line("name  \"", name, "\"")
            .line("fix   use 1 to 100 letters, digits, '.', '_' or '-', not starting with '.'")
            .text());
  }
}

}  // namespace

bool isLabelName(std::string_view name) {
  const bool allowed = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
  return !name.empty() && name.size() <= 100 && name.front() != '.' && allowed;
}

std::string LabelInfo::nameOf(std::int32_t component) const {
  if (components.empty()) return name;
  const auto known = static_cast<std::size_t>(component) < components.size() && component >= 0;
  return name + "." +
         (known ? components[static_cast<std::size_t>(component)].name : std::to_string(component));
}

bool LabelInfo::hasCondition(int side) const {
  const auto has = [side](const BoundaryConditions& c) {
    return c.sides[static_cast<std::size_t>(side)].has_value();
  };
  if (coded[static_cast<std::size_t>(side)]) return true;
  return ofComponents.empty() ? has(boundary) : std::all_of(ofComponents.begin(), ofComponents.end(), has);
}

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
    LabelInfo made;
    made.name = name;
    made.type = type;
    made.centering = centering;
    made.unit = unit;
    infos_.push_back(std::move(made));
    return count() - 1;
  }
  LabelInfo& info = infos_[static_cast<std::size_t>(known)];
  if (info.unit.empty()) info.unit = unit;  // whoever asked first may have been a reader of it
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

LabelId LabelTable::find(std::string_view name, ElementType type, Centering centering,
                         std::vector<ComponentInfo> components) {
  TESSERA_EXPECT(!components.empty(), "give a variable at least one component");
  for (const ComponentInfo& component : components) expectName(component.name);
  type.components = static_cast<std::int32_t>(components.size());
  type.order = NumberOrder::Apart;
  const LabelId label = find(name, type, centering, "");
  LabelInfo& info = infos_[static_cast<std::size_t>(label)];
  if (info.type == type && info.components.empty()) info.components = std::move(components);
  return label;
}

std::vector<ComponentInfo> LabelTable::numbered(int count, std::string_view unit) {
  std::vector<ComponentInfo> components;
  for (int n = 0; n < count; ++n) components.push_back({std::to_string(n), std::string(unit)});
  return components;
}

void LabelTable::setBoundaries(LabelId label, std::vector<BoundaryConditions> conditions) {
  LabelInfo& info = infos_[static_cast<std::size_t>(label)];
  TESSERA_EXPECT(std::ssize(conditions) == info.type.components, "give conditions to each component");
  info.ofComponents = std::move(conditions);
}

TableLabel LabelTable::table(std::string_view name, std::vector<double> values) {
  expectName(name);
  const auto at =
      std::find_if(tables_.begin(), tables_.end(), [&](const TableInfo& info) { return info.name == name; });
  if (at == tables_.end()) {
    tables_.push_back({std::string(name), std::make_shared<const std::vector<double>>(std::move(values))});
    return {tableCount() - 1};
  }
  if (*at->values != values) {
    faults_.push_back(Message("two components make one constant table of different numbers")
                          .line("table  ", name)
                          .line("known  ", at->values->size(), " numbers")
                          .line("asked  ", values.size(), " numbers, or others")
                          .line("fix    give one of them another name")
                          .text());
  }
  return {static_cast<LabelId>(at - tables_.begin())};
}

void LabelTable::setStage(LabelId stage, LabelId variable, double part) {
  LabelInfo& info = infos_[static_cast<std::size_t>(stage)];
  const std::string& of = infos_[static_cast<std::size_t>(variable)].name;
  const bool chained = infos_[static_cast<std::size_t>(variable)].stageOf >= 0;
  const bool twice = info.stageOf >= 0 && (info.stageOf != variable || info.stagePart != part);
  if (stage == variable || chained || twice || !(part >= 0.0 && part <= 1.0)) {
    const char* fix = stage == variable ? "name the stage, and the variable that it stands for"
                      : chained         ? "name the variable of the step, and not another stage of it"
                      : twice           ? "say it once for each stage"
                                        : "give a part of the step, from 0 to 1";
    faults_.push_back(Message("a stage cannot stand for a variable at that time")
                          .line("stage     ", info.name)
                          .line("variable  ", of)
                          .line("part      ", part, " of the step")
                          .line("fix       ", fix)
                          .text());
    return;
  }
  info.stageOf = variable;
  info.stagePart = part;
}

ReductionLabel LabelTable::reduction(std::string_view name) {
  expectName(name);
  const auto at = std::find(reductions_.begin(), reductions_.end(), name);
  if (at != reductions_.end()) return {static_cast<LabelId>(at - reductions_.begin())};
  reductions_.emplace_back(name);
  return {reductionCount() - 1};
}

}  // namespace tessera
