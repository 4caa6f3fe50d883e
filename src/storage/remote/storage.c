#include "storage/remote/storage.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/file.h"
#include "base/os/thread.h"
#include "storage/remote/transfer.h"

enum { REQUESTS_FIRST = 32, REQUESTS_MAX = 128, URL_FILE_MAX = 1 << 30 };

recmap_status recmap_storage_create(recmap_storage **storage, recmap_error *error) {
    recmap_storage *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    atomic_init(&fresh->references, 1);
    window_init(&fresh->window, REQUESTS_FIRST, REQUESTS_MAX);
    storage_figures_init(&fresh->figures);
    *storage = fresh;
    return RECMAP_OK;
}

recmap_storage *recmap_storage_retain(recmap_storage *storage) {
    atomic_fetch_add(&storage->references, 1);
    return storage;
}

recmap_status storage_retain(recmap_storage **reference, recmap_storage *storage,
                             recmap_error *error) {
    if (!storage) return recmap_storage_create(reference, error);
    *reference = recmap_storage_retain(storage);
    return RECMAP_OK;
}

bool storage_has_client(const recmap_storage *storage) {
    return storage && storage->client.read;
}

static void close_client(const recmap_client *client) {
    if (client->close) client->close(client->context);
}

recmap_status recmap_storage_set_client(recmap_storage *storage, const recmap_client *client,
                                        recmap_error *error) {
    const char *reason = NULL;
    if (client->version != RECMAP_CLIENT_VERSION) reason = "the version of the client is unknown";
    else if (!client->stat || !client->read || !client->list)
        reason = "a client needs the functions stat, read and list";
    else if (storage_has_client(storage)) reason = "the storage has a client already";
    if (!reason) {
        storage->client = *client;
        return RECMAP_OK;
    }
    if (client->version == RECMAP_CLIENT_VERSION) close_client(client);
    return fail(error, RECMAP_INVALID, "%s", reason);
}

void recmap_storage_release(recmap_storage *storage) {
    if (!storage || atomic_fetch_sub(&storage->references, 1) > 1) return;
    transfers_destroy(storage->idle);
    close_client(&storage->client);
    storage_options_deinit(&storage->options);
    signed_urls_deinit(&storage->urls);
    free(storage);
}

recmap_status recmap_storage_add_url(recmap_storage *storage, const char *url,
                                     recmap_error *error) {
    process_lock();
    recmap_status status = signed_urls_add(&storage->urls, url, error);
    process_unlock();
    return status;
}

/* Adds one URL per line. Blank lines and comments are ignored, as in list files of shards. */
static recmap_status add_lines(recmap_storage *storage, char *text, const char *path,
                               recmap_error *error) {
    recmap_status status = RECMAP_OK;
    for (char *line; status == RECMAP_OK && (line = strsep(&text, "\n"));) {
        line += strspn(line, " \t");
        line[strcspn(line, " \t\r")] = 0;
        if (line[0] && line[0] != '#') status = recmap_storage_add_url(storage, line, error);
    }
    if (status == RECMAP_INVALID) fail_file(error, path);
    return status;
}

static recmap_status read_urls(recmap_storage *storage, int fd, const char *path,
                               recmap_error *error) {
    struct file_stat stat;
    RETURN_IF_FAILED(file_get_stat(&stat, fd, path, error));
    if (stat.size > URL_FILE_MAX) {
        fail(error, RECMAP_INVALID, "is too large for a file of URLs");
        fail_file(error, path);
        fail_advise(error, "name a text file with one URL per line");
        return RECMAP_INVALID;
    }
    char *text = calloc((size_t)stat.size + 1, 1);
    if (!text) return fail_memory(error);
    recmap_status status = file_read_at(fd, text, (size_t)stat.size, 0, path, error);
    if (status == RECMAP_OK) status = add_lines(storage, text, path, error);
    explicit_bzero(text, (size_t)stat.size);
    free(text);
    return status;
}

static recmap_status add_url_file(recmap_storage *storage, const char *path, recmap_error *error) {
    int fd;
    RETURN_IF_FAILED(file_open(&fd, path, error));
    recmap_status status = read_urls(storage, fd, path, error);
    file_close(fd);
    return status;
}

recmap_status recmap_storage_set(recmap_storage *storage, const char *name, const char *value,
                                 recmap_error *error) {
    if (!strcmp(name, "urls"))
        return value[0] == '@' ? add_url_file(storage, value + 1, error)
                               : recmap_storage_add_url(storage, value, error);
    return storage_options_set(&storage->options, name, value, error);
}

static recmap_status set_if_given(struct storage_options *options, const char *name,
                                  const char *value, recmap_error *error) {
    return value ? storage_options_set(options, name, value, error) : RECMAP_OK;
}

static recmap_status take_credentials(struct storage_options *options,
                                      const recmap_credentials *credentials, recmap_error *error) {
    RETURN_IF_FAILED(set_if_given(options, "key", credentials->key, error));
    RETURN_IF_FAILED(set_if_given(options, "secret", credentials->secret, error));
    RETURN_IF_FAILED(set_if_given(options, "token", credentials->token, error));
    return set_if_given(options, "sas", credentials->sas, error);
}

static void swap_keys(recmap_storage *storage, struct storage_options *fresh) {
    storage_options_swap(&storage->options, fresh, OPTION_KEY);
    storage_options_swap(&storage->options, fresh, OPTION_SECRET);
    storage_options_swap(&storage->options, fresh, OPTION_TOKEN);
}

/* The new values are complete before the lock is taken, and the old ones are freed after it. */
recmap_status recmap_storage_renew(recmap_storage *storage, const recmap_credentials *credentials,
                                   recmap_error *error) {
    struct storage_options fresh = {0};
    recmap_status status = take_credentials(&fresh, credentials, error);
    if (status == RECMAP_OK) {
        process_lock();
        if (credentials->key || credentials->secret || credentials->token)
            swap_keys(storage, &fresh);
        if (credentials->sas) storage_options_swap(&storage->options, &fresh, OPTION_SAS);
        process_unlock();
    }
    storage_options_deinit(&fresh);
    return status;
}

recmap_status storage_copy_options(struct storage_options *copy, recmap_storage *storage,
                                   recmap_error *error) {
    process_lock();
    recmap_status status = storage_options_copy(copy, &storage->options, error);
    process_unlock();
    return status;
}

recmap_status storage_refresh_options(struct storage_options *copy, recmap_storage *storage,
                                      recmap_error *error) {
    recmap_status status = RECMAP_OK;
    process_lock();
    if (copy->version != storage->options.version) {
        storage_options_deinit(copy);
        status = storage_options_copy(copy, &storage->options, error);
    }
    process_unlock();
    return status;
}

recmap_status storage_copy_query(char **query, recmap_storage *storage, const char *url,
                                 recmap_error *error) {
    process_lock();
    const char *signed_url = signed_urls_find(&storage->urls, url);
    *query = signed_url ? strdup(signed_url) : NULL;
    process_unlock();
    return signed_url && !*query ? fail_memory(error) : RECMAP_OK;
}

int recmap_storage_is_used(const recmap_storage *storage) {
    return atomic_load(&storage->references) > 1;
}

int recmap_storage_is_supported(void) {
    return transfer_is_supported();
}

recmap_status storage_prepare(recmap_storage *storage, recmap_error *error) {
    recmap_status status = RECMAP_OK;
    process_lock();
    if (!storage->is_complete) {
        status = storage_options_complete(&storage->options, error);
        storage->is_complete = status == RECMAP_OK;
    }
    process_unlock();
    return status;
}
