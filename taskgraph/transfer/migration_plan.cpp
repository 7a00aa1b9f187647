#include "taskgraph/transfer/migration_plan.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/text/error.hpp"

namespace tessera {
namespace {

Rank ownerOf(const OwnedMesh& mesh, PatchId patch) { return mesh.owners[static_cast<std::size_t>(patch)]; }

/// Makes the plan of one rank, variable by variable.
class MigrationPlanner {
 public:
  MigrationPlanner(const OwnedMesh& before, const OwnedMesh& after, const LabelTable& labels, Rank rank)
      : before_(before), after_(after), labels_(labels), rank_(rank) {}

  MigrationPlan make(std::span<const LevelLabel> which) {
    for (const LevelLabel& what : which) {
      for (const Patch& to : after_.hierarchy->level(what.level).patches()) {
        if (ownerOf(after_, to.id) == rank_) arrivals(what.label, to);
      }
      for (const Patch& from : before_.hierarchy->level(what.level).patches()) {
        if (ownerOf(before_, from.id) == rank_) departures(what.label, from);
      }
    }
    plan_.sends = messagesOf(sends_);
    plan_.receives = messagesOf(receives_);
    return std::move(plan_);
  }

 private:
  using Pieces = std::map<Rank, std::vector<MigrationPiece>>;

  Box owned(const OwnedMesh& mesh, const Patch& patch, LabelId label) const {
    return mesh.hierarchy->level(patch.level).ownedBy(patch, labels_.info(label).centering);
  }

  /// A border of a patch may have been its neighbour's.
  static Box around(const Patch& patch) { return grow(patch.cells, uniformHalo(1)); }

  void arrivals(LabelId label, const Patch& to) {
    const Box wanted = owned(after_, to, label);
    std::int64_t found = 0;
    before_.hierarchy->level(to.level).forEachOverlapping(around(to), [&](const Patch& from) {
      const Box box = intersect(owned(before_, from, label), wanted);
      if (box.empty()) return;
      found += box.volume();
      const Rank peer = ownerOf(before_, from.id);
      (peer == rank_ ? plan_.local : receives_[peer]).push_back({label, from.id, to.id, box});
    });
    if (found == wanted.volume()) return;
    throw InternalError(Message("a mesh has cells that the mesh before it has not")
                            .line("label  ", labels_.info(label).name)
                            .line("patch  ", asText(to))
                            .line("fix    adopt a mesh of the same cells on each level")
                            .text());
  }

  void departures(LabelId label, const Patch& from) {
    const Box given = owned(before_, from, label);
    after_.hierarchy->level(from.level).forEachOverlapping(around(from), [&](const Patch& to) {
      const Box box = intersect(owned(after_, to, label), given);
      const Rank peer = ownerOf(after_, to.id);
      if (!box.empty() && peer != rank_) sends_[peer].push_back({label, from.id, to.id, box});
    });
  }

  std::vector<MigrationMessage> messagesOf(Pieces& byPeer) const {
    std::vector<MigrationMessage> messages;
    for (auto& [peer, pieces] : byPeer) {
      std::sort(pieces.begin(), pieces.end(), [](const MigrationPiece& a, const MigrationPiece& b) {
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
  MigrationPlan plan_;
  Pieces sends_;
  Pieces receives_;
};

}  // namespace

MigrationPlan planMigration(const OwnedMesh& before, const OwnedMesh& after,
                            std::span<const LevelLabel> which, const LabelTable& labels, Rank rank) {
  return MigrationPlanner(before, after, labels, rank).make(which);
}

}  // namespace tessera
