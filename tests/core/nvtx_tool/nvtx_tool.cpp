// A tool for NVTX that writes every range of a domain as a line into the file TESSERA_RECORD.PROCESS: the
// smallest thing that can tell what a profiler would see. Lines of several threads are whole; "push" and
// "pop" name the thread.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <nvtx3/nvToolsExt.h>
#include <string>
#include <unistd.h>

namespace {

std::FILE* record = nullptr;
std::mutex recordMutex;
std::atomic<nvtxRangeId_t> lastRange = 0;
std::deque<std::string> names;  ///< live as long as the process

const char* textOf(const nvtxEventAttributes_t* event) {
  return reinterpret_cast<const char*>(event->message.registered);
}

void line(const char* what, unsigned long long number, const nvtxEventAttributes_t* event) {
  const std::lock_guard lock(recordMutex);
  if (event == nullptr) {
    std::fprintf(record, "%s %llu\n", what, number);
  } else {
    std::fprintf(record, "%s %llu %s (%lld)\n", what, number, textOf(event),
                 static_cast<long long>(event->payload.llValue));
  }
  std::fflush(record);
}

unsigned long long thread() { return static_cast<unsigned long long>(gettid()); }

nvtxDomainHandle_t createDomain(const char* name) {
  const std::lock_guard lock(recordMutex);
  std::fprintf(record, "domain %s\n", name);
  return reinterpret_cast<nvtxDomainHandle_t>(new std::string(name));
}

void destroyDomain(nvtxDomainHandle_t domain) { delete reinterpret_cast<std::string*>(domain); }

nvtxStringHandle_t registerString(nvtxDomainHandle_t, const char* text) {
  const std::lock_guard lock(recordMutex);
  return reinterpret_cast<nvtxStringHandle_t>(names.emplace_back(text).data());
}

int push(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
  line("push", thread(), event);
  return 0;
}

int pop(nvtxDomainHandle_t) {
  line("pop", thread(), nullptr);
  return 0;
}

nvtxRangeId_t start(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
  const nvtxRangeId_t range = ++lastRange;
  line("start", range, event);
  return range;
}

void end(nvtxDomainHandle_t, nvtxRangeId_t range) { line("end", range, nullptr); }

}  // namespace

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t getExportTable) {
  const char* file = std::getenv("TESSERA_RECORD");
  if (file == nullptr) return 0;
  record = std::fopen((std::string(file) + "." + std::to_string(getpid())).c_str(), "w");
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(getExportTable(NVTX_ETID_CALLBACKS));
  if (record == nullptr || callbacks == nullptr) return 0;
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  const auto set = [&](NvtxCallbackIdCore2 id, auto function) {
    *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  };
  set(NVTX_CBID_CORE2_DomainCreateA, createDomain);
  set(NVTX_CBID_CORE2_DomainDestroy, destroyDomain);
  set(NVTX_CBID_CORE2_DomainRegisterStringA, registerString);
  set(NVTX_CBID_CORE2_DomainRangePushEx, push);
  set(NVTX_CBID_CORE2_DomainRangePop, pop);
  set(NVTX_CBID_CORE2_DomainRangeStartEx, start);
  set(NVTX_CBID_CORE2_DomainRangeEnd, end);
  return 1;
}
