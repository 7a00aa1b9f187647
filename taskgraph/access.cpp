#include "taskgraph/access.hpp"

namespace tessera {
namespace {

bool isUniform(const Halo& halo) { return halo == uniformHalo(halo.lo.i); }

std::string haloText(const Halo& halo, bool facesOnly) {
  if (halo.isZero()) return "";
  if (facesOnly) return " faceHalo(" + std::to_string(halo.lo.i) + ")";
  if (isUniform(halo)) return " halo(" + std::to_string(halo.lo.i) + ")";
  return " halo(" + asText(halo.lo) + ", " + asText(halo.hi) + ")";
}

}  // namespace

std::string asText(const ReadDeclaration& read, const LabelTable& labels) {
  std::string text = read.generation == Generation::Old ? "Old " : "New ";
  text += labels.info(read.label).name;
  switch (read.reach) {
    case Reach::Patch:
      text += haloText(read.halo, read.facesOnly);
      break;
    case Reach::Coarser:
      text += " fromCoarser(" + std::to_string(read.halo.lo.i) + ")";
      break;
    case Reach::Finer:
      text += " fromFiner()";
      break;
    case Reach::WholeLevel:
      text += " wholeLevel(" + (read.level < 0 ? "" : std::to_string(read.level)) + ")";
      break;
  }
  return read.from.empty() ? text : text + " from(\"" + read.from + "\")";
}

}  // namespace tessera
