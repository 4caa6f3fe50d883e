/* The functions of libmicrohttpd that the server calls. Only `recmap view` loads the library:
 * Debian's brings ten others, and loading them takes longer than most commands run. */
#ifndef RECMAP_TOOLS_VIEWER_HTTP_LIBRARY_H
#define RECMAP_TOOLS_VIEWER_HTTP_LIBRARY_H

#include <microhttpd.h>

#include <recmap/status.h>

/* Their names without `MHD_`. */
/* clang-format off */
#define HTTP_FUNCTIONS(X) \
    X(add_response_header) X(create_response_from_buffer) X(destroy_response) \
    X(get_connection_info) X(get_connection_values) X(get_daemon_info) X(lookup_connection_value) \
    X(queue_response) X(run_wait) X(set_connection_option) X(start_daemon) X(stop_daemon)
/* clang-format on */

struct http_library {
#define DECLARE(name) __typeof__(MHD_##name) *(name);
    HTTP_FUNCTIONS(DECLARE)
#undef DECLARE
};

/* Valid after http_library_load. */
extern struct http_library microhttpd;

/* Errors: UNSUPPORTED, with what to install. */
recmap_status http_library_load(recmap_error *error);

#endif
