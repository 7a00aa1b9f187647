#pragma once

#include <cstddef>

#include "datawarehouse/field.hpp"

namespace tessera {

/// Piecewise constant prolongation: each fine index of `region` takes the value of the coarse index that it
/// lies in (cells) or starts from (nodes, faces). `to` holds fine indices; `from` holds coarse ones of the
/// image of the domain that lies `shift` fine indices away.
void fillFromCoarser(std::byte* to, const Layout& toLayout, const std::byte* from, const Layout& fromLayout,
                     const Box& region, Index shift, Extent ratio, std::int64_t elementBytes);

}  // namespace tessera
