#include "order/kinds/order.h"

void order_describe(struct json_writer *json, const recmap_order *order) {
    json_open(json, '{');
    json_key(json, "kind");
    json_text(json, order->kind->name);
    order->kind->describe(json, order);
    json_close(json, '}');
}

void describe_number(struct json_writer *json, const char *key, uint64_t value) {
    json_key(json, key);
    json_uint64(json, value);
}

void describe_text(struct json_writer *json, const char *key, const char *value) {
    json_key(json, key);
    json_text(json, value);
}

void describe_digest(struct json_writer *json, const char *key, const uint8_t digest[DIGEST_SIZE]) {
    json_key(json, key);
    json_hex(json, digest, DIGEST_SIZE);
}
