#include "components/tables/table_lines.hpp"

#include <sstream>

#include "core/text/error.hpp"

namespace tessera {

TableLines::TableLines(const std::filesystem::path& file, const char* content) : file_(file), in_(file) {
  if (!in_) {
    throw InputError(Message("the file of a table cannot be read")
                         .line("file  ", file_.string())
                         .line("fix   name a text file with ", content)
                         .text());
  }
}

bool TableLines::next(std::string& text) {
  while (std::getline(in_, text)) {
    ++number_;
    std::istringstream words(text);
    std::string first;
    if (words >> first && first.front() != '#') return true;
  }
  return false;
}

void TableLines::fault(const char* what, const char* fix) const {
  throw InputError(Message(std::string("a table cannot be read: ") + what)
                       .line("file  ", file_.string(), ":", number_)
                       .line("fix   ", fix)
                       .text());
}

}  // namespace tessera
