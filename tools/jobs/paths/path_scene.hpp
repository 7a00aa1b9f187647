#pragma once

#include <filesystem>
#include <vector>

#include "core/deck/parameters.hpp"
#include "tools/jobs/paths/path_body.hpp"
#include "tools/jobs/paths/triangle_tree.hpp"

namespace tessera::jobs {

/// A scene with its camera. Views of the body are not set: they are of `tree` and `lights`.
struct PathScene {
  PathBody body;
  TriangleTree tree{{}};
  std::vector<LightTriangle> lights;
};

/// Declares the keys of a scene and its camera.
void declareScene(ParameterTable& table);

/// The scene of a checked table. A relative path of a mesh begins at `folder`. Throws as readObj, and
/// DeckError where the mesh names a material that the deck does not have.
PathScene sceneOf(const ParameterValues& deck, const std::filesystem::path& folder);

}  // namespace tessera::jobs
