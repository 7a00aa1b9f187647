#include "components/lowmach/state_table.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "components/tables/column_table.hpp"
#include "core/text/error.hpp"

namespace tessera {
namespace {

constexpr std::array kStateColumns{"mixture_fraction", "enthalpy",      "density",
                                   "temperature",      "heat_capacity", "absorption"};

class StateTableReader {
 public:
  explicit StateTableReader(const std::filesystem::path& file) : file_(file), table_(readColumnTable(file)) {}

  StateTable read() {
    for (const std::string& name : table_.names) {
      if (std::find(kStateColumns.begin(), kStateColumns.end(), name) == kStateColumns.end())
        fault(0, "it has a column \"" + name + "\"",
              "name columns mixture_fraction, enthalpy, density, temperature, heat_capacity or absorption");
    }
    if (table_.column("mixture_fraction") < 0 || table_.column("density") < 0)
      fault(0, "it has no column \"mixture_fraction\" or none \"density\"", "give both");
    countPlaces();
    checkGrid();
    StateTable state;
    state.shape = {mixtures_, heats_};
    for (std::int64_t i = 0; i < mixtures_; ++i) state.numbers.push_back(number(i, "mixture_fraction"));
    for (std::int64_t j = 0; j < heats_; ++j) state.numbers.push_back(enthalpy(j * mixtures_));
    for (std::int64_t n = 0; n < mixtures_ * heats_; ++n) {
      const double density = number(n, "density");
      if (!(density > 0.0)) fault(n, "a density is not above 0", "give densities above 0");
      state.numbers.push_back(1.0 / density);
    }
    for (const char* name : {"temperature", "heat_capacity", "absorption"}) {
      for (std::int64_t n = 0; n < mixtures_ * heats_; ++n)
        state.numbers.push_back(table_.column(name) < 0 ? 0.0 : number(n, name));
    }
    state.has = {table_.column("temperature") >= 0, table_.column("heat_capacity") >= 0,
                 table_.column("absorption") >= 0};
    return state;
  }

 private:
  double number(std::int64_t row, const char* name) const {
    return table_.rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(table_.column(name))];
  }
  double enthalpy(std::int64_t row) const {
    return table_.column("enthalpy") < 0 ? 0.0 : number(row, "enthalpy");
  }
  std::int64_t rows() const { return static_cast<std::int64_t>(table_.rows.size()); }

  /// A block ends where the enthalpy changes.
  void countPlaces() {
    mixtures_ = 1;
    while (mixtures_ < rows() && enthalpy(mixtures_) == enthalpy(0)) ++mixtures_;
    heats_ = (rows() + mixtures_ - 1) / mixtures_;
    if (mixtures_ < 2)
      fault(0, "it has fewer than two mixture fractions of one enthalpy",
            "give each block two lines or more");
    if (table_.column("enthalpy") >= 0 && heats_ < 2)
      fault(0, "it has one enthalpy only", "give blocks of two enthalpies or more, or leave out that column");
  }
  void checkGrid() const {
    for (std::int64_t n = 0; n < rows(); ++n) {
      const std::int64_t i = n % mixtures_;
      if (i > 0 && enthalpy(n) != enthalpy(n - 1))
        fault(n, "a block has fewer lines than the first one",
              "give each enthalpy the same mixture fractions");
      if (i == 0 && n > 0 && !(enthalpy(n) > enthalpy(n - 1)))
        fault(n, "its enthalpies do not ascend", "sort the blocks, each enthalpy once");
      if (i > 0 && !(number(n, "mixture_fraction") > number(n - 1, "mixture_fraction")))
        fault(n, "its mixture fractions do not ascend",
              "sort the lines of a block, each mixture fraction once");
      if (number(n, "mixture_fraction") != number(i, "mixture_fraction"))
        fault(n, "a block has other mixture fractions than the first one",
              "give each enthalpy the same mixture fractions");
    }
    if (rows() != mixtures_ * heats_)
      fault(rows() - 1, "its last block is too short", "give each enthalpy the same mixture fractions");
  }
  [[noreturn]] void fault(std::int64_t row, const std::string& what, const char* fix) const {
    throw InputError(Message("a state relation cannot be read: " + what)
                         .line("file  ", file_.string(), ":", table_.lines[static_cast<std::size_t>(row)])
                         .line("fix   ", fix)
                         .text());
  }

  const std::filesystem::path& file_;
  ColumnTable table_;
  std::int64_t mixtures_ = 0;
  std::int64_t heats_ = 1;
};

}  // namespace

StateTable readStateTable(const std::filesystem::path& file) { return StateTableReader(file).read(); }

}  // namespace tessera
