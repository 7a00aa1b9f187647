#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/geometry/index.hpp"

namespace tessera::jobs {

/// What an OBJ file (Wavefront) has of a surface: its corners, and triangles between them.
struct ObjMesh {
  struct Triangle {
    std::int32_t corners[3] = {0, 0, 0};
    std::int32_t material = 0;
  };
  std::vector<Real3> corners;
  std::vector<Triangle> triangles;     ///< faces with more corners are cut into fans
  std::vector<std::string> materials;  ///< names of `usemtl`, each once; "" first where faces come before it
};

/// Reads the statements v, f and usemtl; those of groups, normals, textures, lines and libraries of materials
/// are passed over. Throws InputError where the file cannot be read, DeckError (exit code 2) with file and
/// line where a statement is wrong, and where there is no face.
ObjMesh readObj(const std::filesystem::path& file);

}  // namespace tessera::jobs
