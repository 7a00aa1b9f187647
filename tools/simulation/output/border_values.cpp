#include "tools/simulation/output/border_values.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "datawarehouse/archive/field_output.hpp"

namespace tessera {
namespace {

/// A part of `to`'s values that `from` owns: `region` in the indices of `to`, found at region - `shift`.
struct Piece {
  const Patch* from;
  const Patch* to;
  Box region;
  Index shift;
};

/// Values of one patch over a box, `components` numbers an index.
struct Block {
  Box box;
  std::vector<double> values;
};

/// Calls `visit(from, at)` for each index of `region` with the positions of its first component in the two
/// blocks.
template <class Visit>
void forEachPair(const Box& region, Index shift, const Box& from, const Box& to, std::int64_t components,
                 Visit visit) {
  const auto place = [&](const Box& box, Index x) {
    const Extent n = box.extent();
    const Index r = x - box.lo;
    return static_cast<std::size_t>(((r.k * n.j + r.j) * n.i + r.i) * components);
  };
  for (std::int64_t k = region.lo.k; k < region.hi.k; ++k) {
    for (std::int64_t j = region.lo.j; j < region.hi.j; ++j) {
      for (std::int64_t i = region.lo.i; i < region.hi.i; ++i) {
        const Index x{i, j, k};
        visit(place(from, x - shift), place(to, x));
      }
    }
  }
}

/// The parts of `values` inside the domain and beyond its upper end, the latter with the way back to their
/// image.
std::vector<std::pair<Box, Index>> imagesOf(const Box& values, const Box& domain) {
  std::vector<std::pair<Box, Index>> parts{{values, Index{}}};
  for (int axis = 0; axis < kAxes; ++axis) {
    if (values.hi[axis] <= domain.hi[axis]) continue;
    std::vector<std::pair<Box, Index>> cut;
    for (auto [box, shift] : parts) {
      Box inside = box;
      inside.hi[axis] = domain.hi[axis];
      cut.emplace_back(inside, shift);
      box.lo[axis] = domain.hi[axis];
      shift[axis] = domain.extent()[axis];
      cut.emplace_back(box, shift);
    }
    parts = std::move(cut);
  }
  return parts;
}

std::vector<Piece> piecesOf(const Level& level, Centering centering) {
  std::vector<Piece> pieces;
  const Box domain = level.domainOf(centering);
  for (const Patch& to : level.patches()) {
    for (const auto& [part, image] : imagesOf(valueBox(to.cells, centering), domain)) {
      const Index by = image;
      const Box wanted = shift(part, Index{} - by);
      level.forEachOverlapping(grow(wanted, uniformHalo(1)), [&](const Patch& from) {
        const Box region = intersect(wanted, level.ownedBy(from, centering));
        if (!region.empty()) pieces.push_back({&from, &to, shift(region, by), by});
      });
    }
  }
  return pieces;
}

}  // namespace

std::vector<std::vector<double>> BorderValues::gather(
    const std::function<std::vector<double>(const Patch&)>& owned) const {
  const Rank me = transport.rank();
  const auto ownerOf = [&](const Patch* patch) { return owners[static_cast<std::size_t>(patch->id)]; };
  std::vector<Piece> pieces;
  std::map<PatchId, Block> have;
  std::map<PatchId, Block> result;
  for (const Level& level : hierarchy.levels()) {
    for (const Piece& piece : piecesOf(level, centering)) pieces.push_back(piece);
    for (const Patch& patch : level.patches()) {
      if (ownerOf(&patch) != me) continue;
      have[patch.id] = {level.ownedBy(patch, centering), owned(patch)};
      const Box box = valueBox(patch.cells, centering);
      // The upper borders of a refined region belong to no patch: there is no value there.
      result[patch.id] = {box, std::vector<double>(static_cast<std::size_t>(box.volume() * components),
                                                   std::numeric_limits<double>::quiet_NaN())};
    }
  }

  std::map<Rank, std::vector<double>> outgoing;
  std::map<Rank, std::vector<double>> incoming;
  const auto count = static_cast<std::size_t>(components);
  for (const Piece& piece : pieces) {
    const Rank source = ownerOf(piece.from);
    const Rank target = ownerOf(piece.to);
    if (source == me) {
      const Block& from = have[piece.from->id];
      std::vector<double>* message = target == me ? nullptr : &outgoing[target];
      double* to = target == me ? result[piece.to->id].values.data() : nullptr;
      const Box toBox = valueBox(piece.to->cells, centering);
      forEachPair(piece.region, piece.shift, from.box, toBox, components, [&](std::size_t f, std::size_t t) {
        if (to != nullptr)
          std::copy_n(from.values.data() + f, count, to + t);
        else
          message->insert(message->end(), from.values.data() + f, from.values.data() + f + count);
      });
    } else if (target == me) {
      std::vector<double>& message = incoming[source];
      message.resize(message.size() + static_cast<std::size_t>(piece.region.volume()) * count);
    }
  }

  std::vector<Transport::Request> requests;
  for (auto& [peer, message] : incoming) {
    requests.push_back(transport.receive(peer, 0, std::as_writable_bytes(std::span(message))));
  }
  for (const auto& [peer, message] : outgoing) {
    requests.push_back(transport.send(peer, 0, std::as_bytes(std::span(message))));
  }
  for (const Transport::Request request : requests) transport.wait(request);

  std::map<Rank, std::size_t> taken;
  for (const Piece& piece : pieces) {
    const Rank source = ownerOf(piece.from);
    if (source == me || ownerOf(piece.to) != me) continue;
    Block& to = result[piece.to->id];
    std::size_t& at = taken[source];
    forEachPair(piece.region, piece.shift, to.box, to.box, components, [&](std::size_t, std::size_t t) {
      std::copy_n(incoming[source].data() + at, count, to.values.data() + t);
      at += count;
    });
  }

  std::vector<std::vector<double>> values;
  for (auto& [id, block] : result) values.push_back(std::move(block.values));
  return values;
}

}  // namespace tessera
