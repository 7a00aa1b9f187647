#pragma once

#include <string>
#include <vector>

#include "components/component.hpp"
#include "core/deck/deck.hpp"
#include "datawarehouse/archive/checkpoint_reader.hpp"
#include "tools/simulation/run_folder/folder_handle.hpp"

namespace tessera {

/// The deck to go on with: deck.toml of the run folder, the overrides of earlier starts, and those of this
/// one. Throws DeckError for a fault in it, and for each key that differs from the checkpoint's and may not.
Deck restartDeck(const FolderHandle& runFolder, const CheckpointReader& checkpoint,
                 const std::vector<std::string>& overrides, const ComponentRegistry& registry);

}  // namespace tessera
