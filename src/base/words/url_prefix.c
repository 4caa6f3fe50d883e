#include "base/words/url_prefix.h"

#include <string.h>

size_t url_prefix_size(const char *name) {
    size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789");
    return size && !strncmp(name + size, "://", 3) ? size + 3 : 0;
}

bool url_is_url(const char *name) {
    return url_prefix_size(name) != 0;
}
