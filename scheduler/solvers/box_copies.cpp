#include "scheduler/solvers/box_copies.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "core/text/contracts.hpp"
#include "grid/search/box_tree.hpp"
#include "scheduler/solvers/loops/piece_loops.hpp"
#include "scheduler/solvers/loops/solver_loops.hpp"

namespace tessera {
namespace {

/// No message of a plan is under way during a solve.
constexpr std::int64_t kCopyTag = 0;

template <class Visit>
void forEachRow(const Box& region, const Visit& visit) {
  for (std::int64_t k = region.lo.k; k < region.hi.k; ++k) {
    for (std::int64_t j = region.lo.j; j < region.hi.j; ++j) visit(Index{region.lo.i, j, k});
  }
}

/// For each box what all of its regions lie in.
std::vector<Box> boundsOf(const BoxRegions& regions) {
  std::vector<Box> bounds;
  for (const std::vector<Box>& ofBox : regions) {
    Box all;
    for (const Box& region : ofBox) {
      if (!region.empty()) all = all.empty() ? region : boundingBox(all, region);
    }
    bounds.push_back(all);
  }
  return bounds;
}

std::vector<std::size_t> numbersOfOwn(const GridBoxes& grid) {
  std::vector<std::size_t> numbers(grid.boxes.size(), 0);
  for (std::size_t n = 0; n < grid.own.size(); ++n) numbers[grid.own[n]] = n;
  return numbers;
}

template <bool kAdds>
void putRow(double* to, const void* from, std::int64_t count) {
  if constexpr (kAdds) {
    for (std::int64_t n = 0; n < count; ++n) {
      double number = 0.0;
      std::memcpy(&number, static_cast<const char*>(from) + n * std::int64_t{sizeof(double)}, sizeof(double));
      to[n] += number;
    }
  } else {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(double));
  }
}

}  // namespace

struct BoxCopies::Ends {
  const GridBoxes& fromGrid;
  const BoxRegions& given;
  const GridBoxes& toGrid;
  const BoxRegions& wanted;
};

BoxCopies::BoxCopies(const GridBoxes& fromGrid, const BoxRegions& given, const GridBoxes& toGrid,
                     const BoxRegions& wanted, Transport& transport)
    : transport_(transport),
      device_(toGrid.device),
      ownFrom_(numbersOfOwn(fromGrid)),
      ownTo_(numbersOfOwn(toGrid)) {
  TESSERA_EXPECT(fromGrid.device == toGrid.device, "copy numbers within one device, or on the host");
  addPieces({fromGrid, given, toGrid, wanted}, transport.rank());
  prepare(fromGrid, toGrid, transport.rank(), transport.size());
}

void BoxCopies::addPieces(const Ends& ends, Rank rank) {
  const std::vector<Box> giving = boundsOf(ends.given);
  const std::vector<Box> wanting = boundsOf(ends.wanted);
  const BoxTree ofGiving(giving);
  const BoxTree ofWanting(wanting);
  // Of each pair of boxes that touch, both ends look; a piece of two own boxes is taken where it goes to.
  const auto between = [&](std::size_t to, std::size_t from, Index step) {
    for (const Box& wanted : ends.wanted[to]) {
      for (const Box& given : ends.given[from]) {
        const Box region = intersect(wanted, shift(given, step));
        if (!region.empty()) pieces_.push_back({to, from, region, step});
      }
    }
  };
  for (const Index& step : ends.toGrid.images()) {
    for (const std::size_t to : ends.toGrid.own) {
      if (wanting[to].empty()) continue;
      ofGiving.visit(giving, shift(wanting[to], Index{} - step),
                     [&](std::size_t from) { between(to, from, step); });
    }
    for (const std::size_t from : ends.fromGrid.own) {
      if (giving[from].empty()) continue;
      ofWanting.visit(wanting, shift(giving[from], step), [&](std::size_t to) {
        if (ends.toGrid.owners[to] != rank) between(to, from, step);
      });
    }
  }
  const auto key = [](const Piece& p) {
    return std::tuple(p.to, p.from, p.region.lo.k, p.region.lo.j, p.region.lo.i, p.step.k, p.step.j,
                      p.step.i);
  };
  std::sort(pieces_.begin(), pieces_.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
}

void BoxCopies::prepare(const GridBoxes& fromGrid, const GridBoxes& toGrid, Rank rank, int ranks) {
  std::map<Rank, Part> sends;
  std::map<Rank, Part> receives;
  for (const Piece& piece : pieces_) {
    const Rank to = toGrid.owners[piece.to];
    const Rank from = fromGrid.owners[piece.from];
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
      part.numbers = static_cast<std::size_t>(numbers);
      if (device_ != nullptr) {
        part.onDevice = device_->allocate(part.numbers);
        part.pinned = device_->allocatePinned(part.numbers);
      }
      part.message = static_cast<std::int32_t>(list.size());
      list.push_back({way, peer, kCopyTag, numbers * static_cast<std::int64_t>(sizeof(double))});
      kept.push_back(std::move(part));
    }
  };
  add(sends, PreparedMessage::Direction::Send, sends_);
  add(receives, PreparedMessage::Direction::Receive, receives_);
  pieces_.clear();
  if (ranks > 1) messages_ = transport_.prepare(list);
}

