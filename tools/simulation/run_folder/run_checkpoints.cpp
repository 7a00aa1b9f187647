#include "tools/simulation/run_folder/run_checkpoints.hpp"

#include <algorithm>

#include "core/text/error.hpp"

namespace tessera {
namespace {

struct Source {
  LabelId label;
  std::size_t local;
};

[[noreturn]] void damaged(const CheckpointListing& checkpoint, const std::vector<CheckpointListing>& all) {
  Message message("the checkpoint " + checkpoint.path.string() + " cannot be used: " + checkpoint.problem);
  const auto good =
      std::find_if(all.begin(), all.end(), [](const auto& c) { return c.valid && isWhole(c.path); });
  if (good != all.end()) {
    message.line("fix  continue from the older one at step ", good->step, ": add --from ", good->step);
  } else {
    message.line("fix  there is no other one; start the run again");
  }
  throw InputError(message.text());
}

}  // namespace

bool isNewer(const CheckpointListing& a, const CheckpointListing& b) {
  if (a.sequence >= 0 && b.sequence >= 0) return a.sequence > b.sequence;
  if (a.written != b.written) return a.written > b.written;
  return a.step > b.step;
}

CheckpointResult writeCheckpoint(CheckpointWriter& writer, const Simulation& simulation) {
  const Model& model = simulation.model();
  const DataWarehouse& data = simulation.dataOnHost(model.persistent());
  CheckpointBlocks blocks;
  std::vector<Source> sources;
  for (std::size_t local = 0; local < data.ownPatches().size(); ++local) {
    if (data.ownPatches()[local] < 0) continue;  // a spare slot
    const Patch& patch = data.hierarchy().patch(data.ownPatches()[local]);
    for (const LabelId label : model.persistent()) {
      if (!data.has(label, local)) continue;  // not a variable of this level
      const LabelInfo& info = model.labels().info(label);
      blocks.blocks.push_back(
          {info.name, info.type, info.centering, patch.level, patch.id, data.ownedBox(label, local)});
      sources.push_back({label, local});
    }
  }
  std::vector<std::byte> packed;
  blocks.bytesOf = [&](std::size_t n) {
    packed.resize(static_cast<std::size_t>(blocks.blocks[n].bytes()));
    data.packOwned(sources[n].label, sources[n].local, packed);
    return std::span<const std::byte>(packed);
  };
  CheckpointState state;
  simulation.save(state);
  return writer.write(simulation.clock().step(), simulation.identity(), state, blocks);
}

CheckpointListing chooseCheckpoint(const std::filesystem::path& runFolder, std::int64_t step) {
  const std::filesystem::path folder = runFolder / "checkpoints";
  const std::vector<CheckpointListing> all = listCheckpoints(folder);
  if (all.empty()) {
    throw InputError(
        Message("there is no checkpoint in " + folder.string())
            .line("fix  start the run again with `tessera run`; [checkpoint] in the deck says when to write")
            .text());
  }
  if (step >= 0) {
    std::string known;
    for (const CheckpointListing& listing : all) {
      if (listing.step == step && !listing.valid) damaged(listing, all);
      if (listing.step == step) return listing;
      known += (known.empty() ? "" : ", ") + std::to_string(listing.step);
    }
    throw InputError(
        Message("there is no checkpoint of step " + std::to_string(step) + " in " + folder.string())
            .line("fix  choose one of: ", known)
            .text());
  }
  const CheckpointListing* newest = &all.front();
  for (const CheckpointListing& listing : all) {
    if (isNewer(listing, *newest)) newest = &listing;
  }
  if (!newest->valid) damaged(*newest, all);
  return *newest;
}

}  // namespace tessera
