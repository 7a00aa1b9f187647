#include "tools/jobs/paths/path_scene.hpp"

#include <algorithm>
#include <set>

#include "core/text/error.hpp"
#include "core/text/nearest_name.hpp"
#include "tools/jobs/paths/obj_mesh.hpp"

namespace tessera::jobs {
namespace {

std::vector<std::string> materialNames(const ParameterValues& deck) {
  std::vector<std::string> names;
  for (const ParameterValues& material : deck.tables("materials")) names.push_back(material.text("name"));
  return names;
}

/// Rules of a scene that the deck describes itself.
void checkScene(const ParameterValues& deck, DeckDiagnostics& findings) {
  const std::vector<std::string> names = materialNames(deck);
  const auto& spheres = deck.tables("spheres");
  if (deck.choice("scene") != "deck") {
    if (deck.has("mesh") || !spheres.empty() || !names.empty())
      findings.error(deck.where("scene"), "mesh, spheres and materials are for scene = \"deck\"");
    return;
  }
  if (!deck.has("mesh") && spheres.empty())
    findings.error(deck.where("scene"), "a scene of the deck needs a mesh or [[path_tracer.spheres]]");
  if (names.empty() || names.size() > Scene::kMostLooks)
    findings.error(deck.where("scene"), "a scene of the deck needs 1 to 16 tables [[path_tracer.materials]]");
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size())
    findings.error(deck.where("scene"), "two materials have one name; give each its own");
  if (spheres.size() > Scene::kMostSpheres)
    findings.error(deck.where("scene"), "a scene has at most 12 spheres; make a mesh of the others");
  for (const ParameterValues& sphere : spheres) {
    if (std::ranges::find(names, sphere.text("material")) == names.end())
      findings.error(sphere.where("material"),
                     "no material has this name" + didYouMeanOneOf(sphere.text("material"), names));
  }
  if (deck.vector3("eye") == deck.vector3("towards"))
    findings.error(deck.where("eye"), "the eye and the place that it looks at are one; move one of them");
}

std::int32_t addLook(Scene& scene, double emission, Real3 colour, Surface kind) {
  scene.looks[scene.lookCount] = {emission, colour, kind};
  return scene.lookCount++;
}

void addSphere(Scene& scene, double radius, Real3 centre, std::int32_t look) {
  scene.spheres[scene.sphereCount++] = {radius, centre, look};
}

/// The room of the program smallpt (K. Beason): walls are spheres of radius 1e5.
void makeRoom(PathBody& body) {
  constexpr double kWall = 1e5;
  Scene& scene = body.scene;
  const std::int32_t grey = addLook(scene, 0.0, {0.75, 0.75, 0.75}, Surface::Diffuse);
  const auto wall = [&](Real3 centre, std::int32_t look) { addSphere(scene, kWall, centre, look); };
  wall({kWall + 1.0, 40.8, 81.6}, addLook(scene, 0.0, {0.75, 0.25, 0.25}, Surface::Diffuse));
  wall({99.0 - kWall, 40.8, 81.6}, addLook(scene, 0.0, {0.25, 0.25, 0.75}, Surface::Diffuse));
  wall({50.0, 40.8, kWall}, grey);
  wall({50.0, 40.8, 170.0 - kWall}, addLook(scene, 0.0, {}, Surface::Diffuse));
  wall({50.0, kWall, 81.6}, grey);
  wall({50.0, 81.6 - kWall, 81.6}, grey);
  const Real3 clear{0.999, 0.999, 0.999};
  addSphere(scene, 16.5, {27.0, 16.5, 47.0}, addLook(scene, 0.0, clear, Surface::Mirror));
  addSphere(scene, 16.5, {73.0, 16.5, 78.0}, addLook(scene, 0.0, clear, Surface::Glass));
  addSphere(scene, 600.0, {50.0, 681.33, 81.6}, addLook(scene, 12.0, {}, Surface::Diffuse));
  body.eye = {50.0, 52.0, 295.6};
  body.ahead = normalised({0.0, -0.042612, -1.0});
  body.start = 130.0;
}

/// Radiance is E / (1 - rho) everywhere: 1.
void makeFurnace(PathBody& body) {
  addSphere(body.scene, 10.0, {}, addLook(body.scene, 0.5, {0.5, 0.5, 0.5}, Surface::Diffuse));
  body.eye = {1.0, 2.0, 3.0};
  body.ahead = {0.0, 0.0, -1.0};
  body.mostRays = 64;  // what is left then is below the resolution of the sums
}

std::int32_t lookNamed(const std::string& name, const std::vector<std::string>& names) {
  return static_cast<std::int32_t>(std::ranges::find(names, name) - names.begin());
}

std::vector<SceneTriangle> trianglesOf(const ObjMesh& mesh, const std::vector<std::string>& names,
                                       const std::string& file) {
  std::vector<std::int32_t> looks;
  for (const std::string& material : mesh.materials) {
    looks.push_back(material.empty() ? 0 : lookNamed(material, names));
    if (looks.back() < std::ssize(names)) continue;
    throw DeckError(Message(file + ": error: the mesh uses a material that the deck does not have: '" +
                            material + "'" + didYouMeanOneOf(material, names))
                        .line("fix  add [[path_tracer.materials]] with this name")
                        .text());
  }
  std::vector<SceneTriangle> triangles;
  for (const ObjMesh::Triangle& each : mesh.triangles) {
    const auto corner = [&](int n) { return mesh.corners[static_cast<std::size_t>(each.corners[n])]; };
    triangles.push_back({corner(0), corner(1) - corner(0), corner(2) - corner(0),
                         looks[static_cast<std::size_t>(each.material)]});
  }
  return triangles;
}

std::vector<LightTriangle> lightsOf(const Scene& scene, const std::vector<SceneTriangle>& triangles) {
  std::vector<LightTriangle> lights;
  double area = 0.0;
  for (std::size_t n = 0; n < triangles.size(); ++n) {
    const Real3 normal = cross(triangles[n].edge1, triangles[n].edge2);
    if (scene.looks[triangles[n].look].emission <= 0.0 || dot(normal, normal) <= 0.0) continue;
    area += 0.5 * std::sqrt(dot(normal, normal));
    lights.push_back({static_cast<std::int32_t>(n), area});
  }
  return lights;
}

void makeSceneOfDeck(const ParameterValues& deck, const std::filesystem::path& folder, PathScene& made) {
  Scene& scene = made.body.scene;
  for (const ParameterValues& material : deck.tables("materials")) {
    const std::string& kind = material.choice("surface");
    addLook(scene, material.real("emission"), material.vector3("colour"),
            kind == "diffuse"  ? Surface::Diffuse
            : kind == "mirror" ? Surface::Mirror
                               : Surface::Glass);
  }
  const std::vector<std::string> names = materialNames(deck);
  for (const ParameterValues& sphere : deck.tables("spheres"))
    addSphere(scene, sphere.real("radius"), sphere.vector3("centre"),
              lookNamed(sphere.text("material"), names));
  if (deck.has("mesh")) {
    const std::filesystem::path file = folder / deck.text("mesh");
    made.tree = TriangleTree(trianglesOf(readObj(file), names, file.string()));
    made.lights = lightsOf(scene, made.tree.triangles);
  }
  scene.boxCount = static_cast<std::int32_t>(made.tree.boxes.size());
  scene.lightCount = static_cast<std::int32_t>(made.lights.size());
  made.body.eye = deck.vector3("eye");
  made.body.ahead = normalised(deck.vector3("towards") - made.body.eye);
}

void declareTables(ParameterTable& table) {
  ParameterTable& material = table.arrayOf("materials", "how surfaces of a scene of the deck look");
  material.text("name").doc("as spheres, and `usemtl` of the mesh, call it");
  material.realVector("colour", 3)
      .doc("part of red, green and blue light that it sends on")
      .range(0, 1)
      .defaultsTo({0.75, 0.75, 0.75});
  material.real("emission").doc("radiance of its own").range(0, 1e6).defaultsTo(0.0);
  material.choice("surface", {"diffuse", "mirror", "glass"}).doc("what it does").defaultsTo("diffuse");
  ParameterTable& sphere = table.arrayOf("spheres", "of a scene of the deck, at most 12");
  sphere.realVector("centre", 3).doc("of the sphere").range(-1e9, 1e9);
  sphere.real("radius").doc("of the sphere").above(0).atMost(1e9);
  sphere.text("material").doc("name of a material");
}

}  // namespace

