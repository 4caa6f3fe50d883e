#include "loader/state/description.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The end of a slice: the first of the `stops` that is outside strings and brackets. */
static const char *piece_end(const char *text, const char *stops) {
    int depth = 0;
    bool in_string = false;
    for (; *text; text++) {
        if (in_string && *text == '\\' && text[1]) text++;
        else if (*text == '"') in_string = !in_string;
        else if (!in_string && !depth && strchr(stops, *text)) break;
        else if (!in_string && (*text == '{' || *text == '[')) depth++;
        else if (!in_string && (*text == '}' || *text == ']') && depth) depth--;
    }
    return text;
}

bool description_next_member(struct description_member *member, const char **cursor) {
    const char *key = *cursor, *colon = piece_end(key, ":}");
    if (*colon != ':') return false;
    const char *end = piece_end(colon + 1, ",}");
    assert(end > colon && colon >= key);
    *member = (struct description_member){key, (size_t)(colon - key), colon + 1,
                                          (size_t)(end - colon) - 1};
    *cursor = *end == ',' ? end + 1 : end;
    return true;
}

bool description_find_member(struct description_member *member, const char *object,
                             const struct description_member *query) {
    const char *cursor = object + 1;
    while (description_next_member(member, &cursor))
        if (member->key_size == query->key_size &&
            !memcmp(member->key, query->key, query->key_size))
            return true;
    return false;
}

/* ---- Shortening: the numbers of records and rows of a row order follow from its other members. */

static bool ends_with(const char *start, const char *end, const char *expected) {
    size_t size = strlen(expected);
    return (size_t)(end - start) >= size && !memcmp(end - size, expected, size);
}

/* The size of a member with a number that `end` follows, or 0. */
static size_t number_size(const char *text, const char *key, char end) {
    if (strncmp(text, key, strlen(key)) != 0) return 0;
    size_t digits = strspn(text + strlen(key), "0123456789");
    return digits && text[strlen(key) + digits] == end ? strlen(key) + digits : 0;
}

/* The number of records of a row order, and its comma. It is the member after the kind. */
static size_t record_count_size(const char *text, const char *start, const char *out) {
    if (!ends_with(start, out, "{\"kind\":\"chunked\",") &&
        !ends_with(start, out, "{\"kind\":\"packed\",") &&
        !ends_with(start, out, "{\"kind\":\"windows\","))
        return 0;
    size_t size = number_size(text, "\"n\":", ',');
    return size ? size + 1 : 0;
}

/* The number of rows, which is the last member and follows the digest of the counts. */
static size_t row_count_size(const char *text, const char *start, const char *out) {
    enum { DIGEST_SIZE = 32 };
    if (!ends_with(start, out, "\",") || out - start < DIGEST_SIZE + 2) return 0;
    if (!ends_with(start, out - DIGEST_SIZE - 2, "\"counts\":\"")) return 0;
    return number_size(text, "\"rows\":", '}');
}

/* Copies the text onto itself without the members that are removed. Of the number of rows, the
 * comma before it was copied already, and is taken back. */
void description_shorten(char *text) {
    bool is_member = false, in_string = false; /* whether `text` is where a member may begin */
    char *start = text, *out = text;
    while (*text) {
        size_t size = is_member ? record_count_size(text, start, out) : 0;
        if (is_member && !size && (size = row_count_size(text, start, out))) out--;
        text += size;
        if (size) continue;
        if (in_string && *text == '\\' && text[1]) *out++ = *text++;
        else if (*text == '"') in_string = !in_string;
        is_member = !in_string && (*text == '{' || *text == ',');
        *out++ = *text++;
    }
    *out = 0;
}

/* ---- Comparing an order with one that it continues. */

static bool is_equal(const struct description_member *a, const struct description_member *b) {
    return a->value_size == b->value_size && !memcmp(a->value, b->value, a->value_size);
}

static bool get(struct description_member *member, const char *object, const char *quoted_key) {
    struct description_member query = {.key = quoted_key, .key_size = strlen(quoted_key)};
    return description_find_member(member, object, &query);
}

/* An element of an array, as a slice of its text. */
struct element {
    const char *text;
    size_t size;
};

/* Returns the next element of an array, or false after the last. The cursor starts after the
 * opening bracket. */
static bool next_element(struct element *element, const char **cursor) {
    const char *end = piece_end(*cursor, ",]");
    assert(end >= *cursor);
    *element = (struct element){*cursor, (size_t)(end - *cursor)};
    *cursor = *end == ',' ? end + 1 : end;
    return element->size != 0;
}

