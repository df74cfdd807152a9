/* A driver's library with two GPUs that are made up, for tests of what reads NVML.
 *
 * It has the names, numbers and structures of NVML's public interface
 * (https://docs.nvidia.com/deploy/nvml-api/) and nothing of NVIDIA's code. What it says is set by
 * flags of the compiler and, so that it can change while it is read, by a file of `key=value`
 * lines that the variable STUB_NVML names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef unsigned long long u64;
typedef struct { int number; int uninitialised; } device_t;
typedef struct { u64 total, free, used; } memory_t;
typedef struct { unsigned version; u64 total, reserved, free, used; } memory_v2_t;
typedef struct { unsigned gpu, memory; } utilization_t;
typedef struct { unsigned pid; u64 used; unsigned gpu_instance, compute_instance; } process_t;
typedef struct { void *device; u64 type, data; unsigned gpu_instance, compute_instance; } event_t;

enum { OK = 0, UNINITIALISED = 1, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, SMALL = 7,
       TIMEOUT = 10, VERSION = 25 };
#define GIB (1024ULL * 1024 * 1024)

static device_t gpus[2] = {{0, 0}, {1, 0}};
static device_t instances[2] = {{10, 0}, {11, 0}};
static int initialised = 0, registered = 0, reported = 0, event_set = 0;

/* The value of a key in the file, or what is given. */
static long setting(const char *key, long otherwise) {
  const char *path = getenv("STUB_NVML");
  FILE *file = path ? fopen(path, "r") : NULL;
  char line[256];
  size_t length = strlen(key);
  long value = otherwise;
  if (!file) return otherwise;
  while (fgets(line, sizeof line, file))
    if (!strncmp(line, key, length) && line[length] == '=') value = atol(line + length + 1);
  fclose(file);
  return value;
}

/* Never returns; a file beside the one it is told by, with the ending `.hangs`, says that it hangs. */
static void hang(void) {
  char path[4096];
  const char *told = getenv("STUB_NVML");
  FILE *sign = NULL;
  if (told && snprintf(path, sizeof path, "%s.hangs", told) < (int)sizeof path)
    sign = fopen(path, "w");
  if (sign) fclose(sign);
  for (;;) pause();
}

static int number_of(void *device) { return ((device_t *)device)->number; }

/* What a call on a GPU is refused with before anything else, if it is. */
static int refused(void *device, const char *what) {
  char key[64];
  if (!initialised) return UNINITIALISED;
  if (setting("hang", 0)) hang();
  snprintf(key, sizeof key, "gpu%d", number_of(device) % 10);
  long whole = setting(key, 0);
  return whole ? (int)whole : (int)setting(what, 0);
}

