#include "tools/simulation/mesh/migrate.hpp"

#include <unordered_map>

#include "datawarehouse/moves/region_op.hpp"

namespace tessera {
namespace {

/// Where each own patch stands.
class Places {
 public:
  explicit Places(const DataWarehouse& data) {
    for (std::size_t local = 0; local < data.ownPatches().size(); ++local)
      localOf_[data.ownPatches()[local]] = local;
  }
  std::size_t operator[](PatchId patch) const { return localOf_.at(patch); }

 private:
  std::unordered_map<PatchId, std::size_t> localOf_;
};

std::int64_t bytesOf(const DataWarehouse& data, const MigrationPiece& piece) {
  return piece.box.volume() * data.labels().info(piece.label).type.bytes();
}

/// What is packed lies as in a checkpoint.
Layout packedLayout(const MigrationPiece& piece) { return Layout(piece.box, false, false); }

void packPiece(const DataWarehouse& from, const Places& places, const MigrationPiece& piece,
               std::byte* packed) {
  const std::size_t local = places[piece.from];
  runRegion(copyOp(packedLayout(piece), from.layout(piece.label, local), piece.box, {},
                   from.labels().info(piece.label).type),
            packed, from.data(Generation::Old, piece.label, local));
}

void unpackPiece(DataWarehouse& to, const Places& places, const MigrationPiece& piece,
                 const std::byte* packed) {
  const std::size_t local = places[piece.to];
  runRegion(copyOp(to.layout(piece.label, local), packedLayout(piece), piece.box, {},
                   to.labels().info(piece.label).type),
            to.data(Generation::Old, piece.label, local), packed);
}

void copyPiece(const DataWarehouse& from, const Places& sources, DataWarehouse& to, const Places& places,
               const MigrationPiece& piece) {
  const std::size_t source = sources[piece.from];
  const std::size_t local = places[piece.to];
  if (to.stays(piece.label, local)) return;  // all of it: another piece of it there cannot be
  runRegion(copyOp(to.layout(piece.label, local), from.layout(piece.label, source), piece.box, {},
                   to.labels().info(piece.label).type),
            to.data(Generation::Old, piece.label, local), from.data(Generation::Old, piece.label, source));
}

}  // namespace

std::vector<DataWarehouse::OldValues> sourcesOf(const MigrationPlan& plan) {
  std::vector<DataWarehouse::OldValues> sources;
  const auto add = [&](const std::vector<MigrationPiece>& pieces) {
    for (const MigrationPiece& piece : pieces) sources.push_back({piece.label, piece.from});
  };
  add(plan.local);
  for (const MigrationMessage& message : plan.sends) add(message.pieces);
  return sources;
}

void migrate(const MigrationPlan& plan, const DataWarehouse& before, DataWarehouse& after,
             Transport& transport) {
  constexpr std::int64_t kTag = 0;
  const Places sources(before);
  const Places places(after);
  std::vector<Transport::Request> requests;
  std::vector<std::vector<std::byte>> arrived;
  for (const MigrationMessage& message : plan.receives) {
    arrived.emplace_back(static_cast<std::size_t>(message.bytes));
    requests.push_back(transport.receive(message.peer, kTag, arrived.back()));
  }
  std::vector<std::vector<std::byte>> sent;
  for (const MigrationMessage& message : plan.sends) {
    std::byte* at = sent.emplace_back(static_cast<std::size_t>(message.bytes)).data();
    for (const MigrationPiece& piece : message.pieces) {
      packPiece(before, sources, piece, at);
      at += bytesOf(before, piece);
    }
    requests.push_back(transport.send(message.peer, kTag, sent.back()));
  }
  for (const MigrationPiece& piece : plan.local) copyPiece(before, sources, after, places, piece);
  for (const Transport::Request request : requests) transport.wait(request);
  for (std::size_t n = 0; n < arrived.size(); ++n) {
    const std::byte* at = arrived[n].data();
    for (const MigrationPiece& piece : plan.receives[n].pieces) {
      unpackPiece(after, places, piece, at);
      at += bytesOf(after, piece);
    }
  }
}

}  // namespace tessera
