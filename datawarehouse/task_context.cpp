#include "datawarehouse/task_context.hpp"

namespace tessera::detail {

void FrameFinals::announce(const char* loop, DeviceLoops& loops) const {
  for (const FinalLoop& final : frame_->finalLoops) {
    if (final.loop != loop) continue;
    const ElementType type = frame_->labels->info(final.label).type;
    if (!holdsReals(type)) continue;
    for (const TaskAccess& access : frame_->accesses) {
      if (access.label != final.label || !isOutput(access.mode) || access.findings.words == nullptr) continue;
      loops.willFinish(finalValues(access, type), access.declared);
    }
  }
}

}  // namespace tessera::detail
