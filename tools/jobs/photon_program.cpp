#include <algorithm>
#include <cmath>
#include <fstream>

#include "tools/jobs/job_program.hpp"
#include "tools/jobs/photon_body.hpp"
#include "tools/jobs/png_image.hpp"

namespace tessera::jobs {
namespace {

ParameterTable photonTable() {
  ParameterTable table("photons", "Photon transport with fluorescence in layered tissue (MCML); cm and 1/cm");
  table.integer("photons").doc("photon packets").range(1, 2e9).defaultsTo(100000);
  table.integer("seed").doc("of the random numbers").range(0, 1 << 30).defaultsTo(1);
  table.real("outside").doc("index of refraction above and below").range(0.5, 10).defaultsTo(1.0);
  table.integer("rings").doc("of the absorption map").range(1, 4096).defaultsTo(64);
  table.integer("bins").doc("of the absorption map, in depth").range(1, 4096).defaultsTo(64);
  table.real("radius")
      .unit("cm")
      .doc("of the absorption map; its last ring has all beyond")
      .above(0)
      .defaultsTo(0.1);
  table.real("depth")
      .unit("cm")
      .doc("of the absorption map; its last bin has all below")
      .above(0)
      .defaultsTo(0.1);
  ParameterTable& layer = table.arrayOf("layers", "from the top to the bottom, at most 8");
  layer.real("thickness").unit("cm").doc("of the layer; 1e9 for one without an end").above(0);
  layer.real("index").doc("of refraction").range(0.5, 10).defaultsTo(1.0);
  layer.real("absorbs").unit("1/cm").doc("absorption coefficient, fluorescence included").atLeast(0);
  layer.real("scatters").unit("1/cm").doc("scattering coefficient").atLeast(0);
  layer.real("cosine").doc("mean cosine of scattering").above(-1).below(1).defaultsTo(0.0);
  layer.real("fluoresces")
      .unit("1/cm")
      .doc("part of `absorbs` that is re-emitted")
      .atLeast(0)
      .defaultsTo(0.0);
  layer.real("emission_absorbs").unit("1/cm").doc("as absorbs, of fluorescence").atLeast(0).defaultsTo(0.0);
  layer.real("emission_scatters").unit("1/cm").doc("as scatters, of fluorescence").atLeast(0).defaultsTo(0.0);
  layer.real("emission_cosine").doc("as cosine, of fluorescence").above(-1).below(1).defaultsTo(0.0);
  layer.check([](const ParameterValues& deck, DeckDiagnostics& findings) {
    if (deck.real("fluoresces") > deck.real("absorbs"))
      findings.error(deck.where("fluoresces"), "fluoresces is a part of absorbs, so it is not larger");
  });
  table.check([](const ParameterValues& deck, DeckDiagnostics& findings) {
    const std::size_t count = deck.tables("layers").size();
    if (count < 1 || count > PhotonBody::kMostLayers)
      findings.error(deck.tableWhere(), "photons need 1 to 8 tables [[photons.layers]]");
  });
  return table;
}

PhotonBody bodyOf(const ParameterValues& deck) {
  PhotonBody body;
  double top = 0.0;
  for (const ParameterValues& layer : deck.tables("layers")) {
    TissueLayer& to = body.layers[body.count++];
    to.top = top;
    to.bottom = top += layer.real("thickness");
    to.index = layer.real("index");
    to.optics[0] = LayerOptics(layer.real("absorbs"), layer.real("scatters"), layer.real("cosine"));
    to.optics[1] = LayerOptics(layer.real("emission_absorbs"), layer.real("emission_scatters"),
                               layer.real("emission_cosine"));
    to.fluoresces = layer.real("fluoresces");
  }
  body.outside = deck.real("outside");
  const double r = (body.outside - body.layers[0].index) / (body.outside + body.layers[0].index);
  body.specular = r * r;
  body.seed = static_cast<std::uint32_t>(deck.integer("seed"));
  body.rings = deck.integer("rings");
  body.bins = deck.integer("bins");
  body.ringsPerLength = static_cast<double>(body.rings) / deck.real("radius");
  body.binsPerLength = static_cast<double>(body.bins) / deck.real("depth");
  return body;
}

/// A number a photon, and its standard deviation from that of the batches.
JobNumber numberOf(const std::string& name, const Sums& tallies, PhotonTally tally, std::int64_t photons) {
  constexpr auto kCount = static_cast<double>(PhotonBody::kBatches);
  double mean = 0.0;
  double squares = 0.0;
  for (std::int64_t batch = 0; batch < PhotonBody::kBatches; ++batch) {
    const std::int64_t inBatch = (photons - batch + PhotonBody::kBatches - 1) / PhotonBody::kBatches;
    const double each =
        tallies.value({tally, batch, 0}) / static_cast<double>(std::max<std::int64_t>(1, inBatch));
    mean += each / kCount;
    squares += each * each / kCount;
  }
  return {name, mean, std::sqrt(std::max(0.0, squares - mean * mean) / (kCount - 1.0))};
}

/// Absorbed energy a volume, and fluence where the layer absorbs, for one photon.
void writeMap(const PhotonBody& body, const Sums& absorption, std::int64_t photons,
              const std::filesystem::path& folder) {
  std::ofstream out(folder / "absorption.csv");
  out << "radius_cm,depth_cm,absorbed_per_cm3,fluence_per_cm2\n";
  PngImage image(body.rings, body.bins);
  PngImage fluenceImage(body.rings, body.bins);
  const double ringWidth = 1.0 / body.ringsPerLength;
  const double binDepth = 1.0 / body.binsPerLength;
  for (std::int64_t bin = 0; bin < body.bins; ++bin) {
    const double depth = (static_cast<double>(bin) + 0.5) * binDepth;
    int layer = 0;
    while (layer + 1 < body.count && depth > body.layers[layer].bottom) ++layer;
    for (std::int64_t ring = 0; ring < body.rings; ++ring) {
      const double radius = (static_cast<double>(ring) + 0.5) * ringWidth;
      const double volume = 2.0 * M_PI * radius * ringWidth * binDepth;
      const double density = absorption.value({ring, bin, 0}) / volume / static_cast<double>(photons);
      const double absorbs = body.layers[layer].optics[0].absorbs;
      const double fluence = absorbs > 0.0 ? density / absorbs : 0.0;
      out << radius << ',' << depth << ',' << density << ',' << fluence << '\n';
      fluenceImage.setGrey(ring, bin, 0.5 + 0.12 * std::log10(std::max(fluence, 1e-9)));
      image.setGrey(ring, bin, 0.5 + 0.12 * std::log10(std::max(density, 1e-9)));
    }
  }
  if (!out) throw OutputError("cannot write " + (folder / "absorption.csv").string());
  image.write(folder / "absorption.png");
  fluenceImage.write(folder / "fluence.png");
}

std::vector<JobNumber> runPhotons(const ParameterValues& deck, DeckRun& run) {
  const PhotonBody plain = bodyOf(deck);
  const std::int64_t photons = deck.integer("photons");
  Sums tallies("tallies", {kTallies, PhotonBody::kBatches, 1}, 0x1p-30);
  Sums absorption("absorption", {plain.rings, plain.bins, 1}, 0x1p-30);
  Job job("photons", {photons, 1, 1});
  job.reduces(tallies).reduces(absorption).cutAlong(0, std::clamp<std::int64_t>(photons / 1024, 1, 128));
  job.callsInARow(32);
  job.runs<PhotonBody>(photonKernels(), [&](const TaskData& task) {
    PhotonBody body = plain;
    body.tallies = task.sums(tallies);
    body.absorption = task.sums(absorption);
    return body;
  });
  // A packet pushes one of the other band at a time, and those push none: a stack holds them all.
  const JobReport report =
      run.runJob(job, {JobForm::Regular, JobForm::Consumer, JobForm::ConsumerProducer, JobForm::Wavefront});
  std::vector<JobNumber> numbers{{"specular", plain.specular, 0.0}};
  constexpr const char* kNames[] = {"diffuse",    "transmitted", "absorbed",  "fluorescence",
                                    "glow_above", "glow_below",  "reabsorbed"};
  for (int n = 0; n < kTallies; ++n)
    numbers.push_back(numberOf(kNames[n], tallies, static_cast<PhotonTally>(n), photons));
  numbers.push_back({"reflected", plain.specular + numbers[1].value, numbers[1].deviation});
  numbers.push_back({"photons_per_second", static_cast<double>(photons) / report.seconds, 0.0});
  writeMap(plain, absorption, photons, run.folder);
  return numbers;
}

}  // namespace

JobProgram photonProgram() { return {"photons", &photonTable, &runPhotons}; }

}  // namespace tessera::jobs
