#include "tools/ensemble/ensemble_run.hpp"

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "core/text/error.hpp"
#include "core/text/json_number.hpp"
#include "scheduler/engine/kinds/shipped.hpp"
#include "tools/ensemble/long_tasks.hpp"
#include "tools/ensemble/replica_exchange.hpp"
#include "tools/ensemble/stage_run.hpp"

namespace tessera::ensemble {
namespace {

using Json = nlohmann::ordered_json;

/// Of this rank. Threads of the host come first: a GPU takes whatever there is.
std::vector<std::unique_ptr<engine::Engine>> enginesOf(const EnsembleRequest& request,
                                                       const Transport& transport) {
  std::vector<std::unique_ptr<engine::Engine>> engines;
  engine::EngineOptions options;
  options.capacity = 4096;
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  options.threads = request.threads > 0 ? request.threads : std::max(1, cores / transport.size());
  if (!request.cuda || request.threads > 0)
    engines.push_back(std::make_unique<engine::Engine>(engine::shippedProgram(), options));
  if (!request.cuda) return engines;
  options.form = engine::EngineForm::Cuda;
  options.device = transport.rank() % std::max(1, request.gpus);
  options.workspaceBytes = 16 * 1024;
  engines.push_back(std::make_unique<engine::Engine>(engine::shippedProgram(), options));
  return engines;
}

/// The folder, with a copy of the deck: what is in it belongs to that deck.
std::filesystem::path openFolder(const EnsembleRequest& request, const Deck& deck) {
  const std::filesystem::path folder =
      request.out.empty() ? std::filesystem::path(request.deck).stem() : std::filesystem::path(request.out);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::filesystem::path copy = folder / "deck.toml";
  std::ifstream before(copy, std::ios::binary);
  if (before) {
    std::stringstream text;
    text << before.rdbuf();
    if (text.str() == deck.text()) return folder;
    throw UsageError("the folder " + folder.string() +
                     " has results of another deck; name another one by --out, or remove it");
  }
  const std::filesystem::path next = folder / "deck.toml.next";
  std::ofstream(next, std::ios::binary) << deck.text();
  std::filesystem::rename(next, copy, error);
  if (error) {
    throw OutputError("cannot write to the folder " + folder.string() + "; name another one by --out");
  }
  return folder;
}

/// Runs the stages in the order of the deck; one whose predecessors have failed tasks is left out.
int runStages(const EnsemblePlan& plan, const std::filesystem::path& folder, engine::EngineTeam& team,
              Transport& transport, std::ostream& screen, bool quiet, Json& done) {
  const bool first = transport.rank() == 0;
  std::vector<bool> whole(plan.stages.size(), false);
  int exitCode = 0;
  for (std::size_t n = 0; n < plan.stages.size(); ++n) {
    const Stage& stage = plan.stages[n];
    const bool ready =
        std::all_of(stage.after.begin(), stage.after.end(), [&](std::size_t at) { return whole[at]; });
    if (!ready) {
      done.push_back({{"stage", stage.name}, {"tasks", stage.tasks()}, {"left_out", true}});
      if (first) screen << "stage " << stage.name << ": left out, since a stage before it has failed tasks\n";
      continue;
    }
    std::unique_ptr<StageResults> results;
    if (first) results = std::make_unique<StageResults>(folder, stage);
    const std::int64_t before = first ? results->doneCount() : 0;
    LongTasks longTasks(team);
    const auto show = [&](const StageOutcome& outcome) {
      longTasks.tell(outcome, screen);
      if (!quiet) {
        screen << "stage " << stage.name << ": " << outcome.done << " of " << stage.tasks() << " done, "
               << outcome.failed << " failed" << std::endl;
      }
    };
    const StageOutcome outcome = runStage(stage, plan.retries, results.get(), team, transport, show);
    whole[n] = outcome.failed == 0;
    if (!whole[n]) exitCode = static_cast<int>(ErrorKind::Numerical);
    if (!first) continue;
    results->finish();
    show(outcome);
    done.push_back({{"stage", stage.name},
                    {"tasks", stage.tasks()},
                    {"left_out", false},
                    {"done", outcome.done},
                    {"done_before", before},
                    {"failed", outcome.failed},
                    {"file", (folder / (stage.name + ".csv")).string()}});
    if (!quiet && before > 0) screen << "  " << before << " of them were done by an earlier run\n";
    if (outcome.failed == 0) continue;
    screen << "  tasks that have failed:";
    std::int64_t listed = 0;
    for (std::int64_t index = 0; index < stage.tasks() && listed < 20; ++index) {
      if (results->isDone(index)) continue;
      screen << ' ' << index;
      ++listed;
    }
    screen << (outcome.failed > listed ? " ..." : "")
           << "\n  run the same command again to run these alone\n";
  }
  return exitCode;
}

void show(const ReplicaExchangeReport& report, std::ostream& screen) {
  screen << "pair  ratio    acceptance  exact    sigmas\n" << std::fixed;
  for (std::size_t n = 0; n < report.pairs.size(); ++n) {
    const PairReport& pair = report.pairs[n];
    screen << std::setw(4) << n << std::setw(8) << std::setprecision(4) << pair.ratio << std::setw(12)
           << static_cast<double>(pair.accepted) /
                  static_cast<double>(std::max<std::int64_t>(1, pair.attempts))
           << std::setw(10) << pair.exact << std::setw(8) << std::setprecision(2) << pair.sigmas() << '\n';
  }
  for (const TemperatureReport& each : report.temperatures) {
    screen << "temperature " << std::setprecision(4) << each.temperature << ": mean potential "
           << each.meanPotential << ", exact " << each.exactMean << '\n';
  }
  screen << "round trips " << report.roundTrips << std::endl;
}

Json jsonOf(const ReplicaExchangeReport& report) {
  Json pairs = Json::array();
  for (const PairReport& pair : report.pairs) {
    pairs.push_back({{"ratio", jsonNumber<Json>(pair.ratio)},
                     {"attempts", pair.attempts},
                     {"accepted", pair.accepted},
                     {"exact", jsonNumber<Json>(pair.exact)},
                     {"sigmas", jsonNumber<Json>(pair.sigmas())}});
  }
  Json temperatures = Json::array();
  for (const TemperatureReport& each : report.temperatures) {
    temperatures.push_back({{"temperature", jsonNumber<Json>(each.temperature)},
                            {"mean_potential", jsonNumber<Json>(each.meanPotential)},
                            {"exact", jsonNumber<Json>(each.exactMean)}});
  }
  return {{"pairs", pairs}, {"temperatures", temperatures}, {"round_trips", report.roundTrips}};
}

void print(const Json& json, std::ostream& screen) {
  screen << json.dump(1, ' ', false, Json::error_handler_t::replace) << std::endl;
}

}  // namespace

void checkDeck(const std::string& name) {
  const Deck deck = Deck::fromFile(name);
  if (deck.find("replica_exchange") != nullptr) {
    static_cast<void>(readReplicaExchange(deck));
  } else {
    static_cast<void>(readPlan(deck));
  }
}

int runEnsemble(const EnsembleRequest& request, Transport& transport, std::ostream& screen) {
  const Deck deck = Deck::fromFile(request.deck);
  const bool exchange = deck.find("replica_exchange") != nullptr;
  const EnsemblePlan plan = exchange ? EnsemblePlan{} : readPlan(deck);
  const ReplicaExchangePlan ladder = exchange ? readReplicaExchange(deck) : ReplicaExchangePlan{};
  std::filesystem::path folder;
  if (transport.rank() == 0) folder = openFolder(request, deck);
  const auto engines = enginesOf(request, transport);
  if (!exchange) {
    std::vector<engine::Engine*> members;
    for (const auto& each : engines) members.push_back(each.get());
    engine::EngineTeam team(std::move(members));
    Json done = Json::array();
    const int exitCode =
        runStages(plan, folder, team, transport, request.json ? std::cerr : screen, request.quiet, done);
    if (request.json && transport.rank() == 0)
      print({{"folder", folder.string()}, {"exit_code", exitCode}, {"stages", done}}, screen);
    return exitCode;
  }
  const ReplicaExchangeReport report = runReplicaExchange(ladder, *engines.back(), transport);
  if (transport.rank() != 0) return 0;
  writeReport(report, folder);
  if (request.json) {
    print(jsonOf(report), screen);
  } else if (!request.quiet) {
    show(report, screen);
  }
  return 0;
}

}  // namespace tessera::ensemble
