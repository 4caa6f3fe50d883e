#include "net/certificates.h"

#include <unistd.h>

const char *const certificates_places[] = {
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    NULL,
};

const char *certificates_find(const char *const *places) {
    for (; *places; places++)
        if (!access(*places, R_OK)) return *places;
    return NULL;
}
