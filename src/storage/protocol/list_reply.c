#include "storage/protocol/list_reply.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/core/array.h"

const struct list_dialect list_dialect_s3 = {"ListBucketResult", "Contents", "Key",
                                             "NextContinuationToken", "IsTruncated"};
const struct list_dialect list_dialect_azure = {"EnumerationResults", "Blob", "Name", "NextMarker",
                                                NULL};

enum { DEPTH_MAX = 16, TEXT_MAX = 8192 };

enum xml_event { XML_BEGIN, XML_END, XML_EMPTY, XML_TEXT, XML_DONE, XML_BAD };

struct xml {
    const char *cursor, *end;
    const char *name; /* of the element, without a namespace prefix; or the text */
    size_t name_size;
};

static const char *find(const struct xml *xml, const char *word) {
    return memmem(xml->cursor, (size_t)(xml->end - xml->cursor), word, strlen(word));
}

/* Skips a construct that begins at the position and ends with `word`. */
static bool skip_past(struct xml *xml, const char *word) {
    const char *tag = find(xml, word);
    if (tag) xml->cursor = tag + strlen(word);
    return tag != NULL;
}

static bool begins_with(const struct xml *xml, const char *word) {
    size_t size = strlen(word);
    return (size_t)(xml->end - xml->cursor) >= size && !memcmp(xml->cursor, word, size);
}

static bool is_name_end(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '/';
}

/* The position is at the `<` of a tag. Attributes are ignored; S3 and Azure send no `>` in them. */
static enum xml_event next_tag(struct xml *xml) {
    const char *close = memchr(xml->cursor, '>', (size_t)(xml->end - xml->cursor));
    if (!close) return XML_BAD;
    const char *name = xml->cursor + 1;
    bool is_end = name < close && *name == '/';
    if (is_end) name++;
    const char *name_end = name;
    while (name_end < close && !is_name_end(*name_end)) name_end++;
    bool is_empty = close[-1] == '/' && !is_end;
    const char *prefix = memchr(name, ':', (size_t)(name_end - name));
    if (prefix) name = prefix + 1;
    xml->cursor = close + 1;
    xml->name = name;
    xml->name_size = (size_t)(name_end - name);
    if (!xml->name_size) return XML_BAD;
    return is_end ? XML_END : is_empty ? XML_EMPTY : XML_BEGIN;
}

static enum xml_event next_event(struct xml *xml) {
    while (xml->cursor < xml->end) {
        if (*xml->cursor != '<') {
            const char *tag = memchr(xml->cursor, '<', (size_t)(xml->end - xml->cursor));
            xml->name = xml->cursor;
            xml->cursor = tag ? tag : xml->end;
            xml->name_size = (size_t)(xml->cursor - xml->name);
            return XML_TEXT;
        }
        if (begins_with(xml, "<?")) {
            if (!skip_past(xml, "?>")) return XML_BAD;
        } else if (begins_with(xml, "<!--")) {
            if (!skip_past(xml, "-->")) return XML_BAD;
        } else {
            return begins_with(xml, "<!") ? XML_BAD : next_tag(xml);
        }
    }
    return XML_DONE;
}

/* Writes a code point as UTF-8. Returns the number of bytes; 0 for those that cannot be in a name.
 */
