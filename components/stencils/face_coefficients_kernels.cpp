#include "components/stencils/face_coefficients.hpp"
#include "datawarehouse/task_context.hpp"

namespace tessera {

template <class Task, Centering C>
void meansAlong(const Task& task, Label<double, Cell> cells, Label<double, C> faces, Index along) {
  if (faces.id < 0) return;
  const auto k = task.read(Old, cells);
  const auto mean = task.write(faces);
  forEach(task.exec(), "faceMeans", task.interior(faces),
          [=] TESSERA_KERNEL(Index x) { mean(x) = throughFace(k(x - along), k(x)); });
}

struct FaceMeans {
  Label<double, Cell> cells;
  FaceCoefficients faces;

  template <class Task>
  void operator()(const Task& task) const {
    meansAlong(task, cells, faces.x, ex);
    meansAlong(task, cells, faces.y, ey);
    meansAlong(task, cells, faces.z, ez);
  }
};

[[gnu::weak]] TaskBody faceMeans(Label<double, Cell> cells, const FaceCoefficients& faces) {
  return taskBody<Cpu, Gpu>(FaceMeans{cells, faces});
}

}  // namespace tessera
