#include "tools/simulation/regrid/regridding.hpp"

#include <cmath>
#include <cstring>
#include <string>

namespace tessera {
namespace {

/// Level and place of a flagged block, as ranks send it.
struct SentBlock {
  std::int64_t level;
  Index block;
};

std::string livesKey(std::size_t level) { return "regrid.lives." + std::to_string(level + 1); }

}  // namespace

Regridding::Regridding(const MeshFollowing& following, Transport& transport)
    : following_(following), transport_(transport), lives_(following.settings().hysteresis) {}

void Regridding::begin() {
  lives_ = FlagLives(following_.settings().hysteresis);
  counts_ = {};
}

std::vector<BlockSet> Regridding::flagsOfAll() {
  std::vector<BlockSet> own = following_.found().take();
  std::string bytes;
  for (std::size_t level = 0; level < own.size(); ++level) {
    for (const Index& block : own[level].blocks()) {
      const SentBlock sent{static_cast<std::int64_t>(level), block};
      bytes.append(reinterpret_cast<const char*>(&sent), sizeof sent);
    }
  }
  std::vector<BlockSet> all = noFlags(following_.rules());
  for (const std::string& ofRank : transport_.allGather(bytes)) {
    for (std::size_t at = 0; at + sizeof(SentBlock) <= ofRank.size(); at += sizeof(SentBlock)) {
      SentBlock sent;
      std::memcpy(&sent, ofRank.data() + at, sizeof sent);
      all[static_cast<std::size_t>(sent.level)].add(sent.block);
    }
  }
  return all;
}

std::shared_ptr<const Hierarchy> Regridding::nextMesh(const Hierarchy& now, double flaggedCells) {
  livesBefore_ = lives_;
  countsBefore_ = counts_;
  ++counts_.regrids;
  counts_.flaggedCells = std::isnan(flaggedCells) ? 0.0 : flaggedCells;  // of no patch
  std::vector<BlockSet> flags = flagsOfAll();
  lives_.prolong(flags);
  for (std::size_t level = 0; level < flags.size(); ++level)
    flags[level].add(following_.staticFlags()[level]);
  const RegridRules& rules = following_.rules();
  std::shared_ptr<const Hierarchy> mesh =
      regriddedHierarchy(rules, now.level(0), regrid(rules, std::move(flags)));
  return mesh->hash() == now.hash() ? nullptr : mesh;
}

void Regridding::takeBack() {
  lives_ = livesBefore_;
  counts_ = countsBefore_;
}

std::string Regridding::addSeconds(double seconds) {
  counts_.seconds += seconds;
  ++ofProcess_;
  const std::chrono::duration<double> run = std::chrono::steady_clock::now() - began_;
  return storm_.warning(ofProcess_, counts_.seconds, run.count(), following_.settings().interval);
}

void Regridding::save(CheckpointState& state) const {
  state.set("regrid.regrids", counts_.regrids);
  state.set("regrid.changes", counts_.changes);
  for (std::size_t level = 0; level < following_.rules().levels.size(); ++level)
    state.set(livesKey(level), lives_.numbersOf(level));
}

void Regridding::restore(const CheckpointState& state) {
  counts_.regrids = state.integer("regrid.regrids");
  counts_.changes = state.integer("regrid.changes");
  for (std::size_t level = 0; level < following_.rules().levels.size(); ++level)
    lives_.restore(level, state.reals(livesKey(level)));
}

}  // namespace tessera
