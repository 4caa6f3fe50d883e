/* recmap cache: lists or clears a cache of remote shards. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <recmap/cache.h>

#include "commands/commands.h"
#include "terminal/message.h"

#define NS_PER_S 1000000000ll

enum { OPTION_CLEAR = ARGS_LONG, OPTION_JSON };

static const struct option options[] = {{"clear", no_argument, NULL, OPTION_CLEAR},
                                        {"json", no_argument, NULL, OPTION_JSON},
                                        {NULL, 0, NULL, 0}};

struct totals {
    uint64_t count;
    uint64_t cached_size;
};

static void count_object(struct totals *totals, const recmap_cache_object *object) {
    totals->count++;
    totals->cached_size += object->cached_size;
}

static void print_bytes(uint64_t bytes) {
    char text[HUMAN_SIZE];
    printf("%10s", human_bytes(text, (double)bytes));
}

static int print_line(void *context, const recmap_cache_object *object) {
    time_t seconds = object->used_ns / NS_PER_S;
    struct tm day = {0};
    if (localtime_r(&seconds, &day) == NULL) seconds = 0;
    count_object(context, object);
    print_bytes(object->cached_size);
    fputs(" of ", stdout);
    print_bytes(object->size);
    printf("  %04d-%02d-%02d  ", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
    print_safe(stdout, object->url);
    putchar('\n');
    return 0;
}

static int print_text(const char *folder, recmap_error *error) {
    struct totals totals = {0};
    if (recmap_cache_visit(folder, print_line, &totals, error) != RECMAP_OK)
        return recmap_error_print(error, stderr);
    char text[HUMAN_SIZE];
    printf("%s of %" PRIu64 " object%s\n", human_bytes(text, (double)totals.cached_size),
           totals.count, plural(totals.count));
    return 0;
}

/* URLs and ETags have no control characters, and are UTF-8 as far as the store is. */
static void print_string(const char *text) {
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') putchar('\\');
        if ((unsigned char)*text < 0x20) printf("\\u%04x", (unsigned)*text);
        else putchar(*text);
    }
    putchar('"');
}

#define DOCUMENT_BEGIN "{\"objects\": ["

/* The document begins with the first object: a folder that cannot be read prints nothing. */
static int print_object(void *context, const recmap_cache_object *object) {
    struct totals *totals = context;
    fputs(totals->count ? ", " : DOCUMENT_BEGIN, stdout);
    fputs("{\"url\": ", stdout);
    print_string(object->url);
    fputs(", \"etag\": ", stdout);
    print_string(object->etag);
    printf(", \"bytes\": %" PRIu64 ", \"cached_bytes\": %" PRIu64 ", \"used\": %" PRId64 "}",
           object->size, object->cached_size, (int64_t)(object->used_ns / NS_PER_S));
    count_object(totals, object);
    return 0;
}

static int print_json(const char *folder, recmap_error *error) {
    struct totals totals = {0};
    if (recmap_cache_visit(folder, print_object, &totals, error) != RECMAP_OK)
        return recmap_error_print(error, stderr);
    if (!totals.count) fputs(DOCUMENT_BEGIN, stdout);
    printf("], \"bytes\": %" PRIu64 "}\n", totals.cached_size);
    return 0;
}

static int clear(const char *folder, recmap_error *error) {
    uint64_t size;
    char text[HUMAN_SIZE];
    if (recmap_cache_clear(&size, folder, error) != RECMAP_OK)
        return recmap_error_print(error, stderr);
    printf("%s freed\n", human_bytes(text, (double)size));
    return 0;
}

static int run(int argc, char **argv) {
    struct args args;
    bool is_clearing = false, as_json = false;
    args_init(&args, &cmd_cache, options, argc, argv);
    for (int option; (option = args_next(&args)) != ARGS_END;) {
        if (option == ARGS_STOP) return args.exit_status;
        if (option == OPTION_CLEAR) is_clearing = true;
        else as_json = true;
    }
    if (args.operand_count != 1) return args_usage_error(&args, "name one folder of a cache");
    if (is_clearing && as_json)
        return args_usage_error(&args, "--clear and --json exclude each other");
    recmap_error error = RECMAP_ERROR_INIT;
    const char *folder = args.operands[0];
    if (is_clearing) return clear(folder, &error);
    return as_json ? print_json(folder, &error) : print_text(folder, &error);
}

static const char help[] =
    "usage: recmap cache [OPTION]... FOLDER\n"
    "\n"
    "Lists the objects in a cache of remote shards: bytes in the cache, size of the object, day "
    "of\n"
    "the last use, URL. Other commands use a cache with --cache FOLDER.\n"
    "\n"
    "      --clear            remove all objects, unless a process uses the cache\n"
    "      --json             print one JSON document\n"
    "      --help             print this help\n";

const struct command cmd_cache = {"cache", "list or clear a cache of remote shards", help, false,
                                  run};
