#include "storage/remote/certificates.h"

#include "base/os/file.h"

const char *const certificates_places[] = {
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    NULL,
};

const char *certificates_find(const char *const *places) {
    struct file_stat stat;
    for (; *places; places++)
        if (file_stat_path(&stat, *places)) return *places;
    return NULL;
}
