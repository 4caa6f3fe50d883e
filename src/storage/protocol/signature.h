/* Signs requests to S3 and to compatible stores: AWS Signature Version 4. Pure.
 *
 * libcurl can sign requests itself (CURLOPT_AWS_SIGV4), but not in each version that recmap may
 * load. 7.81 leaves x-amz-content-sha256 and x-amz-security-token unsigned; 7.88.1 signs all
 * requests of recmap alike, but not Amazon's example `?lifecycle`, whose parameter has no value.
 * From 8.14 on, libcurl refuses to sign if CURLOPT_PATH_AS_IS is set, and without this option it
 * requests the key `b` instead of `a/../b`. */
#ifndef RECMAP_STORAGE_PROTOCOL_SIGNATURE_H
#define RECMAP_STORAGE_PROTOCOL_SIGNATURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/protocol/sha256.h"

enum {
    SIGNATURE_TIME_SIZE = sizeof "20130524T000000Z",
    AUTHORIZATION_MAX = 1024,
    SIGNING_KEY_PARTS_MAX = 512,
};

/* The SHA-256 of no bytes: the payload of a GET request. */
#define SIGNATURE_EMPTY_HASH "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* A signed header: a lower-case name, and a value without surrounding spaces. */
struct signed_header {
    const char *name, *value;
};

/* A key that signs the requests of one day, kept from one request to the next: deriving it takes
 * more than half of the time of a signature. Zeroed, it has none; erase it after use. */
struct signing_key {
    char made_of[SIGNING_KEY_PARTS_MAX]; /* the secret, date, region and service, a line each */
    uint8_t bytes[SHA256_SIZE];
};

/* A GET request, which has no payload. */
struct signature_input {
    const char *path;                    /* percent-encoded, from the first slash on */
    const char *query;                   /* percent-encoded, sorted by name; "" if there is none */
    const struct signed_header *headers; /* sorted by name */
    size_t header_count;
    const char *region, *service;
    const char *key, *secret;
    const char *time;         /* as signature_write_time writes it */
    struct signing_key *kept; /* NULL: derive the key of the day each time */
};

/* The key that signs the requests of one day. */
void signature_derive_key(uint8_t key[SHA256_SIZE], const char *secret, const char *date,
                          size_t date_size, const char *region, const char *service);

/* Writes the value of the header Authorization. Returns false if something is too long. */
bool signature_write(char authorization[AUTHORIZATION_MAX], const struct signature_input *input);

enum { HTTP_DATE_SIZE = 64 };

/* Writes UTC time, in seconds since 1970, as "Fri, 24 May 2013 00:00:00 GMT". */
void signature_write_http_date(char text[HTTP_DATE_SIZE], int64_t seconds);

/* Writes UTC time, in seconds since 1970, as 20130524T000000Z. */
void signature_write_time(char text[SIGNATURE_TIME_SIZE], int64_t seconds);

#endif
