#include "viewer/browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

/* Without a display, xdg-open would start a browser in this terminal. */
static bool has_display(void) {
    return getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
}

/* Writes a file that only this user can read. */
static bool write_redirect(struct browser *browser, const char *url) {
    static const char suffix[] = ".html";
    const char *folder = getenv("XDG_RUNTIME_DIR");
    if (!folder || !*folder) folder = "/tmp";
    snprintf(browser->path, sizeof browser->path, "%s/recmap-view-XXXXXX%s", folder, suffix);
    int file = mkostemps(browser->path, sizeof suffix - 1, O_CLOEXEC);
    FILE *stream = file < 0 ? NULL : fdopen(file, "w");
    if (!stream) {
        if (file >= 0) close(file);
        return false;
    }
    fprintf(stream, "<!DOCTYPE html><meta http-equiv=\"refresh\" content=\"0; url=%s\">\n", url);
    bool is_failed = ferror(stream);
    return !fclose(stream) && !is_failed;
}

static bool start_browser(char *path) {
    char program[] = "xdg-open", *arguments[] = {program, path, NULL};
    posix_spawn_file_actions_t actions;
    pid_t process;
    if (posix_spawn_file_actions_init(&actions)) return false;
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(&process, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return !failed;
}

bool browser_open(struct browser *browser, const char *url) {
    browser->path[0] = 0;
    return has_display() && write_redirect(browser, url) && start_browser(browser->path);
}

void browser_close(struct browser *browser) {
    if (browser->path[0]) unlink(browser->path);
    browser->path[0] = 0;
}
