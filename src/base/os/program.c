#include "base/os/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/core/interrupt.h"
#include "base/os/process.h"

#define NS_PER_MS 1000000ull

enum { TICK_MS = 20, REAP_TICKS = 50 };

struct program {
    struct program_result *result;
    char *output;
    size_t capacity;
    pid_t process;
    int fd;           /* the end of the pipe that is read */
    bool is_finished; /* the other end was closed */
};

/* The pipe is put in place first, because it may have the number of a standard file. */
static bool add_files(posix_spawn_file_actions_t *files, int output) {
    return !posix_spawn_file_actions_adddup2(files, output, STDOUT_FILENO) &&
           !posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0) &&
           !posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
}

/* The threads of this library block signals, and Python ignores SIGPIPE and SIGXFSZ: the program
 * does neither. It gets a group of its own, so that what it starts can be killed with it. */
static bool set_attributes(posix_spawnattr_t *attributes) {
    static const int signals[] = {SIGPIPE, SIGXFSZ, SIGCHLD};
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaddset(&usual, signals[i]);
    return !posix_spawnattr_setpgroup(attributes, 0) &&
           !posix_spawnattr_setsigmask(attributes, &none) &&
           !posix_spawnattr_setsigdefault(attributes, &usual) &&
           !posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                     POSIX_SPAWN_SETSIGDEF);
}

/* Returns an errno, or 0. */
static int spawn(pid_t *process, int output, const char *const *arguments) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int code = ENOMEM;
    if (posix_spawn_file_actions_init(&files)) return ENOMEM;
    if (!posix_spawnattr_init(&attributes)) {
        if (add_files(&files, output) && set_attributes(&attributes))
            code = posix_spawnp(process, arguments[0], &files, &attributes,
                                (char *const *)arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return code;
}

static int start(struct program *program, const char *const *arguments) {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC)) return errno;
    int code = fcntl(fds[0], F_SETFL, O_NONBLOCK) ? errno : 0;
    if (!code) code = spawn(&program->process, fds[1], arguments);
    close(fds[1]);
    if (code) close(fds[0]);
    else program->fd = fds[0];
    return code;
}

/* Returns whether the program has ended. If the caller of the library ignores SIGCHLD, or waits for
 * all processes itself, the exit status is unknown; as in Python, it counts as 0. */
static bool has_ended(struct program_result *result, const struct program *program) {
    int status = 0;
    pid_t process = waitpid(program->process, &status, WNOHANG);
    if (!process || (process < 0 && errno == EINTR)) return false;
    if (process < 0) status = 0;
    bool is_killed = WIFSIGNALED(status);
    result->end = is_killed ? PROGRAM_KILLED : PROGRAM_EXITED;
    result->code = is_killed ? WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}

/* Reads what is in the pipe. Returns false if it is too much. */
static bool read_output(struct program *program) {
    struct program_result *result = program->result;
    while (!program->is_finished && result->size < program->capacity) {
        ssize_t size =
            read(program->fd, program->output + result->size, program->capacity - result->size);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno == EAGAIN) return true;
        program->is_finished = size <= 0;
        if (size > 0) result->size += (size_t)size;
    }
    return result->size < program->capacity;
}

/* The kernel may not let this process kill one of another user, such as sudo. So its end is not
 * waited for without limit. */
static void stop(const struct program *program) {
    struct program_result ignored;
    kill(-program->process, SIGKILL);
    for (int i = 0; i < REAP_TICKS && !has_ended(&ignored, program); i++)
        sleep_ns(TICK_MS * NS_PER_MS);
}

/* Reads the output until the program has ended. Each round first asks whether it has, and then
 * reads, so that the last round reads all that is left. It does not wait for the end of the pipe,
 * which another process may keep open. */
static recmap_status follow(struct program *program, uint64_t timeout_ns, recmap_error *error) {
    uint64_t begun_ns = clock_ns();
    for (;;) {
        bool is_over = has_ended(program->result, program);
        if (!read_output(program)) program->result->end = PROGRAM_TOO_LONG;
        if (is_over) return RECMAP_OK;
        if (program->result->end == PROGRAM_TOO_LONG) break;
        if (clock_ns() - begun_ns >= timeout_ns) {
            program->result->end = PROGRAM_TOO_SLOW;
            break;
        }
        if (!interrupt_continues(thread_interrupt(), INTERRUPT_WORK)) {
            stop(program);
            return interrupt_fail(error);
        }
        struct pollfd wait = {.fd = program->is_finished ? -1 : program->fd, .events = POLLIN};
        poll(&wait, 1, TICK_MS);
    }
    stop(program);
    return RECMAP_OK;
}

recmap_status program_run(struct program_result *result, char *output, size_t capacity,
                          const char *const *arguments, uint64_t timeout_ns, recmap_error *error) {
    struct program program = {.result = result, .output = output, .capacity = capacity};
    *result = (struct program_result){.end = PROGRAM_EXITED};
    int code = start(&program, arguments);
    if (code) {
        *result = (struct program_result){.end = PROGRAM_NOT_STARTED, .code = code};
        return RECMAP_OK;
    }
    recmap_status status = follow(&program, timeout_ns, error);
    close(program.fd);
    return status;
}
