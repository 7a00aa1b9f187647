#include "scheduler/solvers/layer_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "grid/search/box_tree.hpp"

namespace tessera {
namespace {

/// No message of a plan is under way during a solve.
constexpr std::int64_t kLayerTag = 0;

/// What of a grid's numbers the owner of a box has.
Box ownedPart(const GridBoxes& grid, const Box& box, LayerPart part) {
  return part == LayerPart::WithSides ? grid.withSides(box) : box;
}

/// The cells around a box that are wanted.
std::vector<Box> layerOf(const GridBoxes& grid, const Box& box, LayerPart part) {
  if (part != LayerPart::Faces) return subtract(grow(box, grid.layer()), ownedPart(grid, box, part));
  std::vector<Box> faces;
  for (int d = 0; d < kAxes; ++d) {
    if (!grid.active[static_cast<std::size_t>(d)]) continue;
    Box low = box;
    low.hi[d] = box.lo[d];
    --low.lo[d];
    Box high = box;
    high.lo[d] = box.hi[d];
    ++high.hi[d];
    faces.push_back(low);
    faces.push_back(high);
  }
  return faces;
}

template <class Visit>
void forEachRow(const Box& region, const Visit& visit) {
  for (std::int64_t k = region.lo.k; k < region.hi.k; ++k) {
    for (std::int64_t j = region.lo.j; j < region.hi.j; ++j) visit(Index{region.lo.i, j, k});
  }
}

}  // namespace

LayerExchange::LayerExchange(const GridBoxes& grid, LayerPart part, Transport& transport)
    : transport_(transport), ownOf_(grid.boxes.size(), 0) {
  for (std::size_t n = 0; n < grid.own.size(); ++n) ownOf_[grid.own[n]] = n;
  addPieces(grid, part, transport.rank());
  prepare(grid, transport.rank(), transport.size());
}

void LayerExchange::addPieces(const GridBoxes& grid, LayerPart part, Rank rank) {
  std::vector<Box> owned;
  for (const Box& box : grid.boxes) owned.push_back(ownedPart(grid, box, part));
  // An empty box wants the cells around it as well.
  std::vector<Box> reaches;
  for (const Box& box : owned) reaches.push_back(grow(box, grid.layer()));
  const BoxTree ofOwned(owned);
  const BoxTree ofReaches(reaches);
  const std::vector<Index> images = grid.images();
  // Of each pair of boxes that touch, both ends look; a piece of two own boxes is taken where it goes to.
  const auto between = [&](std::size_t to, std::size_t from, Index step) {
    for (const Box& wanted : layerOf(grid, grid.boxes[to], part)) {
      const Box region = intersect(wanted, shift(owned[from], step));
      if (!region.empty()) pieces_.push_back({to, from, region, step});
    }
  };
  for (const std::size_t own : grid.own) {
    for (const Index& step : images) {
      ofOwned.visit(owned, shift(reaches[own], Index{} - step),
                    [&](std::size_t other) { between(own, other, step); });
      ofReaches.visit(reaches, shift(owned[own], step), [&](std::size_t other) {
        if (grid.owners[other] != rank) between(other, own, step);
      });
    }
  }
  const auto key = [](const Piece& p) {
    return std::tuple(p.to, p.from, p.region.lo.k, p.region.lo.j, p.region.lo.i, p.step.k, p.step.j,
                      p.step.i);
  };
  std::sort(pieces_.begin(), pieces_.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
}

void LayerExchange::prepare(const GridBoxes& grid, Rank rank, int ranks) {
  std::map<Rank, Part> sends;
  std::map<Rank, Part> receives;
  for (const Piece& piece : pieces_) {
    const Rank to = grid.owners[piece.to];
    const Rank from = grid.owners[piece.from];
    if (to == from) {
      here_.push_back(piece);
    } else if (to == rank) {
      receives[from].pieces.push_back(piece);
    } else {
      sends[to].pieces.push_back(piece);
    }
  }
  std::vector<PreparedMessage> list;
  const auto add = [&](std::map<Rank, Part>& parts, PreparedMessage::Direction way, std::vector<Part>& kept) {
    for (auto& [peer, part] : parts) {
      std::int64_t numbers = 0;
      for (const Piece& piece : part.pieces) numbers += piece.region.volume();
      part.message = static_cast<std::int32_t>(list.size());
      list.push_back({way, peer, kLayerTag, numbers * static_cast<std::int64_t>(sizeof(double))});
      kept.push_back(std::move(part));
    }
  };
  add(sends, PreparedMessage::Direction::Send, sends_);
  add(receives, PreparedMessage::Direction::Receive, receives_);
  pieces_.clear();
  if (ranks > 1) messages_ = transport_.prepare(list);
}

void LayerExchange::fill(CellNumbers& numbers) {
  const auto address = [&](std::size_t box, Index x) { return &numbers.field(ownOf_[box])(x); };
  const auto bytes = [](const Box& region) {
    return static_cast<std::size_t>(region.extent().i) * sizeof(double);
  };
  if (!receives_.empty())
    messages_->start(receives_.front().message, static_cast<std::int32_t>(receives_.size()));
  for (const Part& part : sends_) {
    std::byte* to = messages_->memory(part.message).data();
    for (const Piece& piece : part.pieces) {
      forEachRow(piece.region, [&](Index x) {
        std::memcpy(to, address(piece.from, x - piece.step), bytes(piece.region));
        to += bytes(piece.region);
      });
    }
    messages_->start(part.message);
  }
  for (const Piece& piece : here_) {
    forEachRow(piece.region, [&](Index x) {
      std::memcpy(address(piece.to, x), address(piece.from, x - piece.step), bytes(piece.region));
    });
  }
  std::size_t open = sends_.size() + receives_.size();
  if (open == 0) return;
  transport_.waitUntil([&] { return (open -= messages_->testSome().size()) == 0; });
  for (const Part& part : receives_) {
    const std::byte* from = messages_->memory(part.message).data();
    for (const Piece& piece : part.pieces) {
      forEachRow(piece.region, [&](Index x) {
        std::memcpy(address(piece.to, x), from, bytes(piece.region));
        from += bytes(piece.region);
      });
    }
  }
}

}  // namespace tessera
