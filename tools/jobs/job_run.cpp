#include "tools/jobs/job_run.hpp"

#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>

#include <nlohmann/json.hpp>

#include "core/deck/schema.hpp"
#include "core/text/json_number.hpp"
#include "tools/jobs/job_program.hpp"

namespace tessera::jobs {
namespace {

using Json = nlohmann::ordered_json;

ParameterTable jobTable() {
  std::vector<std::string> names;
  for (const JobProgram& program : jobPrograms()) names.push_back(program.name);
  ParameterTable table("job", "An irregular data-parallel job: which program, and what is expected of it");
  table.choice("program", names).doc("which program runs").required();
  table.text("title").doc("for people").defaultsTo("");
  table.choice("form", formChoices())
      .doc("how units become threads; auto: as the program prefers")
      .defaultsTo("auto");
  ParameterTable& expect = table.arrayOf("expect", "a number of the result with its right value");
  expect.text("name").doc("of the number");
  expect.real("value").doc("the right one");
  expect.real("accuracy")
      .doc("of the right one, or what may be missing where the number is not random")
      .atLeast(0)
      .defaultsTo(0.0);
  expect.real("sigmas").doc("standard deviations that the number may be away").above(0).defaultsTo(3.0);
  expect.boolean("at_most").doc("the number may be anything up to the value").defaultsTo(false);
  return table;
}

/// The schema for the program that the deck names; where it names none, that of all, so that the error says
/// so.
Schema schemaOf(const Deck& deck) {
  Schema schema;
  schema.add(jobTable());
  const DeckNode* name = deck.find("job.program");
  for (const JobProgram& program : jobPrograms()) {
    const bool isIt = name != nullptr && name->kind == DeckKind::Text && name->text() == program.name;
    isIt ? schema.add(program.table()) : schema.addUnselected(program.table());
  }
  return schema;
}

Deck readDeck(const JobRequest& request) {
  Deck deck = Deck::fromFile(request.deck);
  for (const std::string& each : request.overrides) deck.set(each);
  check(deck, schemaOf(deck)).throwIfErrors();
  return deck;
}

/// What the deck expects of a number.
struct Expected {
  double value = 0.0;
  double room = 0.0;  ///< what the number may be away
  bool atMost = false;
  bool isRight = false;
};

std::vector<Expected> expectedOf(const JobNumber& number, const ParameterValues& job) {
  std::vector<Expected> all;
  for (const ParameterValues& expect : job.tables("expect")) {
    if (expect.text("name") != number.name) continue;
    Expected one{expect.real("value"),
                 std::hypot(expect.real("sigmas") * number.deviation, expect.real("accuracy")),
                 expect.boolean("at_most"), false};
    one.isRight = one.atMost ? number.value <= one.value : std::abs(number.value - one.value) <= one.room;
    all.push_back(one);
  }
  return all;
}

int wrongOnes(const std::vector<JobNumber>& numbers, const ParameterValues& job) {
  int wrong = 0;
  for (const JobNumber& number : numbers) {
    for (const Expected& expected : expectedOf(number, job)) wrong += expected.isRight ? 0 : 1;
  }
  return wrong;
}

/// One line for each number.
void show(const std::vector<JobNumber>& numbers, const ParameterValues& job, std::ostream& screen) {
  for (const JobNumber& number : numbers) {
    screen << "  " << std::left << std::setw(20) << number.name << std::right << std::setw(14)
           << std::setprecision(7) << number.value;
    if (number.deviation > 0.0) screen << " +- " << std::setprecision(2) << number.deviation;
    for (const Expected& expected : expectedOf(number, job)) {
      screen << "  expected " << std::setprecision(7) << (expected.atMost ? "at most " : "") << expected.value
             << (expected.isRight ? "" : "  NOT AS EXPECTED");
    }
    screen << '\n';
  }
}

void expectKnown(const std::vector<JobNumber>& numbers, const ParameterValues& job) {
  for (const ParameterValues& expect : job.tables("expect")) {
    bool isKnown = false;
    std::string names;
    for (const JobNumber& number : numbers) {
      isKnown = isKnown || number.name == expect.text("name");
      names += (names.empty() ? "" : ", ") + number.name;
    }
    if (!isKnown)
      throw DeckError("the deck expects a number '" + expect.text("name") + "', but the result has " + names);
  }
}

Json resultOf(const std::vector<JobNumber>& numbers, const std::string& program, const ParameterValues& job,
              const JobRequest& request) {
  Json json{{"program", program},
            {"title", job.text("title")},
            {"overrides", request.overrides},
            {"as_expected", wrongOnes(numbers, job) == 0},
            {"numbers", Json::object()}};
  for (const JobNumber& number : numbers) {
    Json& one = json["numbers"][number.name];
    one = {{"value", jsonNumber<Json>(number.value)}, {"deviation", jsonNumber<Json>(number.deviation)}};
    for (const Expected& expected : expectedOf(number, job)) {
      one["expected"].push_back({{"value", jsonNumber<Json>(expected.value)},
                                 {"room", jsonNumber<Json>(expected.room)},
                                 {"at_most", expected.atMost},
                                 {"as_expected", expected.isRight}});
    }
  }
  return json;
}

void writeFile(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  if (!out.flush()) throw OutputError("cannot write " + file.string() + "; name another folder by --out");
}

std::filesystem::path openFolder(const JobRequest& request) {
  const std::filesystem::path folder =
      request.out.empty() ? std::filesystem::path(request.deck).stem() : std::filesystem::path(request.out);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw OutputError("cannot make the folder " + folder.string() + "; name another one by --out");
  if (std::filesystem::exists(folder / "resolved.toml", error)) {
    throw OutputError("the folder " + folder.string() +
                      " is that of a run, and nothing in it is overwritten; name another one by --out");
  }
  return folder;
}

}  // namespace

std::vector<std::string> formChoices() {
  std::vector<std::string> choices{"auto"};
  for (int n = 0; n < kForms; ++n) choices.emplace_back(formText(static_cast<JobForm>(n)));
  return choices;
}

void checkJobDeck(const JobRequest& request) { static_cast<void>(readDeck(request)); }

int runJobDeck(const JobRequest& request, std::vector<std::unique_ptr<JobDevice>> devices,
               std::ostream& screen) {
  const Deck deck = readDeck(request);
  const Schema schema = schemaOf(deck);
  const ParameterValues job = valuesOf(deck, schema, "job");
  const auto program = std::ranges::find_if(
      jobPrograms(), [&](const JobProgram& each) { return each.name == job.choice("program"); });
  JobRunner runner(std::move(devices));
  DeckRun run{runner,
              openFolder(request),
              std::filesystem::path(request.deck).parent_path(),
              JobForm::Consumer,
              false,
              {}};
  const std::string form = request.form.empty() ? job.choice("form") : request.form;
  for (int n = 0; n < kForms; ++n) {
    if (form != formText(static_cast<JobForm>(n))) continue;
    run.form = static_cast<JobForm>(n);
    run.hasForm = true;
  }
  if (!request.quiet) {
    std::ostream& progress = request.json ? std::cerr : screen;
    run.show = [&progress, program](std::int64_t done, std::int64_t units) {
      progress << program->name << ": " << done << " of " << units << " units done" << std::endl;
    };
  }
  const std::vector<JobNumber> numbers = program->run(valuesOf(deck, schema, program->name), run);
  expectKnown(numbers, job);
  const int wrong = wrongOnes(numbers, job);
  const std::string result =
      resultOf(numbers, program->name, job, request).dump(2, ' ', false, Json::error_handler_t::replace) +
      "\n";
  writeFile(run.folder / "deck.toml", std::string(deck.text()));
  writeFile(run.folder / "result.json", result);
  if (request.json) {
    screen << result << std::flush;
  } else if (!request.quiet || wrong > 0) {
    show(numbers, job, screen);
  }
  return wrong > 0 ? static_cast<int>(ErrorKind::Numerical) : 0;
}

}  // namespace tessera::jobs
