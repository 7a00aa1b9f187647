#include "tools/jobs/paths/obj_mesh.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

#include "core/text/error.hpp"

namespace tessera::jobs {
namespace {

/// Names that are right, and of no use here.
constexpr const char* kPassedOver[] = {"vn", "vt", "vp", "g", "o", "s", "l", "p", "mtllib"};

class ObjReader {
 public:
  explicit ObjReader(std::string file) : file_(std::move(file)) {}

  void take(const std::string& text) {
    ++line_;
    std::istringstream words(text.substr(0, text.find('#')));
    std::string kind;
    if (!(words >> kind)) return;
    if (kind == "v") {
      takeCorner(words);
    } else if (kind == "f") {
      takeFace(words);
    } else if (kind == "usemtl") {
      std::string name;
      if (!(words >> name)) fail("usemtl has no name", "write the name of a material behind it");
      material_ = materialOf(name);
    } else if (std::ranges::find(kPassedOver, kind) == std::end(kPassedOver)) {
      fail("a statement '" + shown(kind) + "' is not known", "use v, f and usemtl");
    }
  }
  ObjMesh end() {
    if (mesh_.triangles.empty()) fail("the file has no face", "write faces as 'f 1 2 3'");
    return std::move(mesh_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& fix) const {
    throw DeckError(
        Message(file_ + ":" + std::to_string(line_) + ": error: " + what).line("fix  ", fix).text());
  }
  /// What can be shown of text that may be anything.
  static std::string shown(std::string text) {
    text.resize(std::min<std::size_t>(text.size(), 40));
    std::ranges::replace_if(
        text, [](char c) { return c < ' ' || c > '~'; }, '?');
    return text;
  }
  void takeCorner(std::istringstream& words) {
    Real3 corner;
    for (int axis = 0; axis < kAxes; ++axis) {
      std::string word;
      words >> word;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), corner[axis]);
      if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(corner[axis]))
        fail("a corner has no three numbers" + (word.empty() ? "" : ": '" + shown(word) + "'"),
             "write corners as 'v 0.5 1 -2'");
    }
    mesh_.corners.push_back(corner);
  }
  void takeFace(std::istringstream& words) {
    std::vector<std::int32_t> corners;
    for (std::string word; words >> word;) corners.push_back(cornerOf(word));
    if (corners.size() < 3) fail("a face has fewer than three corners", "write faces as 'f 1 2 3'");
    if (material_ < 0) material_ = materialOf("");
    for (std::size_t n = 2; n < corners.size(); ++n) {
      if (std::ssize(mesh_.triangles) == std::numeric_limits<std::int32_t>::max())
        fail("the mesh has more than 2^31 triangles", "use a smaller mesh");
      mesh_.triangles.push_back({{corners[0], corners[n - 1], corners[n]}, material_});
    }
  }
  /// From "7", "7/1/2" or "-1" (the last one so far).
  std::int32_t cornerOf(const std::string& word) const {
    std::int64_t number = 0;
    const char* last = word.data() + std::min(word.find('/'), word.size());
    const auto [end, error] = std::from_chars(word.data(), last, number);
    const std::int64_t count = std::ssize(mesh_.corners);
    if (error != std::errc() || end != last || number == 0 || number > count || number < -count)
      fail("a face names the corner '" + shown(word) + "', but there are " + std::to_string(count) +
               " above it",
           "count corners from 1, or backwards from -1");
    return static_cast<std::int32_t>(number > 0 ? number - 1 : count + number);
  }
  std::int32_t materialOf(const std::string& name) {
    const auto found = std::ranges::find(mesh_.materials, name);
    if (found == mesh_.materials.end()) {
      mesh_.materials.push_back(name);
      return static_cast<std::int32_t>(mesh_.materials.size()) - 1;
    }
    return static_cast<std::int32_t>(found - mesh_.materials.begin());
  }

  std::string file_;
  std::int64_t line_ = 0;
  std::int32_t material_ = -1;
  ObjMesh mesh_;
};

}  // namespace

ObjMesh readObj(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::error_code error;
  if (!in || std::filesystem::is_directory(file, error))
    throw InputError(Message("cannot read the mesh " + file.string())
                         .line("fix  name an OBJ file; a relative path begins at the deck's folder")
                         .text());
  ObjReader reader(file.string());
  for (std::string line; std::getline(in, line);) reader.take(line);
  return reader.end();
}

}  // namespace tessera::jobs
