#include "taskgraph/task_place.hpp"

namespace tessera {

std::string placeOf(const TaskDeclaration& task) {
  const std::string path = task.where.file;
  std::size_t at = path.size();
  for (int n = 0; n < 3 && at != std::string::npos && at > 0; ++n) at = path.rfind('/', at - 1);
  const std::string name = at == std::string::npos || at == 0 ? path : path.substr(at + 1);
  return name + ":" + std::to_string(task.where.line);
}

}  // namespace tessera
