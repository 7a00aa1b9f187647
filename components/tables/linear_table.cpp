#include "components/tables/linear_table.hpp"

#include <cmath>
#include <sstream>
#include <string>

#include "components/tables/table_lines.hpp"

namespace tessera {
namespace {

/// Distances that differ by less than this part are equal: places are written with some digits only.
constexpr double kSameDistance = 1e-6;

class FunctionReader {
 public:
  explicit FunctionReader(const std::filesystem::path& file)
      : lines_(file, "a line \"x value\" for each place") {}

  SampledFunction read() {
    for (std::string text; lines_.next(text);) add(text);
    if (places_.size() < 2)
      lines_.fault("it has fewer than two places", "give it two lines \"x value\" at least");
    function_.axis.first = places_.front();
    function_.axis.step = (places_.back() - places_.front()) / static_cast<double>(places_.size() - 1);
    return std::move(function_);
  }

 private:
  void add(const std::string& text) {
    std::istringstream numbers(text);
    double place = 0.0;
    double value = 0.0;
    std::string more;
    if (!(numbers >> place >> value) || (numbers >> more))
      lines_.fault("a line is not \"x value\"", "write two numbers, or '#' before a remark");
    if (!std::isfinite(place) || !std::isfinite(value))
      lines_.fault("a number is not finite", "write a finite one");
    if (!places_.empty() && !(place > places_.back()))
      lines_.fault("its places do not ascend", "sort the lines, each place once");
    places_.push_back(place);
    function_.values.push_back(value);
    if (places_.size() < 3) return;
    const double distance = place - places_[places_.size() - 2];
    const double usual = places_[1] - places_[0];
    if (std::abs(distance - usual) > kSameDistance * usual)
      lines_.fault("its places are not at equal distances", "write the function at equal distances");
  }

  TableLines lines_;
  std::vector<double> places_;
  SampledFunction function_;
};

}  // namespace

SampledFunction readSampledFunction(const std::filesystem::path& file) { return FunctionReader(file).read(); }

}  // namespace tessera