static bool are_equal(const struct element *a, const struct element *b) {
    return a->size == b->size && !memcmp(a->text, b->text, a->size);
}

/* Returns true if `theirs` is the start of `ours`, and the rest of `ours` consists of `rest`, which
 * may be anything if it is NULL. */
static bool is_start(const char *ours, const char *theirs, const char *rest) {
    struct element one, other;
    if (*ours != '[' || *theirs != '[') return false;
    ours++, theirs++;
    while (next_element(&other, &theirs))
        if (!next_element(&one, &ours) || !are_equal(&one, &other)) return false;
    while (next_element(&one, &ours))
        if (rest && (one.size != strlen(rest) || memcmp(one.text, rest, one.size))) return false;
    return true;
}

/* The intervals of a mixture, each with its shares. */
struct interval_cursor {
    const char *next;   /* change in the array of changes; NULL without changes */
    uint64_t position;  /* of the interval */
    const char *shares; /* NULL after the last interval, and if the description has no shares */
};

static struct interval_cursor first_interval(const char *mixture) {
    struct description_member shares, changes;
    struct interval_cursor cursor = {0};
    if (get(&shares, mixture, "\"shares\"")) cursor.shares = shares.value;
    if (get(&changes, mixture, "\"changes\"") && *changes.value == '[')
        cursor.next = changes.value + 1;
    return cursor;
}

static void next_interval(struct interval_cursor *cursor) {
    struct element change;
    struct description_member position, shares;
    cursor->shares = NULL;
    if (!cursor->next || !next_element(&change, &cursor->next)) return;
    if (*change.text != '{' || !get(&position, change.text, "\"position\"") ||
        !get(&shares, change.text, "\"shares\""))
        return;
    cursor->position = strtoull(position.value, NULL, 10);
    cursor->shares = shares.value;
}

/* Returns true if all intervals that start before `end` have equal shares; sources that only `ours`
 * has have none. */
static bool intervals_agree(const char *ours, const char *theirs, uint64_t end) {
    struct interval_cursor one = first_interval(ours), other = first_interval(theirs);
    for (;;) {
        bool is_one_over = !one.shares || one.position >= end;
        bool is_other_over = !other.shares || other.position >= end;
        if (is_one_over || is_other_over) return is_one_over && is_other_over;
        if (one.position != other.position || !is_start(one.shares, other.shares, "0"))
            return false;
        next_interval(&one);
        next_interval(&other);
    }
}

static bool is_mixture(const struct description_member *kind) {
    static const char name[] = "\"mixture\"";
    return kind->value_size == sizeof name - 1 && !memcmp(kind->value, name, sizeof name - 1);
}

const char *description_base(const char *text) {
    struct description_member base;
    return *text == '{' && get(&base, text, "\"of\"") && *base.value == '{' ? base.value : NULL;
}

bool description_is_of_mixture(const char *text) {
    struct description_member kind;
    for (; text && *text == '{'; text = description_base(text))
        if (get(&kind, text, "\"kind\"") && is_mixture(&kind)) return true;
    return false;
}

static bool mixture_continues(const char *ours, const char *theirs, uint64_t run_position) {
    struct description_member our_sources, their_sources;
    return get(&our_sources, ours, "\"sources\"") && get(&their_sources, theirs, "\"sources\"") &&
           is_start(our_sources.value, their_sources.value, NULL) &&
           intervals_agree(ours, theirs, run_position);
}

bool description_views_agree(const char *ours, const char *theirs) {
    struct description_member one, other;
    for (const char *cursor = ours + 1; description_next_member(&one, &cursor);) {
        bool is_base = one.key_size == 4 && !memcmp(one.key, "\"of\"", 4);
        if (!description_find_member(&other, theirs, &one) || (!is_base && !is_equal(&one, &other)))
            return false;
    }
    return true;
}

bool description_continues(const char *ours, const char *theirs, uint64_t run_position) {
    struct description_member our_kind, their_kind, our_base, their_base;
    if (*ours != '{' || *theirs != '{' || !get(&our_kind, ours, "\"kind\"") ||
        !get(&their_kind, theirs, "\"kind\"") || !is_equal(&our_kind, &their_kind))
        return false;
    if (is_mixture(&our_kind)) return mixture_continues(ours, theirs, run_position);
    return get(&our_base, ours, "\"of\"") && get(&their_base, theirs, "\"of\"") &&
           description_views_agree(ours, theirs) &&
           description_continues(our_base.value, their_base.value, run_position);
}
