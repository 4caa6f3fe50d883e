#include "simulation/world/process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "simulation/world/files.h"
#include "simulation/world/memory.h"
#include "simulation/world/reach.h"
#include "simulation/world/report.h"
#include "simulation/world/schedule.h"

enum { PAGE = 4096 };

/* A copy of the program, and what its variables were when it was loaded. */
struct copy {
    void (*main)(const struct role *role);
    void (**ends)(void); /* its destructors */
    size_t end_count;
    uint8_t *data;
    size_t data_size;
    uint8_t *first_data;
    uint8_t *tls;
    size_t tls_size;
    uint8_t first_tls[TLS_MAX];
    struct process *user;
};

static struct copy copies[COPIES_MAX];
static unsigned copy_count;
static int last_pid = 100;

/* ---- Loading. */

static void fail_load(const char *reason) {
    fprintf(stderr, "simulate: cannot load the program: %s\n", reason);
    exit(2);
}

/* glibc loads a file only once; another file with the same bytes is another object to it. */
static void *open_copy(const char *path) {
    struct stat st;
    char name[64];
    int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("program", MFD_CLOEXEC);
    if (from < 0 || to < 0 || fstat(from, &st)) fail_load(path);
    for (off_t left = st.st_size; left > 0;) {
        ssize_t size = sendfile(to, from, NULL, (size_t)left);
        if (size <= 0) fail_load(path);
        left -= size;
    }
    close(from);
    snprintf(name, sizeof name, "/proc/self/fd/%d", to);
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) fail_load(dlerror());
    return handle;
}

/* The variables are in the writable segment; its first pages may be protected after loading. */
static int find_segments(struct dl_phdr_info *info, size_t size, void *context) {
    struct copy *copy = context;
    (void)size;
    bool is_copy = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + header->p_vaddr;
        is_copy |= header->p_type == PT_LOAD && (uintptr_t)copy->main >= begin &&
                   (uintptr_t)copy->main < begin + header->p_memsz;
    }
    if (!is_copy) return 0;
    uintptr_t begin = 0, end = 0, protected_end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_TLS) copy->tls_size = header->p_memsz;
        if (header->p_type == PT_GNU_RELRO) protected_end = at + header->p_memsz;
        if (header->p_type == PT_LOAD && (header->p_flags & PF_W)) {
            begin = at;
            end = at + header->p_memsz;
        }
    }
    protected_end &= ~(uintptr_t)(PAGE - 1);
    if (begin < protected_end) begin = protected_end;
    copy->data = (uint8_t *)begin;
    copy->data_size = end - begin;
    return 1;
}

static struct link_map *find_link_map(void *handle) {
    struct link_map *map;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map)) fail_load("no link map");
    return map;
}

static void find_ends(struct copy *copy, void *handle) {
    struct link_map *map = find_link_map(handle);
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_FINI_ARRAY)
            copy->ends = (void (**)(void))(map->l_addr + entry->d_un.d_ptr);
        if (entry->d_tag == DT_FINI_ARRAYSZ)
            copy->end_count = entry->d_un.d_val / sizeof *copy->ends;
    }
}

static void load_copy(struct copy *copy, const char *path) {
    void *handle = open_copy(path);
    void (*touch)(void) = NULL;
    *(void **)&copy->main = dlsym(handle, "program_main");
    *(void **)&touch = dlsym(handle, "program_touch_tls");
    if (!copy->main || !touch) fail_load("it has no program_main");
    touch();
    dl_iterate_phdr(find_segments, copy);
    void *tls = NULL;
    if (dlinfo(handle, RTLD_DI_TLS_DATA, &tls) || copy->tls_size > TLS_MAX)
        fail_load("its thread-local variables cannot be found");
    copy->tls = tls;
    memcpy(copy->first_tls, copy->tls, copy->tls_size);
    find_ends(copy, handle);
    reach_add_copy(find_link_map(handle)->l_addr);
    copy->first_data = malloc(copy->data_size);
    if (!copy->first_data) fail_load("no memory");
    memcpy(copy->first_data, copy->data, copy->data_size);
}

void programs_load(const char *path, unsigned count) {
    for (copy_count = 0; copy_count < count; copy_count++) load_copy(&copies[copy_count], path);
}

/* ---- Thread-local variables. */

void process_init_tls(const struct process *process, uint8_t *tls) {
    memcpy(tls, copies[process->copy].first_tls, copies[process->copy].tls_size);
}

void process_save_tls(const struct process *process, uint8_t *tls) {
    memcpy(tls, copies[process->copy].tls, copies[process->copy].tls_size);
}

void process_load_tls(const struct process *process, const uint8_t *tls) {
    memcpy(copies[process->copy].tls, tls, copies[process->copy].tls_size);
}

/* ---- The life of a process. */

struct process *process_current(void) {
    const struct fiber *fiber = schedule_current();
    return fiber ? fiber->process : NULL;
}

/* The last one is the compiler's own, which must not run twice. */
static void run_ends(const struct copy *copy) {
    for (size_t i = copy->end_count; i > 1; i--) copy->ends[i - 1]();
}

/* A process that ends by itself has closed everything. */
static void check_left(const struct process *process) {
    size_t files = 0, blocks = memory_count(process);
    for (int i = 0; i < DESCRIPTORS_MAX; i++) files += process->descriptors[i] != NULL;
    if (files) run_fail("%s ends with %zu open files", process->name, files);
    if (process->map_count) run_fail("%s ends with %zu maps", process->name, process->map_count);
    if (blocks)
        run_fail("%s ends with %zu blocks of memory, one of them from %s", process->name, blocks,
                 memory_describe(process));
}

static void *run_process(void *context) {
    struct process *process = context;
    const struct copy *copy = &copies[process->copy];
    copy->main(&process->role);
    run_ends(copy);
    check_left(process);
    trace("ends");
    process->has_ended = true;
    schedule_end_process();
    return NULL;
}

/* Writes only to pages that were changed: a run has none of the others in memory of its own. */
static void reset_variables(const struct copy *copy) {
    for (size_t at = 0; at < copy->data_size; at += PAGE) {
        size_t size = copy->data_size - at < PAGE ? copy->data_size - at : PAGE;
        if (memcmp(copy->data + at, copy->first_data + at, size))
            memcpy(copy->data + at, copy->first_data + at, size);
    }
}

struct process *process_start(const char *name, const struct role *role) {
    unsigned copy = 0;
    while (copy < copy_count && copies[copy].user) copy++;
    if (copy == copy_count) run_fail("the world has no further copy of the program");
    struct process *process = calloc(1, sizeof *process);
    if (!process) run_fail("the world has no memory for a process");
    snprintf(process->name, sizeof process->name, "%s", name);
    process->pid = ++last_pid;
    process->copy = copy;
    process->role = *role;
    process->role.process = process;
    copies[copy].user = process;
    reset_variables(&copies[copy]);
    process->main = schedule_create(process, run_process, process);
    report->process_count++;
    trace("%s starts", process->name);
    return process;
}

static void take_back(struct process *process) {
    schedule_remove(process);
    for (int i = 0; i < DESCRIPTORS_MAX; i++)
        if (process->descriptors[i]) files_close(process, i);
    for (size_t i = 0; i < process->map_count; i++)
        munmap(process->maps[i].data, process->maps[i].size);
    process->map_count = 0;
    memory_free_all(process);
}

void process_kill(struct process *process) {
    trace("%s is killed", process->name);
    process->was_killed = process->has_ended = true;
    take_back(process);
}

void process_release(struct process *process) {
    take_back(process);
    copies[process->copy].user = NULL;
    free(process);
}
