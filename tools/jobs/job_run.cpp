#include "tools/jobs/job_run.hpp"

#include <charconv>
#include <cmath>
#include <fstream>
#include <iomanip>

#include "core/deck/schema.hpp"
#include "tools/jobs/job_program.hpp"

namespace tessera::jobs {
namespace {

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

std::string shortest(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

/// One line for each number; how many are not as expected.
int compare(const std::vector<JobNumber>& numbers, const ParameterValues& job, std::ostream* screen) {
  int wrong = 0;
  for (const JobNumber& number : numbers) {
    if (screen != nullptr) {
      *screen << "  " << std::left << std::setw(20) << number.name << std::right << std::setw(14)
              << std::setprecision(7) << number.value;
      if (number.deviation > 0.0) *screen << " +- " << std::setprecision(2) << number.deviation;
    }
    for (const ParameterValues& expect : job.tables("expect")) {
      if (expect.text("name") != number.name) continue;
      const double value = expect.real("value");
      const double room = std::hypot(expect.real("sigmas") * number.deviation, expect.real("accuracy"));
      const bool isRight =
          expect.boolean("at_most") ? number.value <= value : std::abs(number.value - value) <= room;
      if (!isRight) ++wrong;
      if (screen == nullptr) continue;
      *screen << "  expected " << std::setprecision(7) << (expect.boolean("at_most") ? "at most " : "")
              << value << (isRight ? "" : "  NOT AS EXPECTED");
    }
    if (screen != nullptr) *screen << '\n';
  }
  return wrong;
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

void writeResult(const std::vector<JobNumber>& numbers, const std::string& program, int wrong,
                 const std::filesystem::path& file) {
  std::ofstream out(file);
  out << "{\n  \"program\": \"" << program << "\",\n  \"as_expected\": " << (wrong == 0 ? "true" : "false")
      << ",\n  \"numbers\": {";
  const char* separator = "\n";
  for (const JobNumber& number : numbers) {
    out << separator << "    \"" << number.name << "\": {\"value\": " << shortest(number.value)
        << ", \"deviation\": " << shortest(number.deviation) << '}';
    separator = ",\n";
  }
  out << "\n  }\n}\n";
  if (!out.flush()) throw OutputError("cannot write " + file.string() + "; name another folder by --out");
}

std::filesystem::path openFolder(const JobRequest& request) {
  const std::filesystem::path folder =
      request.out.empty() ? std::filesystem::path(request.deck).stem() : std::filesystem::path(request.out);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw OutputError("cannot make the folder " + folder.string() + "; name another one by --out");
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
  DeckRun run{runner, openFolder(request), JobForm::Consumer, false, {}};
  const std::string form = request.form.empty() ? job.choice("form") : request.form;
  for (int n = 0; n < kForms; ++n) {
    if (form != formText(static_cast<JobForm>(n))) continue;
    run.form = static_cast<JobForm>(n);
    run.hasForm = true;
  }
  if (!request.quiet) {
    run.show = [&](std::int64_t done, std::int64_t units) {
      screen << program->name << ": " << done << " of " << units << " units done" << std::endl;
    };
  }
  const std::vector<JobNumber> numbers = program->run(valuesOf(deck, schema, program->name), run);
  expectKnown(numbers, job);
  const int wrong = compare(numbers, job, request.quiet ? nullptr : &screen);
  writeResult(numbers, program->name, wrong, run.folder / "result.json");
  if (wrong > 0 && request.quiet) static_cast<void>(compare(numbers, job, &screen));
  return wrong > 0 ? static_cast<int>(ErrorKind::Numerical) : 0;
}

}  // namespace tessera::jobs
