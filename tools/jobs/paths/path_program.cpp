#include <algorithm>
#include <cmath>

#include "tools/jobs/job_program.hpp"
#include "tools/jobs/paths/path_scene.hpp"
#include "tools/jobs/png_image.hpp"

namespace tessera::jobs {
namespace {

ParameterTable pathTable() {
  ParameterTable table(
      "path_tracer", "Light in a scene of spheres and triangles, by paths from the camera; writes image.png");
  declareScene(table);
  table.integer("width").doc("of the picture, in pixels").range(1, 8192).defaultsTo(256);
  table.integer("height").doc("of the picture, in pixels").range(1, 8192).defaultsTo(192);
  table.integer("samples").doc("paths a pixel").range(1, 1 << 20).defaultsTo(16);
  table.integer("seed").doc("of the random numbers").range(0, 1 << 30).defaultsTo(1);
  table.integer("roulette_after")
      .doc("rays after which a path may end by chance")
      .range(0, 10000)
      .defaultsTo(5);
  table.integer("most_rays").doc("of a path [1000; 64 in the furnace]").range(1, 100000).optional();
  table.integer("shadow_rays")
      .doc("to lights, from each diffuse surface that a path meets; 0: paths meet lights by chance")
      .range(0, 1024)
      .defaultsTo(0);
  table.integer("load")
      .doc("made-up work for each box and sphere that a ray looks at, for measurements")
      .range(0, 1000000)
      .defaultsTo(0);
  return table;
}

PathScene wholeSceneOf(const ParameterValues& deck, const std::filesystem::path& folder) {
  PathScene made = sceneOf(deck, folder);
  made.body.seed = static_cast<std::uint32_t>(deck.integer("seed"));
  made.body.rouletteAfter = static_cast<std::uint32_t>(deck.integer("roulette_after"));
  if (deck.has("most_rays")) made.body.mostRays = static_cast<std::uint32_t>(deck.integer("most_rays"));
  made.body.shadowRays = static_cast<std::uint32_t>(deck.integer("shadow_rays"));
  made.body.scene.load = static_cast<std::int32_t>(deck.integer("load"));
  return made;
}

/// A domain with the elements of a list; one without meaning where it is empty.
template <class T>
class DomainOf : public Domain<T> {
 public:
  DomainOf(std::string name, const std::vector<T>& values)
      : Domain<T>(std::move(name), {std::max<std::int64_t>(1, std::ssize(values)), 1, 1}) {
    std::ranges::copy(values, this->change().begin());
  }
};

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

void writeImage(const Sums& image, const PathBody& body, std::int64_t samples,
                const std::filesystem::path& file) {
  PngImage picture(body.width, body.height);
  for (std::int64_t j = 0; j < body.height; ++j) {
    for (std::int64_t i = 0; i < body.width; ++i) {
      double colours[3];
      for (int c = 0; c < 3; ++c) {
        const double radiance = image.value({j * body.width + i, 0, c}) / static_cast<double>(samples);
        colours[c] = std::pow(std::clamp(radiance, 0.0, 1.0), 1.0 / 2.2);
      }
      picture.set(i, j, colours[0], colours[1], colours[2]);
    }
  }
  picture.write(file);
}

std::vector<JobNumber> runPaths(const ParameterValues& deck, DeckRun& run) {
  const PathScene scene = wholeSceneOf(deck, run.deckFolder);
  const PathBody& plain = scene.body;
  const DomainOf triangles("triangles", scene.tree.triangles);
  const DomainOf boxes("boxes", scene.tree.boxes);
  const DomainOf lights("lights", scene.lights);
  const std::int64_t samples = deck.integer("samples");
  const std::int64_t pixels = std::int64_t{plain.width} * plain.height;
  Sums image("image", {pixels, 1, 3}, 0x1p-36);
  Sums batches("batches", {3, PathBody::kBatches, 1}, 0x1p-30);
  Job job("path_tracer", {pixels, 1, samples});
  job.reads(triangles).reads(boxes).reads(lights);
  // The smallest pieces are far less than a row of a large picture: a thread that takes one near the end
  // keeps no GPU waiting.
  job.reduces(image).reduces(batches).callsInARow(4);
  job.cutAlong(0, std::clamp<std::int64_t>(pixels / 16384, 16, 4096));
  job.partition([&](const Box& units, PartList& parts) {
    parts.set(image, {{units.lo.i, 0, 0}, {units.hi.i, 1, 3}});
  });
  job.runs<PathBody>(pathKernels(), [&](const TaskData& task) {
    PathBody body = plain;
    body.scene.triangles = task.read(triangles);
    body.scene.boxes = task.read(boxes);
    body.scene.lights = task.read(lights);
    body.image = task.sums(image);
    body.batches = task.sums(batches);
    return body;
  });
  const JobReport report = run.runJob(job);
  const double paths = static_cast<double>(pixels) * static_cast<double>(samples);
  writeImage(image, plain, samples, run.folder / "image.png");
  return {meanOf("red", batches, 0, paths),
          meanOf("green", batches, 1, paths),
          meanOf("blue", batches, 2, paths),
          {"rays_per_path", static_cast<double>(report.calls) / paths},
          {"triangles", static_cast<double>(scene.tree.triangles.size())},
          {"paths_per_second", paths / report.seconds}};
}

}  // namespace

JobProgram pathProgram() { return {"path_tracer", &pathTable, &runPaths}; }

}  // namespace tessera::jobs
