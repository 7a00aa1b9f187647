#include "tools/simulation/analysis/field_finder.hpp"

#include <algorithm>
#include <utility>

#include "core/text/nearest_name.hpp"

namespace tessera {

FieldFinder::FieldFinder(std::string table, const LabelTable& labels, std::span<const LabelId> persistent,
                         DeckDiagnostics& findings)
    : table_(std::move(table)), labels_(labels), findings_(findings) {
  for (const LabelId label : persistent) addNames(label);
}

std::string FieldFinder::head(const std::string& name) const {
  return table_ + " names the variable \"" + name + "\", which ";
}

const FieldFinder::Place* FieldFinder::placeOf(const std::string& name, const DeckLocation& where) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return &places_[static_cast<std::size_t>(found - names_.begin())];
  findings_.error(where, head(name) + "is none that lives from step to step" + didYouMeanOneOf(name, names_));
  return nullptr;
}

AnalysisField FieldFinder::find(const std::string& name, const DeckLocation& where) {
  const Place* place = placeOf(name, where);
  if (place == nullptr) return {};
  const LabelInfo& info = labels_.info(place->label);
  if (info.type.scalar != Scalar::Float64 || info.type.together() != 1) {
    findings_.error(where, head(name) + "has " + asText(info.type) + " per " + asText(info.centering) +
                               "; name one of one double");
    return {};
  }
  if (info.components.empty()) return {place->label, -1, info.centering};
  if (name == info.name) {
    findings_.error(where, head(name) + "has " + std::to_string(info.components.size()) +
                               " components; name one of them, for example \"" + info.nameOf(0) + "\"");
    return {};
  }
  return {place->label, place->component, info.centering};
}

AnalysisField FieldFinder::ofCells(const std::string& name, const DeckLocation& where) {
  const AnalysisField field = find(name, where);
  if (field.centering == Centering::Cell) return field;
  findings_.error(where, head(name) + "lives on each " + asText(field.centering) + "; name one of cells");
  return {};
}

std::vector<PlaneField> FieldFinder::ofPlane(const std::vector<std::string>& names,
                                             const DeckLocation& where) {
  std::vector<PlaneField> fields;
  for (const std::string& name : names) {
    const Place* place = placeOf(name, where);
    if (place == nullptr) continue;
    const LabelInfo& info = labels_.info(place->label);
    const PlaneField field{place->label, name == info.name ? -1 : place->component};
    const bool isThere = std::any_of(fields.begin(), fields.end(), [&](const PlaneField& other) {
      return other == field || (other.label == field.label && (other.component < 0 || field.component < 0));
    });
    if (isThere) {
      findings_.error(where, "a plane names \"" + name + "\" twice; remove one of them");
    } else {
      fields.push_back(field);
    }
  }
  return fields;
}

void FieldFinder::addNames(LabelId label) {
  const LabelInfo& info = labels_.info(label);
  for (std::size_t c = 0; c < info.components.size(); ++c) {
    places_.push_back({label, static_cast<std::int32_t>(c)});
    names_.push_back(info.nameOf(places_.back().component));
  }
  places_.push_back({label, 0});
  names_.push_back(info.name);
}

}  // namespace tessera