template <bool kAdds>
void BoxCopies::bring(CellNumbers& from, CellNumbers& to) {
  if (device_ != nullptr) return bringOnDevice<kAdds>(from, to);
  const auto source = [&](const Piece& p, Index x) { return &from.field(ownFrom_[p.from])(x - p.step); };
  const auto target = [&](const Piece& p, Index x) { return &to.field(ownTo_[p.to])(x); };
  const auto bytes = [](const Box& region) {
    return static_cast<std::size_t>(region.extent().i) * sizeof(double);
  };
  if (!receives_.empty())
    messages_->start(receives_.front().message, static_cast<std::int32_t>(receives_.size()));
  for (const Part& part : sends_) {
    std::byte* packed = messages_->memory(part.message).data();
    for (const Piece& piece : part.pieces) {
      forEachRow(piece.region, [&](Index x) {
        std::memcpy(packed, source(piece, x), bytes(piece.region));
        packed += bytes(piece.region);
      });
    }
    messages_->start(part.message);
  }
  for (const Piece& piece : here_) {
    forEachRow(piece.region,
               [&](Index x) { putRow<kAdds>(target(piece, x), source(piece, x), piece.region.extent().i); });
  }
  std::size_t open = sends_.size() + receives_.size();
  if (open == 0) return;
  transport_.waitUntil([&] { return (open -= messages_->testSome().size()) == 0; });
  for (const Part& part : receives_) {
    const std::byte* packed = messages_->memory(part.message).data();
    for (const Piece& piece : part.pieces) {
      forEachRow(piece.region, [&](Index x) {
        putRow<kAdds>(target(piece, x), packed, piece.region.extent().i);
        packed += bytes(piece.region);
      });
    }
  }
}

/// Messages are packed and unpacked by kernels, and go by way of the host's memory. Without messages nothing
/// waits.
template <bool kAdds>
void BoxCopies::bringOnDevice(CellNumbers& from, CellNumbers& to) {
  const auto forEachPacked = [](Part& part, const auto& work) {
    double* packed = part.onDevice.get();
    for (const Piece& piece : part.pieces) {
      work(piece, packed);
      packed += piece.region.volume();
    }
  };
  if (!here_.empty() || !sends_.empty()) device_->nextPlace();
  for (Part& part : sends_) {
    forEachPacked(part, [&](const Piece& piece, double* packed) {
      solverLoop(device_, piece.region,
                 PackPiece{from.reads(ownFrom_[piece.from]), piece.step, piece.region, packed});
    });
  }
  for (const Piece& piece : here_) {
    solverLoop(device_, piece.region,
               BringPiece<kAdds>{from.field(ownFrom_[piece.from]), piece.step, to.field(ownTo_[piece.to])});
  }
  if (sends_.empty() && receives_.empty()) return;
  if (!receives_.empty())
    messages_->start(receives_.front().message, static_cast<std::int32_t>(receives_.size()));
  device_->launch();
  for (Part& part : sends_) device_->copyToHost(part.pinned.get(), part.onDevice.get(), part.numbers);
  device_->wait();
  for (Part& part : sends_) {
    std::memcpy(messages_->memory(part.message).data(), part.pinned.get(), part.numbers * sizeof(double));
    messages_->start(part.message);
  }
  std::size_t open = sends_.size() + receives_.size();
  transport_.waitUntil([&] { return (open -= messages_->testSome().size()) == 0; });
  device_->nextPlace();
  for (Part& part : receives_) {
    std::memcpy(part.pinned.get(), messages_->memory(part.message).data(), part.numbers * sizeof(double));
    device_->copyToDevice(part.onDevice.get(), part.pinned.get(), part.numbers);
    forEachPacked(part, [&](const Piece& piece, const double* packed) {
      solverLoop(device_, piece.region, UnpackPiece<kAdds>{packed, piece.region, to.field(ownTo_[piece.to])});
    });
  }
}

template void BoxCopies::bring<false>(CellNumbers& from, CellNumbers& to);
template void BoxCopies::bring<true>(CellNumbers& from, CellNumbers& to);

}  // namespace tessera
