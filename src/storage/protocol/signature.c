#include "storage/protocol/signature.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { DATE_SIZE = 8, SCOPE_MAX = 256 };

static void update_text(struct sha256 *sha, const char *text) {
    sha256_update(sha, text, strlen(text));
}

static void update_line(struct sha256 *sha, const char *text) {
    update_text(sha, text);
    update_text(sha, "\n");
}

/* Writes the names of the signed headers, separated by semicolons. */
static bool write_names(char *names, size_t capacity, const struct signature_input *input) {
    size_t used = 0;
    for (size_t i = 0; i < input->header_count; i++) {
        int size =
            snprintf(names + used, capacity - used, "%s%s", i ? ";" : "", input->headers[i].name);
        if (size < 0 || (size_t)size >= capacity - used) return false;
        used += (size_t)size;
    }
    return true;
}

static void hash_request(char hex[2 * SHA256_SIZE + 1], const struct signature_input *input,
                         const char *names) {
    struct sha256 sha;
    uint8_t digest[SHA256_SIZE];
    sha256_init(&sha);
    update_line(&sha, "GET");
    update_line(&sha, input->path);
    update_line(&sha, input->query);
    for (size_t i = 0; i < input->header_count; i++) {
        update_text(&sha, input->headers[i].name);
        update_text(&sha, ":");
        update_line(&sha, input->headers[i].value);
    }
    update_line(&sha, "");
    update_line(&sha, names);
    update_text(&sha, SIGNATURE_EMPTY_HASH);
    sha256_finish(digest, &sha);
    sha256_write_hex(hex, digest);
}

void signature_derive_key(uint8_t key[SHA256_SIZE], const char *secret, const char *date,
                          size_t date_size, const char *region, const char *service) {
    char first[SCOPE_MAX];
    int size = snprintf(first, sizeof first, "AWS4%s", secret);
    hmac_sha256(key, first, size < (int)sizeof first ? (size_t)size : sizeof first - 1, date,
                date_size);
    hmac_sha256(key, key, SHA256_SIZE, region, strlen(region));
    hmac_sha256(key, key, SHA256_SIZE, service, strlen(service));
    hmac_sha256(key, key, SHA256_SIZE, "aws4_request", strlen("aws4_request"));
    explicit_bzero(first, sizeof first);
}

static void find_key(struct signing_key *key, const struct signature_input *input) {
    char made_of[SIGNING_KEY_PARTS_MAX];
    snprintf(made_of, sizeof made_of, "%s\n%.*s\n%s\n%s", input->secret, DATE_SIZE, input->time,
             input->region, input->service);
    if (strcmp(key->made_of, made_of)) {
        signature_derive_key(key->bytes, input->secret, input->time, DATE_SIZE, input->region,
                             input->service);
        memcpy(key->made_of, made_of, sizeof made_of);
    }
    explicit_bzero(made_of, sizeof made_of);
}

/* The signature proves the key without sending it: it is an HMAC of the time, the scope (date,
 * region, service) and the hash of the request, under a key that is derived from the secret for
 * that scope. The secret's copies are erased. */
bool signature_write(char authorization[AUTHORIZATION_MAX], const struct signature_input *input) {
    char names[SCOPE_MAX] = "", scope[SCOPE_MAX], hash[2 * SHA256_SIZE + 1];
    char text[2 * SCOPE_MAX];
    if (strlen(input->secret) > SCOPE_MAX / 2 || !write_names(names, sizeof names, input))
        return false;
    int size = snprintf(scope, sizeof scope, "%.*s/%s/%s/aws4_request", DATE_SIZE, input->time,
                        input->region, input->service);
    if (size < 0 || size >= (int)sizeof scope) return false;
    hash_request(hash, input, names);
    snprintf(text, sizeof text, "AWS4-HMAC-SHA256\n%s\n%s\n%s", input->time, scope, hash);
    uint8_t digest[SHA256_SIZE];
    struct signing_key own = {0}, *key = input->kept ? input->kept : &own;
    find_key(key, input);
    hmac_sha256(digest, key->bytes, sizeof key->bytes, text, strlen(text));
    explicit_bzero(&own, sizeof own);
    sha256_write_hex(hash, digest);
    size = snprintf(authorization, AUTHORIZATION_MAX,
                    "AWS4-HMAC-SHA256 Credential=%s/%s,SignedHeaders=%s,Signature=%s", input->key,
                    scope, names, hash);
    return size > 0 && size < AUTHORIZATION_MAX;
}

/* The names do not depend on the locale. */
void signature_write_http_date(char text[HTTP_DATE_SIZE], int64_t seconds) {
    static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct tm fields;
    time_t time = (time_t)seconds;
    gmtime_r(&time, &fields);
    snprintf(text, HTTP_DATE_SIZE, "%s, %02d %s %d %02d:%02d:%02d GMT", days[fields.tm_wday],
             fields.tm_mday, months[fields.tm_mon], fields.tm_year + 1900, fields.tm_hour,
             fields.tm_min, fields.tm_sec);
}

void signature_write_time(char text[SIGNATURE_TIME_SIZE], int64_t seconds) {
    struct tm fields;
    time_t time = (time_t)seconds;
    gmtime_r(&time, &fields);
    strftime(text, SIGNATURE_TIME_SIZE, "%Y%m%dT%H%M%SZ", &fields);
}
