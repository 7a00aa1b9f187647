#include "tests/core/transport_claims.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>

namespace tessera::claims {

namespace {

template <class T>
std::span<const std::byte> bytesOf(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

template <class T>
std::span<std::byte> writableBytesOf(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

void waitAll(Transport& t, std::vector<Transport::Request>& requests) {
  while (!requests.empty()) {
    std::erase_if(requests, [&](Transport::Request request) { return t.test(request); });
  }
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

void messageGoesAroundTheRing(Transport& t) {
  const int next = (t.rank() + 1) % t.size();
  const int previous = (t.rank() + t.size() - 1) % t.size();
  const std::vector<int> sent{t.rank(), 10 * t.rank()};
  std::vector<int> received(2);
  const auto receive = t.receive(previous, 5, writableBytesOf(received));
  const auto send = t.send(next, 5, bytesOf(sent));
  t.wait(receive);
  t.wait(send);
  require(received == std::vector{previous, 10 * previous}, "the ring hands on (rank, 10 rank)");
}

void messagesOfOneTagArriveInOrder(Transport& t) {
  constexpr int kMessages = 20;
  std::vector<std::vector<int>> received;
  std::vector<std::vector<int>> sent;
  std::vector<Transport::Request> requests;
  received.reserve(static_cast<std::size_t>(kMessages * t.size()));
  sent.reserve(static_cast<std::size_t>(kMessages * t.size()));
  for (int n = 0; n < kMessages; ++n) {
    for (int peer = 0; peer < t.size(); ++peer) {
      requests.push_back(t.receive(peer, 3, writableBytesOf(received.emplace_back(1))));
    }
  }
  for (int n = 0; n < kMessages; ++n) {
    for (int peer = 0; peer < t.size(); ++peer) {
      requests.push_back(t.send(peer, 3, bytesOf(sent.emplace_back(1, 1000 * t.rank() + n))));
    }
  }
  waitAll(t, requests);
  for (int n = 0; n < kMessages; ++n) {
    for (int peer = 0; peer < t.size(); ++peer) {
      const auto at = static_cast<std::size_t>(n * t.size() + peer);
      require(received[at].front() == 1000 * peer + n, "the n-th receive of a tag gets the n-th message");
    }
  }
}

void tagsAreIndependentAndGoUpToTheBound(Transport& t) {
  const int peer = t.size() - 1 - t.rank();
  const std::vector<std::int64_t> tags{0, 1, t.tagBound()};
  std::vector<std::vector<std::int64_t>> received(3, std::vector<std::int64_t>(1));
  std::vector<Transport::Request> requests;
  for (std::size_t n = 3; n-- > 0;) {
    requests.push_back(t.receive(peer, tags[n], writableBytesOf(received[n])));
  }
  std::vector<std::vector<std::int64_t>> sent;
  for (const std::int64_t tag : tags) sent.push_back({tag + 7});
  for (std::size_t n = 0; n < 3; ++n) requests.push_back(t.send(peer, tags[n], bytesOf(sent[n])));
  waitAll(t, requests);
  require(received == sent, "each tag brings its own message, whatever the order of the receives");
}

void messagesOfAnySizeArrive(Transport& t) {
  for (const std::size_t size : {0U, 1U, 999U, 1000U, 1001U, 2000U, 10'007U}) {
    const int peer = t.size() - 1 - t.rank();
    std::vector<std::uint8_t> sent(size);
    std::iota(sent.begin(), sent.end(), static_cast<std::uint8_t>(t.rank()));
    std::vector<std::uint8_t> expected(size);
    std::iota(expected.begin(), expected.end(), static_cast<std::uint8_t>(peer));
    std::vector<std::uint8_t> received(size);
    std::vector<Transport::Request> requests{t.receive(peer, 1, writableBytesOf(received)),
                                             t.send(peer, 1, bytesOf(sent))};
    waitAll(t, requests);
    require(received == expected, "a message of " + std::to_string(size) + " bytes arrives");
  }
}

void reductionsAreExact(Transport& t) {
  const double rank = t.rank();
  const double last = t.size() - 1;
  std::vector<double> low{rank, -rank, 0.5};
  std::vector<double> high = low;
  std::vector<std::int64_t> sum{1, t.rank(), (std::int64_t{1} << 60) / t.size()};
  const auto lowRequest = t.allReduceMin(low);
  const auto highRequest = t.allReduceMax(high);
  const auto sumRequest = t.allReduceSum(sum);
  t.wait(sumRequest);
  t.wait(lowRequest);
  t.wait(highRequest);
  require(low == std::vector{0.0, -last, 0.5}, "the minimum over the ranks");
  require(high == std::vector{last, 0.0, 0.5}, "the maximum over the ranks");
  const std::int64_t n = t.size();
  require(sum == std::vector{n, n * (n - 1) / 2, (std::int64_t{1} << 60) / n * n}, "the sum over the ranks");
}

void longAndEmptyReductionsWork(Transport& t) {
  std::vector<std::int64_t> values(2500);
  std::iota(values.begin(), values.end(), t.rank());
  t.wait(t.allReduceSum(values));
  const std::int64_t n = t.size();
  for (std::int64_t i = 0; i < std::ssize(values); ++i) {
    require(values[static_cast<std::size_t>(i)] == n * i + n * (n - 1) / 2, "each of 2500 values is summed");
  }
  t.wait(t.allReduceMin(std::span<double>{}));
}

void broadcastBringsTextsOfAnyLength(Transport& t, std::size_t longText) {
  for (int root = 0; root < t.size(); ++root) {
    for (const std::size_t length : {std::size_t{0}, std::size_t{5}, longText}) {
      const std::string expected(length, static_cast<char>('a' + root));
      std::string text = t.rank() == root ? expected : "something else";
      t.broadcast(text, root);
      require(text == expected, "a broadcast of " + std::to_string(length) + " bytes");
    }
  }
}

void gatherBringsEveryRanksText(Transport& t, std::size_t longText) {
  const auto textOf = [](int rank, std::size_t unit) {
    return std::string(static_cast<std::size_t>(rank) * unit, static_cast<char>('a' + rank));
  };
  for (const std::size_t unit : {std::size_t{0}, std::size_t{1}, longText}) {
    const int root = t.size() - 1;
    const auto all = t.gather(textOf(t.rank(), unit), root);
    if (t.rank() != root) {
      require(all.empty(), "ranks that are not the root get nothing");
      continue;
    }
    require(std::ssize(all) == t.size(), "the root gets one text a rank");
    for (int rank = 0; rank < t.size(); ++rank) {
      require(all[static_cast<std::size_t>(rank)] == textOf(rank, unit), "the texts come in rank order");
    }
  }
}

void messagesSentBeforeABarrierArriveAfterIt(Transport& t) {
  const std::vector<int> mark{t.rank()};
  const auto send = t.send(0, 9, bytesOf(mark));
  std::vector<std::vector<int>> received(static_cast<std::size_t>(t.rank() == 0 ? t.size() : 0),
                                         std::vector<int>(1));
  std::vector<Transport::Request> requests{send};
  for (std::size_t peer = 0; peer < received.size(); ++peer) {
    requests.push_back(t.receive(static_cast<int>(peer), 9, writableBytesOf(received[peer])));
  }
  t.barrier();
  waitAll(t, requests);
  for (std::size_t peer = 0; peer < received.size(); ++peer) {
    require(received[peer].front() == static_cast<int>(peer),
            "a message sent before a barrier arrives after it");
  }
}

void anotherSizeThanExpectedIsAnError(Transport& t) {
  const auto exchange = [&](std::size_t sentBytes, std::size_t expectedBytes) {
    const std::vector<std::uint8_t> sent(sentBytes);
    std::vector<std::uint8_t> received(expectedBytes);
    const auto receive = t.receive(t.rank(), 17, writableBytesOf(received));
    const auto send = t.send(t.rank(), 17, bytesOf(sent));
    const std::string text = internalErrorOf([&] { t.wait(receive); });
    t.wait(send);
    return text;
  };
  const std::string tooShort = exchange(8, 16);
  require(contains(tooShort, "tag 17") && contains(tooShort, "sent 8 bytes, expected 16 bytes"),
          "too short a message names its tag and both sizes, but: " + tooShort);
  const std::string tooLong = exchange(16, 8);
  require(contains(tooLong, "tag 17") && contains(tooLong, "expected 8 bytes"),
          "too long a message names its tag and what was expected, but: " + tooLong);
}

void wrongPeersAndTagsAreErrors(Transport& t) {
  std::vector<std::uint8_t> bytes(1);
  const auto sendTo = [&](int peer, std::int64_t tag) {
    return internalErrorOf([&] { t.send(peer, tag, bytesOf(bytes)); });
  };
  require(contains(sendTo(t.size(), 0), "peer " + std::to_string(t.size())),
          "a rank that is not there is named");
  require(contains(sendTo(0, t.tagBound() + 1), std::to_string(t.tagBound() + 1)),
          "too large a tag is named");
  require(contains(internalErrorOf([&] { t.receive(0, -1, writableBytesOf(bytes)); }), "tag  -1"),
          "a negative tag is named");
}

void aRequestIsGoneOnceItIsComplete(Transport& t) {
  std::vector<double> value{1.0};
  const auto request = t.allReduceMin(value);
  t.wait(request);
  internalErrorOf([&] { t.test(request); });
  const auto other = t.allReduceMin(value);
  require(other != request, "a new request is not mistaken for an old one");
  t.wait(other);
}

void fillUp(std::span<std::byte> bytes, int first) {
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    bytes[n] = static_cast<std::byte>(first + static_cast<int>(n));
  }
}

/// Each round of a ring with other values, and with messages of several sizes under one tag.
void preparedMessagesGoAgainAndAgain(Transport& t) {
  const int next = (t.rank() + 1) % t.size();
  const int previous = (t.rank() + t.size() - 1) % t.size();
  const std::vector<std::int64_t> sizes{3, 0, 5000, 1};
  std::vector<PreparedMessage> wanted;
  for (const std::int64_t size : sizes) wanted.push_back({PreparedMessage::Direction::Send, next, 4, size});
  for (const std::int64_t size : sizes)
    wanted.push_back({PreparedMessage::Direction::Receive, previous, 4, size});
  const auto count = static_cast<std::int32_t>(sizes.size());
  const auto messages = t.prepare(wanted);
  require(messages->testSome().empty(), "what was not started does not complete");
  for (int round = 0; round < 5; ++round) {
    messages->start(count, count);
    for (std::int32_t n = 0; n < count; ++n) {
      fillUp(messages->memory(n), 100 * t.rank() + round);
      messages->start(n);
    }
    std::vector<int> seen(wanted.size(), 0);
    for (std::size_t open = wanted.size(); open > 0;) {
      for (const std::int32_t n : messages->testSome()) {
        ++seen[static_cast<std::size_t>(n)];
        --open;
      }
    }
    require(seen == std::vector<int>(wanted.size(), 1), "each started message completes once");
    for (std::int32_t n = 0; n < count; ++n) {
      const std::span<const std::byte> received = messages->memory(count + n);
      std::vector<std::byte> expected(static_cast<std::size_t>(sizes[static_cast<std::size_t>(n)]));
      fillUp(expected, 100 * previous + round);
      require(std::ranges::equal(received, expected), "a prepared message brings the bytes of its round");
    }
  }
}

/// A message to itself, so that one rank is enough.
void preparedMessagesLieInTheirTwoPlacesInTurns(Transport& t) {
  const std::vector<PreparedMessage> wanted{{PreparedMessage::Direction::Send, t.rank(), 6, 100},
                                            {PreparedMessage::Direction::Receive, t.rank(), 6, 100}};
  const auto messages = t.prepare(wanted);
  const auto isInPages = [pages = messages->pages()](std::span<std::byte> bytes) {
    return std::ranges::any_of(pages, [&](std::span<std::byte> p) {
      return p.data() <= bytes.data() && bytes.data() + bytes.size() <= p.data() + p.size();
    });
  };
  for (std::int64_t start = 1; start <= 4; ++start) {
    for (const std::int32_t n : {0, 1}) {
      const std::span<std::byte> place = messages->place(n, start);
      require(place.size() == 100 && isInPages(place), "a message lies in the pages that are told");
      require(place.data() == messages->place(n, start + 2).data(), "the places of a message take turns");
    }
    messages->start(1);
    require(messages->memory(0).data() == messages->place(0, start).data(), "a send is packed in its place");
    messages->start(0);
    for (std::size_t open = wanted.size(); open > 0;) open -= messages->testSome().size();
    require(messages->memory(1).data() == messages->place(1, start).data(), "what comes lies in its place");
  }
}

void aPreparedMessageOfAnotherSizeIsAnError(Transport& t) {
  for (const std::int64_t expected : {16, 4}) {
    std::vector<std::uint8_t> sent(8);
    const std::vector<PreparedMessage> wanted{{PreparedMessage::Direction::Receive, t.rank(), 18, expected}};
    const auto messages = t.prepare(wanted);
    messages->start(0);
    const auto send = t.send(t.rank(), 18, bytesOf(sent));
    const std::string text = internalErrorOf([&] {
      while (messages->testSome().empty()) {
      }
    });
    t.wait(send);
    require(contains(text, "tag 18") && contains(text, "expected " + std::to_string(expected) + " bytes"),
            "a prepared receive names its tag and what was expected, but: " + text);
  }
}

void preparedMessagesToWrongPeersAreErrors(Transport& t) {
  const std::vector<PreparedMessage> wanted{{PreparedMessage::Direction::Send, t.size(), 0, 1}};
  const std::string text = internalErrorOf([&] { t.prepare(wanted)->start(0); });
  require(contains(text, "peer " + std::to_string(t.size())), "a rank that is not there is named");
}

}  // namespace

std::vector<Claim> all(std::size_t longText) {
  return {{"MessageGoesAroundTheRing", messageGoesAroundTheRing},
          {"MessagesOfOneTagArriveInOrder", messagesOfOneTagArriveInOrder},
          {"TagsAreIndependentAndGoUpToTheBound", tagsAreIndependentAndGoUpToTheBound},
          {"MessagesOfAnySizeArrive", messagesOfAnySizeArrive},
          {"ReductionsAreExact", reductionsAreExact},
          {"LongAndEmptyReductionsWork", longAndEmptyReductionsWork},
          {"BroadcastBringsTextsOfAnyLength",
           [=](Transport& t) { broadcastBringsTextsOfAnyLength(t, longText); }},
          {"GatherBringsEveryRanksText", [=](Transport& t) { gatherBringsEveryRanksText(t, longText); }},
          {"MessagesSentBeforeABarrierArriveAfterIt", messagesSentBeforeABarrierArriveAfterIt},
          {"AnotherSizeThanExpectedIsAnError", anotherSizeThanExpectedIsAnError},
          {"WrongPeersAndTagsAreErrors", wrongPeersAndTagsAreErrors},
          {"ARequestIsGoneOnceItIsComplete", aRequestIsGoneOnceItIsComplete},
          {"PreparedMessagesGoAgainAndAgain", preparedMessagesGoAgainAndAgain},
          {"PreparedMessagesLieInTheirTwoPlacesInTurns", preparedMessagesLieInTheirTwoPlacesInTurns},
          {"APreparedMessageOfAnotherSizeIsAnError", aPreparedMessageOfAnotherSizeIsAnError},
          {"PreparedMessagesToWrongPeersAreErrors", preparedMessagesToWrongPeersAreErrors}};
}

}  // namespace tessera::claims
