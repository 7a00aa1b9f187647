#include "taskgraph/transfer/check_migration.hpp"

#include <algorithm>
#include <map>

namespace tessera {
namespace {

/// Collects what the plans bring to each patch of the new mesh.
class MigrationProof {
 public:
  MigrationProof(const OwnedMesh& before, const OwnedMesh& after, const LabelTable& labels)
      : before_(before), after_(after), labels_(labels) {}

  void lookAt(std::span<const MigrationPlan> plans) {
    for (std::size_t n = 0; n < plans.size(); ++n) {
      const auto rank = static_cast<Rank>(n);
      for (const MigrationPiece& piece : plans[n].local) take(piece, rank, rank);
      for (const MigrationPiece& piece : plans[n].fresh) takeFresh(piece, rank);
      for (const MigrationMessage& message : plans[n].receives) {
        compareSides(plans, message, rank);
        for (const MigrationPiece& piece : message.pieces) take(piece, message.peer, rank);
      }
      for (const MigrationMessage& message : plans[n].sends) {
        if (find(plans[static_cast<std::size_t>(message.peer)].receives, rank) == nullptr)
          fault("rank " + std::to_string(rank) + " sends what rank " + std::to_string(message.peer) +
                " does not wait for");
      }
    }
  }

  void expectAll(std::span<const LevelLabel> which) {
    for (const LevelLabel& what : which) {
      for (const Patch& patch : after_.hierarchy->level(what.level).patches()) expectPatch(what.label, patch);
    }
    for (const auto& [where, boxes] : arrived_)
      fault("nobody asked for values of patch " + nameOf(where.second));
  }

  std::vector<std::string> faults() { return std::move(faults_); }

 private:
  std::string nameOf(PatchId patch) const { return asText(after_.hierarchy->patch(patch)); }
  void fault(std::string text) { faults_.push_back(std::move(text)); }

  static const MigrationMessage* find(const std::vector<MigrationMessage>& messages, Rank peer) {
    const auto found = std::find_if(messages.begin(), messages.end(),
                                    [&](const MigrationMessage& m) { return m.peer == peer; });
    return found == messages.end() ? nullptr : &*found;
  }

  void compareSides(std::span<const MigrationPlan> plans, const MigrationMessage& received, Rank rank) {
    const MigrationMessage* sent = find(plans[static_cast<std::size_t>(received.peer)].sends, rank);
    if (sent != nullptr && sent->pieces == received.pieces && sent->bytes == received.bytes) return;
    fault("ranks " + std::to_string(received.peer) + " and " + std::to_string(rank) +
          " do not agree on their message");
  }

  void take(const MigrationPiece& piece, Rank giver, Rank taker) {
    const Patch& from = before_.hierarchy->patch(piece.from);
    const Centering centering = labels_.info(piece.label).centering;
    const bool has = before_.hierarchy->level(from.level).closedBox(from, centering).contains(piece.box);
    if (!has || before_.owners[static_cast<std::size_t>(piece.from)] != giver)
      fault("rank " + std::to_string(giver) + " gives what it has not of patch " + asText(from));
    if (after_.owners[static_cast<std::size_t>(piece.to)] != taker ||
        after_.hierarchy->patch(piece.to).level != from.level)
      fault("rank " + std::to_string(taker) + " takes values for another one's patch " + nameOf(piece.to));
    arrived_[{piece.label, piece.to}].push_back(piece.box);
  }

  void takeFresh(const MigrationPiece& piece, Rank taker) {
    const Patch& to = after_.hierarchy->patch(piece.to);
    const Centering centering = labels_.info(piece.label).centering;
    for (const Patch& from : before_.hierarchy->level(to.level).patches()) {
      const Box had = before_.hierarchy->level(to.level).closedBox(from, centering);
      if (!intersect(had, piece.box).empty())
        fault("values of patch " + asText(from) + " are not carried over to " + nameOf(piece.to));
    }
    if (after_.owners[static_cast<std::size_t>(piece.to)] != taker)
      fault("rank " + std::to_string(taker) + " fills another one's patch " + nameOf(piece.to));
    arrived_[{piece.label, piece.to}].push_back(piece.box);
  }

  void expectPatch(LabelId label, const Patch& patch) {
    const Box wanted = after_.hierarchy->level(patch.level).closedBox(patch, labels_.info(label).centering);
    std::vector<Box> missing{wanted};
    std::int64_t volume = 0;
    for (const Box& box : arrived_[{label, patch.id}]) {
      volume += box.volume();
      missing = subtract(missing, box);
    }
    if (!missing.empty() || volume != wanted.volume())
      fault(labels_.info(label).name + " on patch " + asText(patch) + " does not get each value once");
    arrived_.erase({label, patch.id});
  }

  const OwnedMesh& before_;
  const OwnedMesh& after_;
  const LabelTable& labels_;
  std::map<std::pair<LabelId, PatchId>, std::vector<Box>> arrived_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> checkMigration(std::span<const MigrationPlan> plans, const OwnedMesh& before,
                                        const OwnedMesh& after, std::span<const LevelLabel> which,
                                        const LabelTable& labels) {
  MigrationProof proof(before, after, labels);
  proof.lookAt(plans);
  proof.expectAll(which);
  return proof.faults();
}

}  // namespace tessera
