#include "scheduler/jobs/domain.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/text/error.hpp"

namespace tessera::jobs {

DomainBase::DomainBase(std::string name, Extent extent, std::int64_t elementBytes)
    : name_(std::move(name)), box_{{0, 0, 0}, extent}, elementBytes_(elementBytes) {
  if (box_.empty()) {
    throw UsageError(Message("the domain " + name_ + " has no elements")
                         .line("extent  ", asText(extent))
                         .line("fix     give each axis at least one element")
                         .text());
  }
  const auto bytes = static_cast<std::size_t>((this->bytes() + 4095) / 4096 * 4096);
  data_.reset(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{4096})));
  std::memset(data_.get(), 0, bytes);
}

Sums::Sums(std::string name, Extent extent, double resolution)
    : Domain<std::int64_t>(std::move(name), extent), resolution_(resolution) {
  int exponent = 0;
  if (!(resolution > 0.0) || std::frexp(resolution, &exponent) != 0.5) {
    throw UsageError("the sums " + this->name() +
                     " need a resolution that is a power of two, such as 0x1p-36");
  }
}

void Sums::clear() { std::ranges::fill(change(), std::int64_t{0}); }

void Sums::add(const Box& box, std::span<const std::int64_t> multiples) {
  std::size_t n = 0;
  for (std::int64_t k = box.lo.k; k < box.hi.k; ++k) {
    for (std::int64_t j = box.lo.j; j < box.hi.j; ++j) {
      for (std::int64_t i = box.lo.i; i < box.hi.i; ++i)
        *reinterpret_cast<std::int64_t*>(at({i, j, k})) += multiples[n++];
    }
  }
}

}  // namespace tessera::jobs
