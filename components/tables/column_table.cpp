#include "components/tables/column_table.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "components/tables/table_lines.hpp"

namespace tessera {
namespace {

class ColumnReader {
 public:
  explicit ColumnReader(const std::filesystem::path& file)
      : lines_(file, "a line of names, and lines of numbers below it") {}

  ColumnTable read() {
    for (std::string text; lines_.next(text);) {
      std::istringstream words(text);
      std::vector<std::string> all;
      for (std::string word; words >> word;) all.push_back(word);
      table_.names.empty() ? takeNames(all) : takeRow(all);
    }
    if (table_.rows.empty())
      lines_.fault("it has no numbers", "write a line of names, and lines of numbers below it");
    return std::move(table_);
  }

 private:
  void takeNames(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      const char first = word.front();
      if ((first < 'a' || first > 'z') && (first < 'A' || first > 'Z'))
        lines_.fault("its first line has a name that does not begin with a letter",
                     "give each column a name");
      if (std::find(table_.names.begin(), table_.names.end(), word) != table_.names.end())
        lines_.fault("two columns have one name", "give each column a name of its own");
      table_.names.push_back(word);
    }
  }
  void takeRow(const std::vector<std::string>& words) {
    if (words.size() != table_.names.size())
      lines_.fault("a line has not as many numbers as there are names", "write a number for each column");
    std::vector<double> row;
    for (const std::string& word : words) {
      std::istringstream text(word);
      double number = 0.0;
      char more = 0;
      if (!(text >> number) || (text >> more) || !std::isfinite(number))
        lines_.fault("a line has something that is no finite number", "write numbers such as 1.5e-3");
      row.push_back(number);
    }
    table_.rows.push_back(std::move(row));
    table_.lines.push_back(lines_.number());
  }

  TableLines lines_;
  ColumnTable table_;
};

}  // namespace

int ColumnTable::column(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

ColumnTable readColumnTable(const std::filesystem::path& file) { return ColumnReader(file).read(); }

}  // namespace tessera
