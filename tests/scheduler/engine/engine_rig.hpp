#pragma once

#include <memory>
#include <string>
#include <vector>

#include "scheduler/engine/engine.hpp"
#include "scheduler/engine/kinds/adder.hpp"
#include "scheduler/engine/kinds/shipped.hpp"
#include "scheduler/engine/kinds/spawn_tree.hpp"
#include "scheduler/engine/kinds/spin.hpp"

namespace tessera::engine::testing {

using LaneAdder = Adder<TaskWidth::Lane>;
using WarpAdder = Adder<TaskWidth::Warp>;
using BlockAdder = Adder<TaskWidth::Block>;

/// The forms that every machine has; a GPU is one more (TESSERA_ENGINE_TEST_CUDA in the environment).
std::vector<EngineOptions> forms();
std::string formName(const EngineOptions& options);
/// Engines that share a process: three emulated devices, two pools of threads and, where
/// TESSERA_ENGINE_TEST_CUDA is the number of GPUs, two on each of them.
std::vector<std::unique_ptr<Engine>> severalEngines();

/// Hands in `count` adders by the untyped face and checks that each came back once with the right sum: true
/// then.
bool addersComeBack(Engine& engine, std::uint16_t kind, std::uint64_t count);

}  // namespace tessera::engine::testing
