#pragma once

#include <vector>

#include "datawarehouse/data_warehouse.hpp"

namespace tessera::detail {

/// Brings memory from the warehouse of one mesh to that of the next one: DataWarehouse::inherit.
class InheritedMemory {
 public:
  /// Nothing of `before` is used any more but for Old of `needed`; no memory of `after` was allocated.
  InheritedMemory(DataWarehouse& before, DataWarehouse& after,
                  std::span<const DataWarehouse::OldValues> needed);

  /// Patches of the same cells keep theirs, what patches gather goes over as one piece, and what is left goes
  /// to other patches.
  void take();

 private:
  using Allocation = DataWarehouse::Allocation;
  using Entry = DataWarehouse::Entry;

  void keepPatch(std::size_t local, std::size_t localBefore);
  bool keepEntry(const Entry& now, const Entry& then);
  void keepSlot(const Entry& now, const Entry& then);
  void keepGathers();
  void takeSpares();

  DataWarehouse& before_;
  DataWarehouse& after_;
  std::vector<bool> isNeeded_;  ///< by allocation of `before`
};

}  // namespace tessera::detail