void declareScene(ParameterTable& table) {
  table.choice("scene", {"room", "furnace", "deck"})
      .doc(
          "room: walls, a mirror, a ball of glass and a light; furnace: a closed sphere that glows; deck: "
          "what "
          "mesh, spheres and materials say")
      .defaultsTo("room");
  table.text("mesh").doc("an OBJ file with triangles, for scene = \"deck\"; relative to the deck").optional();
  table.realVector("eye", 3).doc("place of the camera").range(-1e9, 1e9).defaultsTo({0.0, 0.0, 1.0});
  table.realVector("towards", 3).doc("what it looks at").range(-1e9, 1e9).defaultsTo({0.0, 0.0, 0.0});
  table.real("field")
      .doc("height of the picture at distance 1 of the camera")
      .range(1e-9, 100)
      .defaultsTo(0.5135);
  declareTables(table);
  table.check(checkScene);
}

PathScene sceneOf(const ParameterValues& deck, const std::filesystem::path& folder) {
  PathScene made;
  PathBody& body = made.body;
  if (deck.choice("scene") == "room") {
    makeRoom(body);
  } else if (deck.choice("scene") == "furnace") {
    makeFurnace(body);
  } else {
    makeSceneOfDeck(deck, folder, made);
  }
  body.width = static_cast<std::int32_t>(deck.integer("width"));
  body.height = static_cast<std::int32_t>(deck.integer("height"));
  const bool isUpright = std::abs(body.ahead.y) < 0.999999;
  const double field = deck.real("field");
  const Real3 up = isUpright ? Real3{0.0, 1.0, 0.0} : Real3{0.0, 0.0, 1.0};
  body.right = (body.width * field / body.height) * normalised(cross(body.ahead, up));
  body.up = field * normalised(cross(body.right, body.ahead));
  return made;
}

}  // namespace tessera::jobs
