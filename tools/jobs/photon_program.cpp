#include <algorithm>
#include <cmath>
#include <fstream>
#include <span>

#include "tools/jobs/job_program.hpp"
#include "tools/jobs/photon_body.hpp"
#include "tools/jobs/png_image.hpp"

namespace tessera::jobs {
namespace {

ParameterTable photonTable() {
  ParameterTable table("photons", "Photon transport with fluorescence in layered tissue (MCML); cm and 1/cm");
  table.integer("photons").doc("photon packets").range(1, 2e9).defaultsTo(100000);
  table.integer("seed").doc("of the random numbers").range(0, 1 << 30).defaultsTo(1);
  table.choice("precision", {"double", "float"})
      .doc("of places, directions and weights; what is counted is counted alike in both")
      .defaultsTo("double");
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
    if (count < 1 || count > PhotonBody<double>::kMostLayers)
      findings.error(deck.tableWhere(), "photons need 1 to 8 tables [[photons.layers]]");
  });
  return table;
}

double specularOf(const ParameterValues& deck) {
  const double outside = deck.real("outside");
  const double inside = deck.tables("layers").front().real("index");
  const double r = (outside - inside) / (outside + inside);
  return r * r;
}

template <class Real>
void setLayers(const ParameterValues& deck, std::span<TissueLayer<Real>> layers) {
  double top = 0.0;
  auto to = layers.begin();
  for (const ParameterValues& layer : deck.tables("layers")) {
    const double bottom = top + layer.real("thickness");
    const double absorbs = layer.real("absorbs");
    *to++ = {static_cast<Real>(top),
             static_cast<Real>(bottom),
             static_cast<Real>(layer.real("index")),
             static_cast<Real>(absorbs > 0.0 ? layer.real("fluoresces") / absorbs : 0.0),
             {LayerOptics<Real>(absorbs, layer.real("scatters"), layer.real("cosine")),
              LayerOptics<Real>(layer.real("emission_absorbs"), layer.real("emission_scatters"),
                                layer.real("emission_cosine"))}};
    top = bottom;
  }
}

template <class Real>
PhotonBody<Real> bodyOf(const ParameterValues& deck) {
  PhotonBody<Real> body;
  body.count = static_cast<int>(deck.tables("layers").size());
  body.outside = static_cast<Real>(deck.real("outside"));
  body.specular = static_cast<Real>(specularOf(deck));
  body.seed = static_cast<std::uint32_t>(deck.integer("seed"));
  body.rings = static_cast<std::int32_t>(deck.integer("rings"));
  body.bins = static_cast<std::int32_t>(deck.integer("bins"));
  body.ringsPerLength = static_cast<Real>(static_cast<double>(body.rings) / deck.real("radius"));
  body.binsPerLength = static_cast<Real>(static_cast<double>(body.bins) / deck.real("depth"));
  return body;
}

/// A number a photon, and its standard deviation from that of the batches.
JobNumber numberOf(const std::string& name, const Sums& tallies, PhotonTally tally, std::int64_t photons) {
  constexpr std::int64_t kBatches = PhotonBody<double>::kBatches;
  constexpr auto kCount = static_cast<double>(kBatches);
  double mean = 0.0;
  double squares = 0.0;
  for (std::int64_t batch = 0; batch < kBatches; ++batch) {
    const std::int64_t inBatch = (photons - batch + kBatches - 1) / kBatches;
    const double each =
        tallies.value({tally, batch, 0}) / static_cast<double>(std::max<std::int64_t>(1, inBatch));
    mean += each / kCount;
    squares += each * each / kCount;
  }
  return {name, mean, std::sqrt(std::max(0.0, squares - mean * mean) / (kCount - 1.0))};
}

