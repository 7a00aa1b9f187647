// Meshes and trees of triangles, and light by shadow rays.
#include <cmath>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/philox.hpp"
#include "core/text/error.hpp"
#include "tests/tools/jobs/job_folder.hpp"
#include "tools/jobs/paths/obj_mesh.hpp"
#include "tools/jobs/paths/triangle_tree.hpp"

namespace tessera::jobs {
namespace {

using test::Folder;
using ::testing::HasSubstr;

double drawn(std::uint32_t number, std::uint32_t axis) {
  return unitReal(philox({number, axis, 0, 0}, {5, 0}).x) - 0.5;
}
Real3 placeOf(std::uint32_t number) { return {drawn(number, 0), drawn(number, 1), drawn(number, 2)}; }

std::string mistakeIn(const std::string& text) {
  const Folder folder;
  std::ofstream(folder.at("mesh.obj")) << text;
  try {
    readObj(folder.at("mesh.obj"));
  } catch (const DeckError& error) {
    EXPECT_EQ(error.exitCode(), 2);
    return error.message();
  }
  return "no mistake was found";
}

TEST(ObjMeshes, FacesAreCutIntoFansAndCornersMayCountBackwards) {
  const Folder folder;
  std::ofstream(folder.at("mesh.obj"))
      << "mtllib a.mtl\r\nv 0 0 0\nv 1 0 0 # a comment\nv 1 1 0 0.5 0.5 0.5\nv 0 1e0 -0.0\nvn 0 0 1\n"
         "f 1/1/1 2//1 3 4\nusemtl red\nf -4 -3 -2\n";

  const ObjMesh mesh = readObj(folder.at("mesh.obj"));

  ASSERT_EQ(mesh.corners.size(), 4U);
  EXPECT_EQ(mesh.corners[3], (Real3{0.0, 1.0, 0.0}));
  ASSERT_EQ(mesh.triangles.size(), 3U);
  EXPECT_EQ(std::vector<std::int32_t>(mesh.triangles[1].corners, mesh.triangles[1].corners + 3),
            (std::vector<std::int32_t>{0, 2, 3}));
  EXPECT_EQ(std::vector<std::int32_t>(mesh.triangles[2].corners, mesh.triangles[2].corners + 3),
            (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(mesh.materials, (std::vector<std::string>{"", "red"}));
  EXPECT_EQ(mesh.triangles[2].material, 1);
}

TEST(ObjMeshes, MistakesAreNamedWithTheirLine) {
  const std::string corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  EXPECT_THAT(mistakeIn(corners + "f 1 2 4\n"), AllOf(HasSubstr("mesh.obj:4"), HasSubstr("corner '4'"),
                                                      HasSubstr("there are 3"), HasSubstr("fix")));
  EXPECT_THAT(mistakeIn(corners + "f 1 2\n"), HasSubstr("fewer than three"));
  EXPECT_THAT(mistakeIn(corners + "f 1 2 x\n"), HasSubstr("corner 'x'"));
  EXPECT_THAT(mistakeIn(corners + "f 1 2 0\n"), HasSubstr("corner '0'"));
  EXPECT_THAT(mistakeIn(corners + "f 1 2 99999999999999999999\n"), HasSubstr("mesh.obj:4"));
  EXPECT_THAT(mistakeIn("v 0 0\n"), AllOf(HasSubstr("mesh.obj:1"), HasSubstr("three numbers")));
  EXPECT_THAT(mistakeIn("v 0 nan 0\n"), HasSubstr("three numbers"));
  EXPECT_THAT(mistakeIn("v 0 0 0\nface 1 2 3\n"), AllOf(HasSubstr("mesh.obj:2"), HasSubstr("'face'")));
  EXPECT_THAT(mistakeIn(std::string("\x01\x02 1 2\n")), HasSubstr("'?"
                                                                  "?'"));
  EXPECT_THAT(mistakeIn(corners), HasSubstr("no face"));
  EXPECT_THROW(readObj("/no/such/mesh.obj"), InputError);
}

TEST(TriangleTrees, ARayMeetsWhatALoopOverAllTrianglesFinds) {
  std::vector<SceneTriangle> triangles;
  for (std::uint32_t n = 0; n < 700; ++n) {
    triangles.push_back({4.0 * placeOf(3 * n), placeOf(3 * n + 1), placeOf(3 * n + 2), 0});
  }
  const TriangleTree tree(triangles);
  ASSERT_EQ(tree.triangles.size(), triangles.size());
  Scene scene;
  scene.boxCount = static_cast<std::int32_t>(tree.boxes.size());
  scene.boxes = {tree.boxes.data(), {}, 0, 0};
  scene.triangles = {tree.triangles.data(), {}, 0, 0};
  int hits = 0;
  for (std::uint32_t n = 0; n < 3000; ++n) {
    SCOPED_TRACE("ray " + std::to_string(n));
    Ray ray{5.0 * placeOf(10000 + 2 * n), placeOf(10001 + 2 * n), -1};
    if (n % 5 == 0) ray.to.x = 0.0;
    ray.to = normalised(ray.to);
    RayHit expected;
    for (std::int32_t t = 0; t < std::ssize(triangles); ++t) {
      const double at = Scene::meets(tree.triangles[static_cast<std::size_t>(t)], ray);
      if (at > 0.0 && at < expected.distance) expected = {at, -1, t};
    }
    const RayHit hit = scene.nearest(ray, 1e20);
    EXPECT_EQ(hit.triangle, expected.triangle);
    EXPECT_EQ(hit.distance, expected.distance);
    hits += hit.triangle >= 0 ? 1 : 0;
  }
  EXPECT_GT(hits, 300);
}

/// Without the factor that makes up for paths that end early the mean would be 0.916.
TEST(PathBodies, PathsThatEndByRouletteKeepTheMeanOfAFurnace) {
  const test::DeckResult result(
      "furnace", {"path_tracer.roulette_after=2", "job.expect=[{name='red', value=1.0, sigmas=4.0}]"});
  EXPECT_EQ(result.code, 0) << result.screen;
}

TEST(ShadowRays, AGlowingSphereHasRadianceOneWithThemToo) {
  const test::DeckResult result("furnace", {"path_tracer.shadow_rays=3"});
  EXPECT_EQ(result.code, 0) << result.screen;
}

TEST(ShadowRays, TheyChangeNoMean) {
  for (const char* rays : {"0", "1", "5"}) {
    const test::DeckResult lamp("under_a_lamp", {std::string("path_tracer.shadow_rays=") + rays});
    EXPECT_EQ(lamp.code, 0) << lamp.screen;
  }
  const test::DeckResult room("path_tracer", {"path_tracer.shadow_rays=1", "path_tracer.samples=8"});
  EXPECT_EQ(room.code, 0) << room.screen;
}

TEST(PathScenes, MaterialsThatAreNotThereAreNamed) {
  try {
    const test::DeckResult lamp("under_a_lamp", {"path_tracer.materials=[{name=\"flor\"},{name=\"lamp\"}]"});
    FAIL() << "the missing material was not reported";
  } catch (const DeckError& error) {
    EXPECT_THAT(error.message(), AllOf(HasSubstr("lamp.obj"), HasSubstr("'floor'"), HasSubstr("'flor'")));
  }
  try {
    const test::DeckResult room("path_tracer", {"path_tracer.mesh=\"a.obj\""});
    FAIL() << "the mesh of another scene was not reported";
  } catch (const DeckError& error) {
    EXPECT_THAT(error.message(), HasSubstr("scene = \"deck\""));
  }
}

}  // namespace
}  // namespace tessera::jobs
