/* recmap view: shows the records of a data set in a browser. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands/commands.h"
#include "terminal/interrupt.h"
#include "terminal/message.h"
#include "viewer/browser.h"
#include "viewer/server.h"
#include "viewer/viewer.h"

struct view_job {
    struct args args;
    uint64_t port; /* 0: any */
    bool has_browser;
};

/* The address is the first line of the output, for scripts; a message says how to stop. Ctrl-C is
 * ignored if a script started the command with &, because SIGINT then is. */
static recmap_status print_address(const char *url, const struct view *view, recmap_error *error) {
    if (printf("%s\n", url) < 0 || fflush(stdout))
        return message_fail_errno(error, "standard output", "write");
    char stop[48] = "Ctrl-C stops";
    if (interrupt_ignores_keyboard())
        snprintf(stop, sizeof stop, "'kill %ld' stops", (long)getpid());
    message("%s: showing %" PRIu64 " record%s; %s", view->path, view->count, plural(view->count),
            stop);
    return RECMAP_OK;
}

/* A browser in a sandbox, such as Firefox as a snap, cannot read the file that it is given, but
 * nothing tells this program. */
static void open_page(struct browser *browser, const char *url) {
    message(browser_open(browser, url)
                ? "if the browser shows an error, open the address above in it"
                : "no browser can be started here: open the address above in one");
}

static recmap_status serve(struct server *server, const struct view_job *job,
                           const struct view *view, recmap_error *error) {
    struct browser browser = {.path = ""};
    char url[128];
    snprintf(url, sizeof url, "http://127.0.0.1:%u/%s/", server->gate.port, server->gate.secret);
    RETURN_IF_FAILED(print_address(url, view, error));
    if (job->has_browser) open_page(&browser, url);
    recmap_status status = server_run(server, error);
    browser_close(&browser);
    return status;
}

static int run_view(struct viewer *viewer, const struct view_job *job) {
    recmap_error error = RECMAP_ERROR_INIT;
    struct server *server = calloc(1, sizeof *server);
    if (!server)
        return message_error(RECMAP_NO_MEMORY, NULL, NULL, "out of memory for the connections");
    interrupt_watch();
    server->answer = viewer_answer;
    server->continue_work = viewer_continue;
    server->context = viewer;
    recmap_status status = server_open(server, (unsigned)job->port, &error);
    if (status == RECMAP_OK) status = viewer_init(viewer, &error);
    if (status == RECMAP_OK) status = serve(server, job, &viewer->view, &error);
    server_close(server);
    free(server);
    return status == RECMAP_CANCELLED ? 0 : message_print(&error);
}

static int set_option(struct view_job *job, int option) {
    if (option == OPTION_NO_BROWSER) {
        job->has_browser = false;
        return 0;
    }
    return args_option_number(&job->args, UINT16_MAX, &job->port);
}

static int run(int argc, char **argv) {
    struct view_job job = {.has_browser = true};
    args_init(&job.args, &cmd_view, argc, argv);
    for (int option; (option = args_next(&job.args)) != ARGS_END;) {
        if (option == ARGS_STOP) return job.args.exit_status;
        int exit_status = set_option(&job, option);
        if (exit_status) return exit_status;
    }
    if (job.args.operand_count > 1)
        return args_usage_error(&job.args, "only one index can be given");
    struct viewer viewer = {.batch = NULL};
    int exit_status = view_open(&viewer.view, &job.args);
    if (!exit_status) exit_status = run_view(&viewer, &job);
    viewer_deinit(&viewer);
    return interrupt_finish(exit_status);
}

static const char help[] =
    "usage: recmap view [OPTION]... NAME.rmx|NAME.rmv|SHARDS\n"
    "\n"
    "Shows the records in a browser: a table that scrolls over all of them, each record with its\n"
    "features, pictures, sounds and bytes, filters over columns, shuffled epochs, and damage.\n"
    "Prints the address of the page, which contains a secret, and answers only this machine\n"
    "until Ctrl-C. Nothing is changed, and nothing from a record is run.\n" HELP_SHARDS;

const struct command cmd_view = {"view", "show the records in a browser", help, run};