/// Absorbed energy a volume, and fluence where the layer absorbs, for one photon.
void writeMap(const ParameterValues& deck, const Sums& absorption, const std::filesystem::path& folder) {
  std::ofstream out(folder / "absorption.csv");
  out << "radius_cm,depth_cm,absorbed_per_cm3,fluence_per_cm2\n";
  const std::int64_t rings = deck.integer("rings");
  const std::int64_t bins = deck.integer("bins");
  PngImage image(rings, bins);
  PngImage fluenceImage(rings, bins);
  const double ringWidth = deck.real("radius") / static_cast<double>(rings);
  const double binDepth = deck.real("depth") / static_cast<double>(bins);
  const auto photons = static_cast<double>(deck.integer("photons"));
  const auto& layers = deck.tables("layers");
  std::vector<TissueLayer<double>> tissue(layers.size());
  setLayers<double>(deck, tissue);
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    const double depth = (static_cast<double>(bin) + 0.5) * binDepth;
    std::size_t layer = 0;
    while (layer + 1 < tissue.size() && depth > tissue[layer].bottom) ++layer;
    for (std::int64_t ring = 0; ring < rings; ++ring) {
      const double radius = (static_cast<double>(ring) + 0.5) * ringWidth;
      const double volume = 2.0 * M_PI * radius * ringWidth * binDepth;
      const double density = absorption.value({bin * rings + ring, 0, 0}) / volume / photons;
      const double absorbs = tissue[layer].optics[0].absorbs;
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

/// Follows the photons of the deck; what they leave is added to both sums.
template <class Real>
JobReport follow(const ParameterValues& deck, DeckRun& run, const JobKernels& kernels, Sums& tallies,
                 Sums& absorption) {
  using Body = PhotonBody<Real>;
  const std::int64_t photons = deck.integer("photons");
  Domain<TissueLayer<Real>> layers("layers", {Body::kMostLayers, 1, 1});
  setLayers<Real>(deck, layers.change());
  const Body plain = bodyOf<Real>(deck);
  Job job("photons", {photons, 1, 1});
  job.reads(layers).reduces(tallies).reduces(absorption);
  job.cutAlong(0, std::clamp<std::int64_t>(photons / 1024, 1, 128)).callsInARow(32);
  job.runs<Body>(kernels, [&](const TaskData& task) {
    Body body = plain;
    body.layers = &task.read(layers)(0);
    body.tallies = task.sums(tallies);
    body.absorption = task.sums(absorption);
    return body;
  });
  // A packet pushes one of the other band at a time, and those push none: a stack holds them all.
  return run.runJob(job,
                    {JobForm::Regular, JobForm::Consumer, JobForm::ConsumerProducer, JobForm::Wavefront});
}

std::vector<JobNumber> runPhotons(const ParameterValues& deck, DeckRun& run) {
  using Body = PhotonBody<double>;
  const std::int64_t photons = deck.integer("photons");
  Sums tallies("tallies", {kTallies, Body::kBatches, 1}, Body::kResolution);
  Sums absorption("absorption", {deck.integer("rings") * deck.integer("bins"), 1, 1}, Body::kResolution);
  const JobReport report = deck.choice("precision") == "float"
                               ? follow<float>(deck, run, floatPhotonKernels(), tallies, absorption)
                               : follow<double>(deck, run, photonKernels(), tallies, absorption);
  const double specular = specularOf(deck);
  std::vector<JobNumber> numbers{{"specular", specular, 0.0}};
  constexpr const char* kNames[] = {"diffuse",    "transmitted", "absorbed",  "fluorescence",
                                    "glow_above", "glow_below",  "reabsorbed"};
  for (int n = 0; n < kTallies; ++n)
    numbers.push_back(numberOf(kNames[n], tallies, static_cast<PhotonTally>(n), photons));
  numbers.push_back({"reflected", specular + numbers[1].value, numbers[1].deviation});
  numbers.push_back({"photons_per_second", static_cast<double>(photons) / report.seconds, 0.0});
  writeMap(deck, absorption, run.folder);
  return numbers;
}

}  // namespace

JobProgram photonProgram() { return {"photons", &photonTable, &runPhotons}; }

}  // namespace tessera::jobs
