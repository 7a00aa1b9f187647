#include "taskgraph/transfer/migration_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/text/error.hpp"

namespace tessera {
namespace {

Rank ownerOf(const OwnedMesh& mesh, PatchId patch) { return mesh.owners[static_cast<std::size_t>(patch)]; }

/// Makes the plan of one rank, variable by variable.
class MigrationPlanner {
 public:
  MigrationPlanner(const OwnedMesh& before, const OwnedMesh& after, const LabelTable& labels, Rank rank,
                   FreshIndices fresh)
      : before_(before), after_(after), labels_(labels), rank_(rank), fresh_(fresh) {}

  MigrationPlan make(std::span<const LevelLabel> which) {
    for (const LevelLabel& what : which) {
      for (const PatchId to : concerned(what.level)) take(what.label, after_.hierarchy->patch(to));
    }
    plan_.sends = messagesOf(sends_);
    plan_.receives = messagesOf(receives_);
    return std::move(plan_);
  }

 private:
  using Pieces = std::map<Rank, std::vector<MigrationPiece>>;

  Box closed(const OwnedMesh& mesh, const Patch& patch, LabelId label) const {
    return mesh.hierarchy->level(patch.level).closedBox(patch, labels_.info(label).centering);
  }

  /// Patches that only share a border with it have that border as well.
  static Box around(const Patch& patch) { return grow(patch.cells, uniformHalo(1)); }

  /// The patches of the new level that the rank will own, or may give values to.
  std::set<PatchId> concerned(LevelId level) const {
    std::set<PatchId> patches;
    const Level& after = after_.hierarchy->level(level);
    for (const Patch& to : after.patches()) {
      if (ownerOf(after_, to.id) == rank_) patches.insert(to.id);
    }
    for (const Patch& from : before_.hierarchy->level(level).patches()) {
      if (ownerOf(before_, from.id) != rank_) continue;
      after.forEachOverlapping(around(from), [&](const Patch& to) { patches.insert(to.id); });
    }
    return patches;
  }

  /// Where all that `to` stores comes from: the patches that had its cells, then those with a border of it,
  /// by place, on every rank alike.
  void take(LabelId label, const Patch& to) {
    const Rank taker = ownerOf(after_, to.id);
    std::vector<Box> missing{closed(after_, to, label)};
    const auto giveFrom = [&](const Patch& from) {
      const Box given = closed(before_, from, label);
      for (const Box& part : missing) {
        const Box box = intersect(part, given);
        if (!box.empty()) add({label, from.id, to.id, box}, ownerOf(before_, from.id), taker);
      }
      missing = subtract(missing, given);
    };
    before_.hierarchy->level(to.level).forEachOverlapping(to.cells, giveFrom);
    before_.hierarchy->level(to.level).forEachOverlapping(around(to), giveFrom);
    if (missing.empty()) return;
    if (fresh_ == FreshIndices::Listed) {
      for (const Box& box : missing) {
        if (taker == rank_) plan_.fresh.push_back({label, -1, to.id, box});
      }
      return;
    }
    throw InternalError(Message("a mesh has cells that the mesh before it has not")
                            .line("label  ", labels_.info(label).name)
                            .line("patch  ", asText(to))
                            .line("fix    adopt a mesh of the same cells on each level")
                            .text());
  }

  void add(const MigrationPiece& piece, Rank giver, Rank taker) {
    if (giver == rank_ && taker == rank_) {
      plan_.local.push_back(piece);
    } else if (taker == rank_) {
      receives_[giver].push_back(piece);
    } else if (giver == rank_) {
      sends_[taker].push_back(piece);
    }
  }

  std::vector<MigrationMessage> messagesOf(Pieces& byPeer) const {
    std::vector<MigrationMessage> messages;
    for (auto& [peer, pieces] : byPeer) {
      std::stable_sort(pieces.begin(), pieces.end(), [](const MigrationPiece& a, const MigrationPiece& b) {
        return std::tie(a.label, a.to, a.from) < std::tie(b.label, b.to, b.from);
      });
      MigrationMessage message{peer, 0, std::move(pieces)};
      for (const MigrationPiece& piece : message.pieces)
        message.bytes += piece.box.volume() * labels_.info(piece.label).type.bytes();
      messages.push_back(std::move(message));
    }
    return messages;
  }

  const OwnedMesh& before_;
  const OwnedMesh& after_;
  const LabelTable& labels_;
  const Rank rank_;
  const FreshIndices fresh_;
  MigrationPlan plan_;
  Pieces sends_;
  Pieces receives_;
};

}  // namespace

MigrationPlan planMigration(const OwnedMesh& before, const OwnedMesh& after,
                            std::span<const LevelLabel> which, const LabelTable& labels, Rank rank,
                            FreshIndices fresh) {
  return MigrationPlanner(before, after, labels, rank, fresh).make(which);
}

}  // namespace tessera
