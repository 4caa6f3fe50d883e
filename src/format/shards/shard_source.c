#include "format/shards/shard_source.h"

#include "base/core/error.h"
#include "base/words/url_prefix.h"

bool shard_name_is_absolute(const char *name) {
    return name[0] == '/' || url_is_url(name);
}

recmap_status shard_source_open(struct source **source, const char *name, recmap_storage *storage,
                                const struct remote_identity *expected, recmap_error *error) {
    int fd;
    if (url_is_url(name)) return remote_open(source, storage, name, expected, error);
    RETURN_IF_FAILED(file_open(&fd, name, error));
    return source_open_file(source, fd, name, error);
}
