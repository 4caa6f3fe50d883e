/* How objects in remote stores are reached: endpoints, credentials, limits. Every function that
 * takes names of shards takes URLs too (s3://BUCKET/KEY, gs://BUCKET/KEY, az://CONTAINER/BLOB,
 * https://HOST/PATH, http://HOST/PATH), if this build of recmap has support for them. Other URLs,
 * such as hdfs://, are read only through a client: see recmap_storage_set_client. */
#ifndef RECMAP_STORAGE_H
#define RECMAP_STORAGE_H

#include <recmap/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Options, and the connections that are open with them. Threads: recmap_storage_set belongs to one
 * thread, before the first use; afterwards the storage may be used by many threads at once. Fork: a
 * child may use it too, with connections of its own. */
typedef struct recmap_storage recmap_storage;

/* Creates a storage with the options that the environment sets (AWS_ACCESS_KEY_ID and so on: see
 * docs/reference/remote.md). Roles, SSO and the accounts of machines are left to the tools of the
 * stores: the option credential_process names a command that prints their credentials. Returns one
 * reference. Whatever takes a storage retains it until it is closed itself, so the caller may
 * release the storage at any time. Errors: NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_storage_create(recmap_storage **storage,
                                                                recmap_error *error);

/* Retains the storage for another owner, and returns it. It exists until every reference is
 * released. NULL may be released. */
RECMAP_API recmap_storage *recmap_storage_retain(recmap_storage *storage);
RECMAP_API void recmap_storage_release(recmap_storage *storage);

/* Sets an option, instead of the environment: endpoint, region, key, secret, token, anonymous,
 * requester_pays, addressing, profile, credential_process, account, sas, ca_bundle, proxy, timeout,
 * gap. The spellings of fsspec are accepted too (anon, endpoint_url, ...). `gap` is how many
 * bytes that nobody needs may be downloaded to save a request, 0 to 8388608. By default it is
 * measured: 256 KiB at first, then latency * rate of recent requests, 4 KiB to 1 MiB. `urls` adds a
 * URL as recmap_storage_add_url does, or, as @FILE, the URLs in a file, one per line. No message
 * ever quotes a value. Errors: INVALID, naming the nearest option if there is none of this name;
 * IO; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_storage_set(recmap_storage *storage,
                                                             const char *name, const char *value,
                                                             recmap_error *error);

/* Credentials that replace others. Members that are NULL are missing. */
typedef struct recmap_credentials {
    const char *key;
    const char *secret; /* with `key` */
    const char *token;  /* with `key`, or alone */
    const char *sas;
} recmap_credentials;

/* Replaces the credentials of a storage: `key`, `secret` and `token` together, if any of them is
 * given, and `sas` if it is given. Unlike recmap_storage_set, it may be
 * called at any time and from any thread. Requests that begin later use the new credentials.
 * Errors: INVALID, NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_storage_renew(
    recmap_storage *storage, const recmap_credentials *credentials, recmap_error *error);

/* Adds a web URL with a query, such as a presigned URL: https://HOST/PATH?QUERY. Requests for
 * https://HOST/PATH then contain the query. Nothing else does: an index, a cache and messages name
 * the object without it. A later URL of the same object replaces the query. It may be called at any
 * time and from any thread. Errors: INVALID, NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_storage_add_url(recmap_storage *storage,
                                                                 const char *url,
                                                                 recmap_error *error);

enum { RECMAP_CLIENT_VERSION = 1, RECMAP_ETAG_MAX = 256 };

/* What a client says about an object. */
typedef struct recmap_object {
    uint64_t size;
    int64_t mtime_ns;           /* since 1970; 0: not known */
    char etag[RECMAP_ETAG_MAX]; /* identifies the contents; "": not known */
} recmap_object;

/* A range of an object, and the memory that its bytes go to. */
typedef struct recmap_object_range {
    const char *name; /* the URL */
    void *data;
    size_t size;
    uint64_t offset;
} recmap_object_range;

/* Functions that reach objects in place of this library's own requests, for stores that it does not
 * know. Names of objects are URLs of any scheme. Threads call the functions at the same time. A
 * function that fails fills in the error, which is never NULL; the place is added by the caller. */
