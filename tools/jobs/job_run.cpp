#include "tools/jobs/job_run.hpp"

#include <cmath>
#include <iomanip>
#include <iostream>

#include "core/deck/schema.hpp"
#include "tools/jobs/job_program.hpp"
#include "tools/jobs/job_result.hpp"
#include "tools/jobs/job_trace.hpp"
#include "tools/jobs/pace_file.hpp"

namespace tessera::jobs {
namespace {

ParameterTable jobTable() {
  std::vector<std::string> names;
  for (const JobProgram& program : jobPrograms()) names.push_back(program.name);
  ParameterTable table("job", "An irregular data-parallel job: which program, and what is expected of it");
  table.choice("program", names).doc("which program runs").required();
  table.text("title").doc("for people").defaultsTo("");
  table.choice("form", formChoices())
      .doc("how units become threads; auto: the fastest on each device, by a short calibration")
      .defaultsTo("auto");
  table.text("paces")
      .doc("a file, from the current folder, that keeps rates of jobs on devices for later runs")
      .optional();
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
std::vector<ExpectedNumber> expectedOf(const JobNumber& number, const ParameterValues& job) {
  std::vector<ExpectedNumber> all;
  for (const ParameterValues& expect : job.tables("expect")) {
    if (expect.text("name") != number.name) continue;
    ExpectedNumber one{expect.real("value"),
                       std::hypot(expect.real("sigmas") * number.deviation, expect.real("accuracy")),
                       expect.boolean("at_most"), false};
    one.isRight = one.atMost ? number.value <= one.value : std::abs(number.value - one.value) <= one.room;
    all.push_back(one);
  }
  return all;
}

/// One line for each number.
void show(const JobResult& result, std::ostream& screen) {
  for (const auto& [number, expectations] : result.numbers) {
    screen << "  " << std::left << std::setw(20) << number.name << std::right << std::setw(14)
           << std::setprecision(7) << number.value;
    if (number.deviation > 0.0) screen << " +- " << std::setprecision(2) << number.deviation;
    for (const ExpectedNumber& expected : expectations) {
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
  const std::string paces = job.has("paces") ? job.text("paces") : "";
  if (!paces.empty()) readPaces(paces, runner.paces());
  if (!request.trace.empty()) runner.noteSpans();
  DeckRun run{runner, openFolder(request), std::filesystem::path(request.deck).parent_path(), {}, {}};
  const std::string form = request.form.empty() ? job.choice("form") : request.form;
  for (int n = 0; n < kForms; ++n) {
    if (form == formText(static_cast<JobForm>(n))) run.form = {static_cast<JobForm>(n)};
  }
  if (!request.quiet) {
    std::ostream& progress = request.json ? std::cerr : screen;
    run.show = [&progress, program, begun = secondsNow()](std::int64_t done, std::int64_t units) {
      progress << progressLine(program->name, done, units, secondsNow() - begun) << std::endl;
    };
  }
  const std::vector<JobNumber> numbers = program->run(valuesOf(deck, schema, program->name), run);
  expectKnown(numbers, job);
  JobResult result{program->name, job.text("title"), request.overrides, true, {}, run.totals};
  for (const JobNumber& number : numbers) {
    result.numbers.push_back({number, expectedOf(number, job)});
    for (const ExpectedNumber& expected : result.numbers.back().expected)
      result.isAsExpected = result.isAsExpected && expected.isRight;
  }
  const std::string text = asJson(result);
  writeText(std::string(deck.text()), run.folder / "deck.toml");
  writeText(text, run.folder / "result.json");
  if (!paces.empty()) writePaces(runner.paces(), paces);
  if (!request.trace.empty()) {
    const bool isUsual = request.trace == "true";
    writeJobTrace(runner.takeSpans(), runner.devices(),
                  isUsual ? run.folder / "trace.json.gz" : std::filesystem::path(request.trace));
  }
  if (request.json) {
    screen << text << std::flush;
  } else if (!request.quiet || !result.isAsExpected) {
    show(result, screen);
  }
  return result.isAsExpected ? 0 : static_cast<int>(ErrorKind::Numerical);
}

}  // namespace tessera::jobs
