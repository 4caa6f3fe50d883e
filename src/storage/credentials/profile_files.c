#include "storage/credentials/profile_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/os/file.h"
#include "storage/protocol/profile.h"

enum { PROFILE_FILE_MAX = 1 << 20 };

static void erase(char *text) {
    if (text) explicit_bzero(text, strlen(text));
    free(text);
}

static recmap_status read_file(char **text, const char *path, recmap_error *error) {
    struct file_stat stat;
    int fd;
    if (!file_stat_path(&stat, path) || stat.size > PROFILE_FILE_MAX) return RECMAP_OK;
    RETURN_IF_FAILED(file_open(&fd, path, error));
    char *data = calloc((size_t)stat.size + 1, 1);
    recmap_status status = data ? RECMAP_OK : fail_memory(error);
    if (status == RECMAP_OK) status = file_read_at(fd, data, (size_t)stat.size, 0, path, error);
    file_close(fd);
    if (status == RECMAP_OK) *text = data;
    else erase(data);
    return status;
}

static recmap_status read_place(char **text, const char *place, const char *home, const char *name,
                                recmap_error *error) {
    bool is_named = place && place[0];
    char *path = is_named ? strdup(place) : path_join(home && home[0] ? home : "/", name);
    if (!path) return fail_memory(error);
    recmap_status status = read_file(text, path, error);
    free(path);
    return status;
}

recmap_status profile_files_read(struct profile_files *files, const struct profile_places *places,
                                 recmap_error *error) {
    *files = (struct profile_files){0};
    RETURN_IF_FAILED(read_place(&files->credentials, places->credentials, places->home,
                                ".aws/credentials", error));
    return read_place(&files->config, places->config, places->home, ".aws/config", error);
}

void profile_files_deinit(struct profile_files *files) {
    erase(files->credentials);
    erase(files->config);
    *files = (struct profile_files){0};
}

static const char *find(size_t *size, bool *has_section, const char *text, const char *profile,
                        const char *name) {
    *has_section = false;
    return text ? profile_find(size, has_section, text, profile, name) : NULL;
}

bool profile_files_have(const struct profile_files *files, const char *profile) {
    size_t size;
    bool has_section;
    find(&size, &has_section, files->credentials, profile, "");
    if (!has_section) find(&size, &has_section, files->config, profile, "");
    return has_section;
}

const char *profile_files_find(size_t *size, const struct profile_files *files, const char *profile,
                               const char *name) {
    bool has_section;
    const char *value = find(size, &has_section, files->credentials, profile, name);
    return value ? value : find(size, &has_section, files->config, profile, name);
}

bool profile_files_have_value(const struct profile_files *files, const char *profile,
                              const char *name) {
    size_t size = 0;
    return profile_files_find(&size, files, profile, name) && size;
}

/* A session by itself is not a source for the tools of AWS, but it is meant as one if there is no
 * other. */
enum profile_source profile_files_source(const struct profile_files *files, const char *profile) {
    const char *keys = profile_files_with_key(files, profile);
    if (profile_files_have_value(files, profile, "role_arn") ||
        profile_files_have_value(files, profile, "sso_account_id") ||
        profile_files_have_value(files, profile, "sso_role_name"))
        return PROFILE_OTHER;
    if (keys && keys == files->credentials) return PROFILE_KEYS;
    if (profile_files_have_value(files, profile, "credential_process")) return PROFILE_PROCESS;
    if (keys) return PROFILE_KEYS;
    bool has_session = profile_files_have_value(files, profile, "sso_session") ||
                       profile_files_have_value(files, profile, "sso_start_url");
    return has_session ? PROFILE_OTHER : PROFILE_NOTHING;
}

const char *profile_files_with_key(const struct profile_files *files, const char *profile) {
    size_t size;
    bool has_section;
    if (find(&size, &has_section, files->credentials, profile, "aws_access_key_id"))
        return files->credentials;
    if (find(&size, &has_section, files->config, profile, "aws_access_key_id"))
        return files->config;
    return NULL;
}