static size_t put_utf8(char *out, uint32_t code) {
    if (!code || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
    if (code < 0x80) return out[0] = (char)code, 1;
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(marks[size] | code);
    return size;
}

/* Decodes a number reference without `&` and `;`: #38 or #x26. */
static size_t put_number(char *out, const char *text, size_t size) {
    char digits[12] = "";
    bool is_hex = size > 2 && text[1] == 'x';
    const char *first = text + 1 + is_hex;
    size_t count = size - 1 - is_hex;
    if (!count || count >= sizeof digits) return 0;
    memcpy(digits, first, count);
    const char *allowed = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
    if (strspn(digits, allowed) != count) return 0;
    unsigned long long code = strtoull(digits, NULL, is_hex ? 16 : 10);
    return code > UINT32_MAX ? 0 : put_utf8(out, (uint32_t)code);
}

static size_t put_reference(char *out, const char *text, size_t size) {
    static const struct {
        const char *name;
        char c;
    } known[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    if (size && text[0] == '#') return put_number(out, text, size);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (size == strlen(known[i].name) && !memcmp(text, known[i].name, size))
            return out[0] = known[i].c, 1;
    return 0;
}

/* Copies text with its references replaced. A reference is never shorter than what it stands for.
 */
static enum list_verdict copy_text(char **copy, const char *text, size_t size) {
    if (size > TEXT_MAX || memchr(text, 0, size)) return LIST_MALFORMED;
    char *out = malloc(size + 1);
    if (!out) return LIST_NO_MEMORY;
    size_t used = 0;
    for (const char *cursor = text, *end = text + size; cursor < end;) {
        if (*cursor != '&') {
            out[used++] = *cursor++;
            continue;
        }
        const char *stop = memchr(cursor, ';', (size_t)(end - cursor));
        size_t put = stop ? put_reference(out + used, cursor + 1, (size_t)(stop - cursor - 1)) : 0;
        if (!put) {
            free(out);
            return LIST_MALFORMED;
        }
        used += put;
        cursor = stop + 1;
    }
    out[used] = 0;
    *copy = out;
    return LIST_OK;
}

static enum list_verdict add_name(struct list_page *page, const char *text, size_t size) {
    if (!array_reserve(&page->names, &page->capacity, page->count + 1, sizeof *page->names))
        return LIST_NO_MEMORY;
    enum list_verdict verdict = copy_text(&page->names[page->count], text, size);
    if (verdict == LIST_OK) page->count++;
    return verdict;
}

/* The open elements. */
struct xml_stack {
    struct {
        const char *name;
        size_t size;
    } open[DEPTH_MAX];
    size_t depth;
};

static bool push(struct xml_stack *stack, const struct xml *xml) {
    if (stack->depth == DEPTH_MAX) return false;
    stack->open[stack->depth].name = xml->name;
    stack->open[stack->depth++].size = xml->name_size;
    return true;
}

static bool pop(struct xml_stack *stack, const struct xml *xml) {
    if (!stack->depth) return false;
    stack->depth--;
    return stack->open[stack->depth].size == xml->name_size &&
           !memcmp(stack->open[stack->depth].name, xml->name, xml->name_size);
}

static bool equals(const char *text, size_t size, const char *name) {
    return size == strlen(name) && !memcmp(text, name, size);
}

/* Returns true if the innermost element but `above` has this name. */
static bool is_in(const struct xml_stack *stack, size_t above, const char *name) {
    if (stack->depth <= above) return false;
    size_t i = stack->depth - 1 - above;
    return equals(stack->open[i].name, stack->open[i].size, name);
}

static bool is_true(const char *text, size_t size) {
    return (size == 4 && !strncasecmp(text, "true", 4)) || (size == 1 && *text == '1');
}

static enum list_verdict take_text(struct list_page *page, const struct list_dialect *dialect,
                                   const struct xml_stack *stack, const struct xml *xml) {
    if (is_in(stack, 0, dialect->name) && is_in(stack, 1, dialect->item))
        return add_name(page, xml->name, xml->name_size);
    if (dialect->more && is_in(stack, 0, dialect->more))
        page->has_more = is_true(xml->name, xml->name_size);
    if (!is_in(stack, 0, dialect->next) || page->next) return LIST_OK;
    return copy_text(&page->next, xml->name, xml->name_size);
}

/* The verdict on a page that was read to its end. A server that answers as if it knew only the
 * first version of ListObjects sends no token. Its list must not be taken for a complete one. */
static enum list_verdict conclude(const struct list_page *page) {
    return page->has_more && !page->next ? LIST_INCOMPLETE : LIST_OK;
}

/* Another document than a list, such as a page for people, has no names either: it must not be
 * taken for an empty list. So the outermost element counts. */
enum list_verdict list_page_read(struct list_page *page, const struct list_dialect *dialect,
                                 const char *text, size_t size) {
    struct xml xml = {.cursor = text, .end = text + size};
    struct xml_stack stack = {.depth = 0};
    bool has_root = false;
    for (;;) {
        enum xml_event event = next_event(&xml);
        bool is_good = event != XML_BAD;
        enum list_verdict verdict = LIST_OK;
        if (event == XML_DONE) return has_root && !stack.depth ? conclude(page) : LIST_MALFORMED;
        bool is_element = event == XML_BEGIN || event == XML_EMPTY;
        if (is_element && !stack.depth && !equals(xml.name, xml.name_size, dialect->root))
            return LIST_MALFORMED;
        if (event == XML_BEGIN) is_good = push(&stack, &xml);
        if (event == XML_END) is_good = pop(&stack, &xml);
        if (event == XML_TEXT) verdict = take_text(page, dialect, &stack, &xml);
        has_root |= is_element;
        if (!is_good) return LIST_MALFORMED;
        if (verdict != LIST_OK) return verdict;
    }
}

void list_page_deinit(struct list_page *page) {
    for (size_t i = 0; i < page->count; i++) free(page->names[i]);
    free(page->names);
    free(page->next);
    *page = (struct list_page){0};
}

/* The tags between are not looked at: a list that is malformed there is not one that was cut. */
bool list_is_cut(const struct list_dialect *dialect, const char *text, size_t size) {
    struct xml xml = {.cursor = text, .end = text + size};
    enum xml_event event;
    do event = next_event(&xml);
    while (event == XML_TEXT);
    if (event != XML_BEGIN || !equals(xml.name, xml.name_size, dialect->root)) return false;
    while (size && is_name_end(text[size - 1])) size--;
    if (text[size - 1] != '>') return true;
    const char *last = text + size - 1 - xml.name_size; /* the name of the last tag, if it is */
    return last <= xml.name || memcmp(last, xml.name, xml.name_size) != 0;
}