#ifndef WITHOUT_INIT
int nvmlInitWithFlags(unsigned flags) {
  long code = setting("init", 0);
  (void)flags;
  if (code) return (int)code;
  initialised++;
  return OK;
}
#endif
int nvmlShutdown(void) {
  if (!initialised) return UNINITIALISED;
  if (!--initialised) registered = 0;
  return OK;
}
int nvmlSystemGetDriverVersion(char *text, unsigned length) {
  snprintf(text, length, "580.65.06");
  return OK;
}
int nvmlSystemGetNVMLVersion(char *text, unsigned length) {
  snprintf(text, length, "13.580.65.06");
  return OK;
}
int nvmlDeviceGetCount_v2(unsigned *count) {
  if (!initialised) return UNINITIALISED;
  *count = (unsigned)setting("count", 2);
  return (int)setting("counting", 0);
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
  unsigned first = (unsigned)setting("first", 0);
  char key[64];
  if (!initialised) return UNINITIALISED;
  if (index + first > 1) return INVALID;
  snprintf(key, sizeof key, "handle%u", index + first);
  if (setting(key, 0)) return (int)setting(key, 0);
  *device = &gpus[index + first];
  return OK;
}
int nvmlDeviceGetName(void *device, char *text, unsigned length) {
  int code = refused(device, "name");
  if (code) return code;
  if (setting("name_bytes", 0)) { snprintf(text, length, "\xff\xfe"); return OK; }
  if (number_of(device) >= 10) snprintf(text, length, "Stub S100 80GB MIG 1g.10gb");
  else snprintf(text, length, "Stub S100 80GB");
  return OK;
}
int nvmlDeviceGetUUID(void *device, char *text, unsigned length) {
  int code = refused(device, "uuid");
  if (code) return code;
  snprintf(text, length, "GPU-00000000-0000-0000-0000-00000000000%d", number_of(device));
  return OK;
}
int nvmlDeviceGetMemoryInfo(void *device, memory_t *memory) {
  int code = refused(device, "memory1");
  if (code) return code;
  memory->total = 80 * GIB;
  memory->used = 61 * GIB;
  memory->free = 19 * GIB;
  return OK;
}
#ifndef WITHOUT_MEMORY_V2
int nvmlDeviceGetMemoryInfo_v2(void *device, memory_v2_t *memory) {
  int code = refused(device, "memory");
  if (code) return code;
  if (memory->version != (sizeof(memory_v2_t) | (2u << 24))) return VERSION;
  int part = number_of(device) >= 10;
  memory->total = (part ? 10 : 80) * GIB;
  memory->reserved = part ? 0 : GIB;
  memory->used = (part ? 4 : 60) * GIB;
  memory->free = (part ? 6 : 19) * GIB;
  return OK;
}
#endif
#ifndef WITHOUT_UTILIZATION
int nvmlDeviceGetUtilizationRates(void *device, utilization_t *rates) {
  int code = refused(device, "utilization");
  if (code) return code;
  rates->gpu = 75;
  rates->memory = 40;
  return OK;
}
#endif
static int processes(void *device, unsigned *count, process_t *found) {
  int code = refused(device, "processes");
  if (code) return code;
  unsigned there = number_of(device) == 0 ? 3 : (unsigned)setting("processes1", 0);
  if (!there) { *count = 0; return OK; }
  if (!found || *count < there) { *count = there; return SMALL; }
  for (unsigned i = 0; i < there; i++) {
    found[i].pid = 4242 + i;
    found[i].used = i == 1 && setting("untold", 0) ? ~0ULL : (i ? 1 : 50) * GIB;
    found[i].gpu_instance = found[i].compute_instance = ~0u;
  }
  *count = there;
  return OK;
}
#ifndef WITHOUT_PROCESSES_V3
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process_t *found) {
  return processes(device, count, found);
}
#endif
int nvmlDeviceGetComputeRunningProcesses_v2(void *device, unsigned *count, process_t *found) {
  return processes(device, count, found);
}
int nvmlSystemGetProcessName(unsigned pid, char *text, unsigned length) {
  if (pid == 4242) snprintf(text, length, "sglang::scheduler_TP0");
  else if (pid == 4243) snprintf(text, length, "/usr/bin/python3 -m serve --api-key sk-planted0123456789");
  else return NOT_FOUND;
  return OK;
}
int nvmlDeviceGetTotalEccErrors(void *device, int type, int counter, u64 *count) {
  int code = refused(device, type ? "ecc_uncorrected" : "ecc");
  if (code) return code;
  if (counter != 0) return INVALID;
  *count = type ? (u64)setting("uncorrected", 0) : 7;
  return OK;
}
int nvmlDeviceGetRemappedRows(void *device, unsigned *corrected, unsigned *uncorrected,
                              unsigned *pending, unsigned *failure) {
  int code = refused(device, "rows");
  if (code) return code;
  *corrected = 2;
  *uncorrected = 1;
  *pending = (unsigned)setting("pending", 0);
  *failure = (unsigned)setting("failure", 0);
  return OK;
}
int nvmlDeviceGetRetiredPages(void *device, int cause, unsigned *count, u64 *pages) {
  int code = refused(device, "pages");
  unsigned there = cause ? 1 : 0;
  if (code) return code;
  if (pages) { if (*count < there) return SMALL; if (there) pages[0] = 0x1000; }
  *count = there;
  return !pages && there ? SMALL : OK;
}
int nvmlDeviceGetMigMode(void *device, unsigned *current, unsigned *pending) {
  int code = refused(device, "mig");
  if (code) return code;
  *current = *pending = (unsigned)setting("divided", -1);
  return setting("divided", -1) < 0 ? NOT_SUPPORTED : OK;
}
int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *count) {
  int code = refused(device, "mig");
  if (code) return code;
  *count = 7;
  return OK;
}
int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **part) {
  int code = refused(device, "mig");
  if (code) return code;
  if (index > 1) return NOT_FOUND;
  *part = &instances[index];
  return OK;
}
int nvmlEventSetCreate(void **set) {
  long code = setting("events", 0);
  *set = &event_set;
  return code ? (int)code : OK;
}
int nvmlEventSetFree(void *set) { (void)set; registered = 0; return OK; }
int nvmlDeviceRegisterEvents(void *device, u64 types, void *set) {
  int code = refused(device, "registering");
  (void)set;
  if (code) return code;
  if (types != 8) return INVALID;
  registered |= 1 << number_of(device);
  return OK;
}
/* As many events as the file asks for, of GPU 1; then nothing until the time is over. */
int nvmlEventSetWait_v2(void *set, event_t *event, unsigned milliseconds) {
  long code = setting("waiting", 0);
  (void)set;
  if (code) return (int)code;
  if (registered & 2 && reported < setting("xids", 0)) {
    reported++;
    memset(event, 0, sizeof *event);
    event->device = &gpus[1];
    event->type = 8;
    event->data = (u64)setting("xid", 79);
    return OK;
  }
  struct timespec pause = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000L};
  nanosleep(&pause, NULL);
  return TIMEOUT;
}