typedef struct recmap_client {
    uint32_t version; /* RECMAP_CLIENT_VERSION */
    /* Finds out what identifies the object. Called whenever the object is opened. */
    recmap_status (*stat)(recmap_object *object, const char *name, recmap_error *error,
                          void *context);
    /* Reads all bytes of all ranges. There are at most 128; several have at most 32 MiB together; a
     * single one may be longer. On failure, sets `failed_index` to the index of a range that could
     * not be read. */
    recmap_status (*read)(size_t *failed_index, const recmap_object_range *ranges, size_t count,
                          recmap_error *error, void *context);
    /* Calls `add` for each object whose name begins with `folder`, which ends with a slash; unless
     * `is_deep`, for those without another slash. Stops if `add` fails. */
    recmap_status (*list)(const char *folder, int is_deep,
                          recmap_status (*add)(const char *name, recmap_error *error, void *names),
                          void *names, recmap_error *error, void *context);
    /* Called once, when nothing uses the client any more, on any thread. May be NULL. */
    void (*close)(void *context);
    void *context; /* passed to these functions */
} recmap_client;

#define RECMAP_CLIENT_INIT                                                                         \
    { RECMAP_CLIENT_VERSION, NULL, NULL, NULL, NULL, NULL }

/* Makes the storage reach all objects through a client. Belongs to one thread, before the first use
 * of the storage. The client is copied, and is closed even on failure. Options and credentials are
 * then not used, except the option gap. Errors: INVALID. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_storage_set_client(recmap_storage *storage,
                                                                    const recmap_client *client,
                                                                    recmap_error *error);

/* Receives the bytes of an object, or the name of one, which are valid only during the call. */
typedef recmap_status recmap_take_bytes(const void *data, size_t size, recmap_error *error,
                                        void *context);
typedef recmap_status recmap_take_name(const char *name, recmap_error *error, void *context);

/* Gives `take` all bytes of an object, such as metadata beside shards. Reads nothing if it has more
 * than `most` bytes, which is INVALID. Errors: that of `take`; INVALID if the URL is none; IO;
 * UNSUPPORTED; NO_MEMORY. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_storage_read(recmap_storage *storage,
                                                              const char *url, size_t most,
                                                              recmap_take_bytes *take,
                                                              void *context, recmap_error *error);

/* Calls `take` with the URL of each object that a pattern (* ? [..] **) matches, or, if the URL
 * ends with a slash, of those in that folder, in no particular order, until it fails. Errors: as
 * recmap_storage_read; INVALID too if the store has no lists, as web servers have none. */
RECMAP_API RECMAP_NODISCARD recmap_status recmap_storage_list(recmap_storage *storage,
                                                              const char *pattern,
                                                              recmap_take_name *take, void *context,
                                                              recmap_error *error);

/* What a storage has requested since it was created. Latencies are the time from a request to the
 * first byte of its reply, of the last few thousand requests, and at most an eighth too long. */
typedef struct recmap_storage_statistics {
    uint64_t request_count;   /* requests that were sent, also repeated, hedged and failed ones,
                                 and those for sizes and lists of objects */
    uint64_t retry_count;     /* of these, the ones that repeated a request that had failed */
    uint64_t hedge_count;     /* of these, second ones, sent because the first was slow */
    uint64_t byte_count;      /* bytes of objects that were asked for, each time they were needed */
    uint64_t used_byte_count; /* of these, bytes that were needed; the others lie between records
                                 that share a request, or in the same block of the disk cache */
    uint64_t latency_p50_ns;  /* median; 0: no request was answered */
    uint64_t latency_p99_ns;  /* 99th percentile */
    uint64_t gap;             /* the present gap, in bytes: see recmap_storage_set */
    uint64_t reserved[8];     /* 0; room for later versions */
} recmap_storage_statistics;

/* Returns true if anything besides the caller keeps the storage, such as an open data set or
 * another owner. */
RECMAP_API int recmap_storage_is_used(const recmap_storage *storage);

/* Returns true if this build reads URLs. */
RECMAP_API int recmap_storage_is_supported(void);

#ifdef __cplusplus
}
#endif
#endif
