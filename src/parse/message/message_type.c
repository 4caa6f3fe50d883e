#include <recmap/message.h>

#include <stdlib.h>
#include <string.h>

#include "base/core/error.h"
#include "base/text/json.h"
#include "base/words/near_name.h"
#include "parse/message/descriptor_set.h"
#include "parse/message/message_path.h"
#include "parse/message/type_table.h"

enum {
    NAME_GROWTH = 16,
    NAME_ROOM = 1 << 20,
    LISTED_FIELDS_MAX = 10000,
    LISTED_STEPS_MAX = 1000000, /* types may contain each other in very many ways */
};

static const char *last_part(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

static recmap_status fail_unknown(const recmap_message_type *type, const char *name,
                                  recmap_error *error) {
    struct near_name near = NEAR_NAME_INIT;
    const char *wanted = last_part(name);
    size_t size = strlen(wanted);
    for (size_t i = 0; i < type->message_count; i++) {
        const char *offered = last_part(type->messages[i].name);
        size_t distance = near_name_distance(wanted, size, offered, strlen(offered));
        const char *full = type->messages[i].name;
        if (distance < near.distance) near = (struct near_name){full, strlen(full), distance};
    }
    fail(error, RECMAP_INVALID, "the descriptor set has no message type '%.200s'", name);
    if (near.name) fail_advise(error, "did you mean '%.200s'?", near.name);
    else if (type->message_count)
        fail_advise(error, "one that it has is '%.200s'", type->messages[0].name);
    return RECMAP_INVALID;
}

/* A type is named by its full name, or by the last part of it if no other type has this last part.
 */
static recmap_status find_root(recmap_message_type *type, const char *name, recmap_error *error) {
    const struct message_def *found = NULL;
    name += *name == '.';
    for (size_t i = 0; i < type->message_count; i++) {
        const struct message_def *message = &type->messages[i];
        if (!strcmp(message->name, name)) {
            type->root = message;
            return RECMAP_OK;
        }
        if (strchr(name, '.') || strcmp(last_part(message->name), name)) continue;
        if (found)
            return fail(error, RECMAP_INVALID, "'%.200s' may be '%.200s' or '%.200s'", name,
                        found->name, message->name);
        found = message;
    }
    type->root = found;
    return found ? RECMAP_OK : fail_unknown(type, name, error);
}

static recmap_status read_type(recmap_message_type *type, const void *descriptor_set, size_t size,
                               const char *name, recmap_error *error) {
    if (!descriptor_set && !name) return RECMAP_OK;
    if (!descriptor_set || !name || !*name)
        return fail(error, RECMAP_INVALID,
                    "a descriptor set and the name of a type in it belong "
                    "together");
    Recmap__Descriptor__FileSet *set;
    RETURN_IF_FAILED(descriptor_set_read(&set, descriptor_set, size, error));
    type->set = set;
    type->name_room = size * NAME_GROWTH + NAME_ROOM;
    RETURN_IF_FAILED(type_table_init(type, error));
    return find_root(type, name, error);
}

recmap_status recmap_message_type_create(recmap_message_type **type, const void *descriptor_set,
                                         size_t size, const char *name, recmap_error *error) {
    recmap_message_type *fresh = calloc(1, sizeof *fresh);
    if (!fresh) return fail_memory(error);
    atomic_init(&fresh->users, 1);
    recmap_status status = read_type(fresh, descriptor_set, size, name, error);
    if (status == RECMAP_OK) *type = fresh;
    else recmap_message_type_release(fresh);
    return status;
}

recmap_message_type *recmap_message_type_retain(recmap_message_type *type) {
    atomic_fetch_add_explicit(&type->users, 1, memory_order_relaxed);
    return type;
}

void recmap_message_type_release(recmap_message_type *type) {
    if (!type) return;
    if (atomic_fetch_sub_explicit(&type->users, 1, memory_order_acq_rel) != 1) return;
    type_table_deinit(type);
    descriptor_set_free(type->set);
    free(type);
}

const char *recmap_message_type_name(const recmap_message_type *type) {
    return type->root ? type->root->name : "";
}

static recmap_status fail_not_known(recmap_error *error) {
    return fail(error, RECMAP_INVALID,
                "the type of the messages is not known without a descriptor "
                "set");
}

static recmap_message_field field_of(const struct field_def *last, size_t levels) {
    return (recmap_message_field){
        .kind = field_type_name(last), .element = field_element(last), .levels = levels};
}

recmap_status recmap_message_type_find(recmap_message_field *field, const recmap_message_type *type,
                                       const char *path, recmap_error *error) {
    struct message_path found;
    if (!type->root) return fail_not_known(error);
    RETURN_IF_FAILED(message_path_find(&found, type, path, strlen(path), error));
    const struct field_def *last = message_path_field(&found);
    *field = field_of(last, found.levels);
    return RECMAP_OK;
}

/* The messages that are being listed, the outermost first, with the field of each that is next. */
struct listing {
    recmap_message_visit_fn visit;
    void *context;
    const struct message_def *open[PATH_STEPS_MAX];
    size_t next[PATH_STEPS_MAX];
    size_t depth;
    size_t listed;
};

static bool is_open(const struct listing *listing, const struct message_def *message) {
    for (size_t i = 0; i < listing->depth; i++)
        if (listing->open[i] == message) return true;
    return false;
}

/* Passes on the field that the open ones lead to, whose names have dots between them. */
static recmap_status list_field(struct listing *listing, const struct field_def *last,
                                recmap_error *error) {
    recmap_text path = RECMAP_TEXT_INIT;
    recmap_message_field found = field_of(last, 0);
    bool is_good = true;
    for (size_t i = 0; i < listing->depth; i++) {
        const struct field_def *field = &listing->open[i]->fields[listing->next[i] - 1];
        found.levels += field->is_repeated;
        is_good = is_good && (i == 0 || text_append(&path, ".", 1)) &&
                  text_append(&path, field->name, strlen(field->name));
    }
    listing->listed++;
    recmap_status status = is_good ? listing->visit(path.data, &found, listing->context)
                                   : fail_memory(error);
    recmap_text_deinit(&path);
    return status;
}

static recmap_status list_fields(struct listing *listing, recmap_error *error) {
    for (size_t step = 0; listing->depth && step < LISTED_STEPS_MAX; step++) {
        if (listing->listed == LISTED_FIELDS_MAX) break;
        const struct message_def *message = listing->open[listing->depth - 1];
        size_t next = listing->next[listing->depth - 1]++;
        if (next == message->count) {
            listing->depth--;
            continue;
        }
        const struct field_def *field = &message->fields[next];
        if (!field->message) {
            RETURN_IF_FAILED(list_field(listing, field, error));
        } else if (listing->depth < PATH_STEPS_MAX && !is_open(listing, field->message)) {
            listing->open[listing->depth] = field->message;
            listing->next[listing->depth++] = 0;
        }
    }
    return RECMAP_OK;
}

recmap_status recmap_message_type_visit(recmap_message_visit_fn visit, void *context,
                                        const recmap_message_type *type, recmap_error *error) {
    if (!type->root) return fail_not_known(error);
    struct listing listing = {
        .visit = visit, .context = context, .open = {type->root}, .next = {0}, .depth = 1};
    return list_fields(&listing, error);
}

static recmap_status put_field(const char *path, const recmap_message_field *field, void *context) {
    struct json_writer *json = context;
    json_open(json, '{');
    json_key(json, "path");
    json_text(json, path);
    json_key(json, "kind");
    json_text(json, field->kind);
    json_key(json, "levels");
    json_uint64(json, field->levels);
    json_close(json, '}');
    return RECMAP_OK;
}

recmap_status recmap_message_type_to_json(recmap_text *text, const recmap_message_type *type,
                                          recmap_error *error) {
    if (!type->root) return fail_not_known(error);
    struct json_writer json = json_begin(text);
    json_open(&json, '[');
    recmap_status status = recmap_message_type_visit(put_field, &json, type, error);
    json_close(&json, ']');
    json.failed |= status != RECMAP_OK;
    return json_end(&json, error);
}
