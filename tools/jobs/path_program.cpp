#include <algorithm>
#include <cmath>

#include "tools/jobs/job_program.hpp"
#include "tools/jobs/path_body.hpp"
#include "tools/jobs/png_image.hpp"

namespace tessera::jobs {
namespace {

ParameterTable pathTable() {
  ParameterTable table("path_tracer",
                       "Light in a scene of spheres, by paths from the camera; writes image.png");
  table.choice("scene", {"room", "furnace"})
      .doc("room: walls, a mirror, a ball of glass and a light; furnace: a closed sphere that glows")
      .defaultsTo("room");
  table.integer("width").doc("of the picture, in pixels").range(1, 8192).defaultsTo(256);
  table.integer("height").doc("of the picture, in pixels").range(1, 8192).defaultsTo(192);
  table.integer("samples").doc("paths a pixel").range(1, 1 << 20).defaultsTo(16);
  table.integer("seed").doc("of the random numbers").range(0, 1 << 30).defaultsTo(1);
  table.integer("roulette_after")
      .doc("rays after which a path may end by chance")
      .range(0, 10000)
      .defaultsTo(5);
  return table;
}

void add(PathBody& body, double radius, Real3 centre, double emission, Real3 colour, Surface surface) {
  body.spheres[body.count++] = {radius, centre, emission, colour, surface};
}

/// The room of the program smallpt (K. Beason): walls are spheres of radius 1e5.
void makeRoom(PathBody& body) {
  constexpr double kWall = 1e5;
  const Real3 grey{0.75, 0.75, 0.75};
  const Real3 clear{0.999, 0.999, 0.999};
  add(body, kWall, {kWall + 1.0, 40.8, 81.6}, 0.0, {0.75, 0.25, 0.25}, Surface::Diffuse);
  add(body, kWall, {99.0 - kWall, 40.8, 81.6}, 0.0, {0.25, 0.25, 0.75}, Surface::Diffuse);
  add(body, kWall, {50.0, 40.8, kWall}, 0.0, grey, Surface::Diffuse);
  add(body, kWall, {50.0, 40.8, 170.0 - kWall}, 0.0, {}, Surface::Diffuse);
  add(body, kWall, {50.0, kWall, 81.6}, 0.0, grey, Surface::Diffuse);
  add(body, kWall, {50.0, 81.6 - kWall, 81.6}, 0.0, grey, Surface::Diffuse);
  add(body, 16.5, {27.0, 16.5, 47.0}, 0.0, clear, Surface::Mirror);
  add(body, 16.5, {73.0, 16.5, 78.0}, 0.0, clear, Surface::Glass);
  add(body, 600.0, {50.0, 681.33, 81.6}, 12.0, {}, Surface::Diffuse);
  body.eye = {50.0, 52.0, 295.6};
  body.ahead = normalised({0.0, -0.042612, -1.0});
  body.start = 130.0;
}

/// Radiance is E / (1 - rho) everywhere: 1.
void makeFurnace(PathBody& body) {
  add(body, 10.0, {}, 0.5, {0.5, 0.5, 0.5}, Surface::Diffuse);
  body.eye = {1.0, 2.0, 3.0};
  body.ahead = {0.0, 0.0, -1.0};
  body.mostRays = 64;  // what is left then is below the resolution of the sums
}

PathBody bodyOf(const ParameterValues& deck) {
  PathBody body;
  deck.choice("scene") == "room" ? makeRoom(body) : makeFurnace(body);
  body.width = static_cast<std::int32_t>(deck.integer("width"));
  body.height = static_cast<std::int32_t>(deck.integer("height"));
  constexpr double kField = 0.5135;
  body.right = {body.width * kField / body.height, 0.0, 0.0};
  body.up = kField * normalised(cross(body.right, body.ahead));
  body.seed = static_cast<std::uint32_t>(deck.integer("seed"));
  body.rouletteAfter = static_cast<std::uint32_t>(deck.integer("roulette_after"));
  return body;
}

/// The mean radiance of the frame in one colour, and its standard deviation from that of the batches.
JobNumber meanOf(const std::string& name, const Sums& batches, int colour, double paths) {
  constexpr auto kCount = static_cast<double>(PathBody::kBatches);
  double mean = 0.0;
  double squares = 0.0;
  for (std::int64_t n = 0; n < PathBody::kBatches; ++n) {
    const double each = batches.value({colour, n, 0}) * kCount / paths;
    mean += each / kCount;
    squares += each * each / kCount;
  }
  return {name, mean, std::sqrt(std::max(0.0, squares - mean * mean) / (kCount - 1.0))};
}

void writeImage(const Sums& image, std::int64_t samples, const std::filesystem::path& file) {
  const Extent size = image.box().extent();
  PngImage picture(size.i, size.j);
  for (std::int64_t j = 0; j < size.j; ++j) {
    for (std::int64_t i = 0; i < size.i; ++i) {
      double colours[3];
      for (int c = 0; c < 3; ++c) {
        const double radiance = image.value({i, j, c}) / static_cast<double>(samples);
        colours[c] = std::pow(std::clamp(radiance, 0.0, 1.0), 1.0 / 2.2);
      }
      picture.set(i, j, colours[0], colours[1], colours[2]);
    }
  }
  picture.write(file);
}

std::vector<JobNumber> runPaths(const ParameterValues& deck, DeckRun& run) {
  const PathBody plain = bodyOf(deck);
  const std::int64_t samples = deck.integer("samples");
  Sums image("image", {plain.width, plain.height, 3}, 0x1p-36);
  Sums batches("batches", {3, PathBody::kBatches, 1}, 0x1p-30);
  Job job("path_tracer", {plain.width, plain.height, samples});
  job.reduces(image).reduces(batches).cutAlong(1, 1).callsInARow(4);
  job.partition([&](const Box& units, PartList& parts) {
    parts.set(image, {{0, units.lo.j, 0}, {plain.width, units.hi.j, 3}});
  });
  job.runs<PathBody>(pathKernels(), [&](const TaskData& task) {
    PathBody body = plain;
    body.image = task.sums(image);
    body.batches = task.sums(batches);
    return body;
  });
  const JobReport& report = run.runJob(job);
  const double paths = static_cast<double>(plain.width) * plain.height * static_cast<double>(samples);
  writeImage(image, samples, run.folder / "image.png");
  return {meanOf("red", batches, 0, paths),
          meanOf("green", batches, 1, paths),
          meanOf("blue", batches, 2, paths),
          {"rays_per_path", static_cast<double>(report.calls) / paths},
          {"paths_per_second", paths / report.seconds}};
}

}  // namespace

JobProgram pathProgram() { return {"path_tracer", &pathTable, &runPaths}; }

}  // namespace tessera::jobs
