#include <cstring>
#include <string>
#include <vector>

#include "core/text/error.hpp"
#include "scheduler/engine/engine.hpp"
#include "scheduler/engine/kinds/shipped.hpp"
#include "scheduler/engine/kinds_library.hpp"
#include "scheduler/engine/tessera_engine.h"

struct tessera_engine {
  tessera::engine::Engine engine;
};

namespace {

using namespace tessera::engine;
static_assert(sizeof(tessera_result) == sizeof(Finished));

std::string& lastError() {
  thread_local std::string text;
  return text;
}

int failed(int code, const char* text) {
  lastError() = text;
  return code;
}

/// Calls `body`; no exception leaves it, since the caller is C.
template <class Body>
auto guarded(const Body& body) -> decltype(body()) {
  using Value = decltype(body());
  try {
    return body();
  } catch (const tessera::Error& error) {
    return static_cast<Value>(
        failed(error.kind() == tessera::ErrorKind::Usage ? TESSERA_ENGINE_USAGE : TESSERA_ENGINE_FAILED,
               error.what()));
  } catch (const std::exception& error) {
    return static_cast<Value>(failed(TESSERA_ENGINE_FAILED, error.what()));
  }
}

void need(bool holds, const char* text) {
  if (!holds) throw tessera::UsageError(text);
}

EngineForm formOf(const std::string& name) {
  if (name == "threads") return EngineForm::Threads;
  if (name == "stepped") return EngineForm::Stepped;
  if (name == "cuda") return EngineForm::Cuda;
  throw tessera::UsageError("an engine's form is threads, stepped or cuda, not \"" + name + "\"");
}

}  // namespace

extern "C" {

int tessera_engine_setup(const char* form, int place, int64_t capacity, int64_t memory,
                         tessera_engine** engine) {
  const tessera_engine_options options{nullptr, place, 0, capacity, memory};
  return tessera_engine_setup_with(form, &options, engine);
}

int tessera_engine_setup_with(const char* form, const tessera_engine_options* given,
                              tessera_engine** engine) {
  return guarded([&] {
    need(form != nullptr && given != nullptr && engine != nullptr,
         "setup needs the name of a form, options, and a place for the engine");
    const Program& program = given->kinds != nullptr ? loadKinds(given->kinds) : shippedProgram();
    EngineOptions options;
    options.form = formOf(form);
    if (options.form == EngineForm::Cuda) options.device = given->place;
    if (options.form == EngineForm::Threads) options.threads = given->place;
    options.multiprocessors = given->multiprocessors;
    if (given->capacity != 0) options.capacity = given->capacity;
    if (given->memory != 0) options.memoryBytes = given->memory;
    *engine = new tessera_engine{Engine(program, options)};
    return static_cast<int>(TESSERA_ENGINE_OK);
  });
}

int tessera_engine_cleanup(tessera_engine* engine) {
  delete engine;
  return TESSERA_ENGINE_OK;
}

int tessera_engine_kind(tessera_engine* engine, const char* name) {
  return guarded([&] {
    need(engine != nullptr && name != nullptr, "kind needs an engine and a name");
    return static_cast<int>(engine->engine.program().numberOf(name));
  });
}

int64_t tessera_engine_push(tessera_engine* engine, int kind, const void* arguments, int64_t bytes,
                            int64_t count, const uint64_t* tags) {
  return guarded([&]() -> int64_t {
    need(engine != nullptr && arguments != nullptr && tags != nullptr && count >= 0,
         "push needs an engine, arguments, tags and a count that is not negative");
    const auto kinds = engine->engine.program().kinds;
    need(kind >= 0 && kind < static_cast<int>(kinds.size()),
         "push needs a kind that tessera_engine_kind returned");
    const KindInfo& info = kinds[static_cast<std::size_t>(kind)];
    if (bytes != info.argumentBytes) {
      throw tessera::UsageError(std::string("tasks of the kind ") + info.name + " have " +
                                std::to_string(info.argumentBytes) + " bytes of arguments, not " +
                                std::to_string(bytes));
    }
    const auto* from = static_cast<const std::byte*>(arguments);
    Task tasks[64];
    int64_t done = 0;
    while (done < count) {
      const auto part = static_cast<std::size_t>(count - done < 64 ? count - done : 64);
      for (std::size_t n = 0; n < part; ++n) {
        tasks[n].kind = static_cast<std::uint16_t>(kind);
        std::memcpy(tasks[n].arguments, from + (static_cast<std::size_t>(done) + n) * info.argumentBytes,
                    info.argumentBytes);
      }
      const int64_t taken = engine->engine.push({tasks, part}, {tags + done, part});
      done += taken;
      if (taken < static_cast<int64_t>(part)) break;
    }
    return done;
  });
}

int64_t tessera_engine_poll(tessera_engine* engine, tessera_result* results, int64_t most) {
  return guarded([&]() -> int64_t {
    need(engine != nullptr && results != nullptr && most >= 0, "poll needs an engine and room for results");
    Finished finished[64];
    int64_t count = 0;
    while (count < most) {
      const auto part = static_cast<std::size_t>(most - count < 64 ? most - count : 64);
      const int64_t got = engine->engine.poll({finished, part});
      if (got > 0)
        std::memcpy(results + count, finished, static_cast<std::size_t>(got) * sizeof(tessera_result));
      count += got;
      if (got < static_cast<int64_t>(part)) break;
    }
    return count;
  });
}

void* tessera_engine_allocate(tessera_engine* engine, int64_t bytes) {
  void* block = nullptr;
  guarded([&] {
    need(engine != nullptr, "allocate needs an engine");
    block = engine->engine.allocate(bytes);
    return 0;
  });
  return block;
}

int tessera_engine_free(tessera_engine* engine, void* block) {
  return guarded([&] {
    need(engine != nullptr, "free needs an engine");
    engine->engine.release(block);
    return 0;
  });
}

int tessera_engine_copy_in(tessera_engine* engine, void* to, const void* from, int64_t bytes) {
  return guarded([&] {
    need(engine != nullptr && to != nullptr && from != nullptr && bytes >= 0,
         "copy_in needs two places and a size");
    engine->engine.copyIn(to, from, bytes);
    return 0;
  });
}

int tessera_engine_copy_out(tessera_engine* engine, void* to, const void* from, int64_t bytes) {
  return guarded([&] {
    need(engine != nullptr && to != nullptr && from != nullptr && bytes >= 0,
         "copy_out needs two places and a size");
    engine->engine.copyOut(to, from, bytes);
    return 0;
  });
}

int tessera_engine_drain(tessera_engine* engine) {
  return guarded([&] {
    need(engine != nullptr, "drain needs an engine");
    engine->engine.drain();
    return 0;
  });
}

const char* tessera_engine_error(void) { return lastError().c_str(); }
}
