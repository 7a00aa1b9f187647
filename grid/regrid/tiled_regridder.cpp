#include "grid/regrid/regridder.hpp"

namespace tessera {
namespace {

class TiledRegridder final : public Regridder {
 public:
  std::vector<Box> regionOf(BlockSet& flagged) const override {
    std::vector<Box> tiles;
    for (const Index& block : flagged.blocks()) tiles.push_back({block, block + Index{1, 1, 1}});
    return tiles;
  }
  std::vector<Box> patchesOf(const Box& region, Extent /*longest*/) const override { return {region}; }
};

}  // namespace

std::unique_ptr<Regridder> makeTiledRegridder() { return std::make_unique<TiledRegridder>(); }

}  // namespace tessera
