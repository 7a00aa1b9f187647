#pragma once

#include <cstdint>
#include <vector>

#include "datawarehouse/data_warehouse.hpp"
#include "scheduler/messages/message_pump.hpp"
#include "taskgraph/compiled_graph.hpp"

namespace tessera::detail {

/// Which memory stands for the Old and which for the New generation of the variables that a plan touches:
/// generations are swapped by those that were written; and the turn of its messages. Where it is the same
/// again, all addresses are.
class PlanBuffers {
 public:
  PlanBuffers(const CompiledGraphs& graphs, std::size_t plan, const DataWarehouse& data,
              const MessagePump& pump);

  /// In a step: the description behind one entry of each (generation, variable, level), and the turn.
  std::vector<std::int32_t> now() const;

 private:
  struct Entry {
    Generation generation = Generation::Old;
    LabelId label = -1;
    std::size_t local = 0;
  };

  const DataWarehouse& data_;
  const MessagePump& pump_;
  const bool hasMessages_;
  std::vector<Entry> entries_;
};

}  // namespace tessera::detail
