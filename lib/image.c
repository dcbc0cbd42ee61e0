#include "lib/image.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/image_vfs.h"
#include "lib/order.h"

enum { NAME_SIZE = 40, HEADER_SIZE = 100, LEAF_TABLE = 0x0D };

struct image {
    struct image *next; /* of those that are attached, the one used last in front */
    sqlite3 *db;
    const struct table *table;
    bool transfer;
    bool attached;
    char name[NAME_SIZE];
    struct image_file file;
    struct image_pages pages;
    uint8_t *schema; /* page 1 */
    uint32_t changes;
    struct pages *index; /* leaves, one for each index of a transfer's table */
    size_t indexes;
};

const char *image_name(const struct image *image)
{
    return image->name;
}

/* All that are attached to a connection. Each is touched by its connection's thread alone, the list
 * by all of them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct image *images;

static void unlist(struct image *image)
{
    pthread_mutex_lock(&lock);
    struct image **link = &images;
    while (*link != NULL && *link != image) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = image->next;
    }
    pthread_mutex_unlock(&lock);
}

static void list(struct image *image)
{
    unlist(image);
    pthread_mutex_lock(&lock);
    image->next = images;
    images = image;
    pthread_mutex_unlock(&lock);
}

/* The one of this connection that has not been used for longest and holds no rows now. */
static struct image *find_idle(const sqlite3 *db)
{
    struct image *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct image *image = images; image != NULL; image = image->next) {
        if (image->db == db && image->pages.stage == NULL) {
            found = image;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* CREATE TABLE for the columns alone. NULL: out of memory. */
static char *plain_ddl(const struct table *table)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendf(sql, "CREATE TABLE \"%w\"(", table->name);
    for (size_t i = 0; i < table->columns; i++) {
        sqlite3_str_appendf(sql, "%s\"%w\"%s", i > 0 ? "," : "", table->column[i].name,
                            i == table->rowid ? " INTEGER PRIMARY KEY" : "");
    }
    if (table->without_rowid) {
        static const char *const collations[] = {"BINARY", "NOCASE", "RTRIM"};
        sqlite3_str_appendall(sql, ",PRIMARY KEY(");
        for (size_t i = 0; i < table->keys; i++) {
            sqlite3_str_appendf(sql, "%s\"%w\" COLLATE %s%s", i > 0 ? "," : "",
                                table->column[table->key[i].column].name,
                                collations[table->key[i].collation],
                                table->key[i].descending ? " DESC" : "");
        }
        sqlite3_str_appendall(sql, ")) WITHOUT ROWID");
    } else {
        sqlite3_str_appendall(sql, ")");
    }
    return sqlite3_str_finish(sql);
}

/* Adds a row of sqlite_schema to page 1. False: no room. */
static bool add_schema_row(uint8_t *page, const char *type, const char *name, const char *table,
                           uint32_t root, const char *sql)
{
    uint32_t cells = get_u16(page + HEADER_SIZE + 3);
    uint32_t top = get_u16(page + HEADER_SIZE + 5);
    struct record_slot slot[5] = {{.serial = SERIAL_NULL}};
    record_slot_bytes(&slot[0], SERIAL_TEXT, type, (uint32_t)strlen(type));
    record_slot_bytes(&slot[1], SERIAL_TEXT, name, (uint32_t)strlen(name));
    record_slot_bytes(&slot[2], SERIAL_TEXT, table, (uint32_t)strlen(table));
    record_slot_integer(&slot[3], root);
    if (sql != NULL) {
        record_slot_bytes(&slot[4], SERIAL_TEXT, sql, (uint32_t)strlen(sql));
    }
    size_t header = record_header_size(slot, 5);
    size_t body = record_body_size(slot, 5);
    size_t payload = header + body;
    size_t size = varint_size(payload) + varint_size(cells + 1) + payload;
    if (HEADER_SIZE + PAGES_LEAF_HEADER + 2 * (cells + 1) + RECORD_SLACK + size > top) {
        return false;
    }
    top -= (uint32_t)size;
    uint8_t *out = page + top;
    record_write(out + size - payload, slot, 5, header, body);
    out += varint_write(out, payload);
    varint_write(out, cells + 1);
    put_u16(page + HEADER_SIZE + PAGES_LEAF_HEADER + 2 * (size_t)cells, top);
    put_u16(page + HEADER_SIZE + 3, cells + 1);
    put_u16(page + HEADER_SIZE + 5, top);
    return true;
}

/* Page 1 but for what changes from pass to pass. 1: done, 0: the DDL is too long for a page,
 * negative: out of memory. */
static int make_schema(struct image *image)
{
    static const uint8_t fixed[] = {1, 1, 0, 64, 32, 32}; /* formats, reserved, fractions */
    const struct table *table = image->table;
    uint8_t *page = image->schema;
    memcpy(page, "SQLite format 3", 16);
    put_u16(page + 16, PAGES_SIZE);
    memcpy(page + 18, fixed, sizeof fixed);
    put_u32(page + 40, 1); /* schema cookie */
    put_u32(page + 44, 4); /* schema format: descending indexes, integers 0 and 1 */
    put_u32(page + 56, 1); /* UTF-8 */
    put_u32(page + 96, (uint32_t)sqlite3_libversion_number());
    page[HEADER_SIZE] = LEAF_TABLE;
    put_u16(page + HEADER_SIZE + 5, PAGES_SIZE);
    char *plain = image->transfer ? NULL : plain_ddl(table);
    if (!image->transfer && plain == NULL) {
        return -1;
    }
    bool fits = add_schema_row(page, "table", table->name, table->name, IMAGE_TABLE_ROOT,
                               image->transfer ? table->sql : plain);
    sqlite3_free(plain);
    for (size_t i = 0; i < image->indexes && fits; i++) {
        fits = add_schema_row(page, "index", table->index[i].name, table->name,
                              IMAGE_TABLE_ROOT + 1 + (uint32_t)i, table->index[i].sql);
    }
    return fits;
}

/* What tells SQLite that it must read again, and how much there is. */
static void update_header(struct image *image)
{
    image->changes++;
    put_u32(image->schema + 24, image->changes);
    put_u32(image->schema + 28, image_pages_size(&image->pages));
    put_u32(image->schema + 92, image->changes);
}

/* Trees without rows; their pages are the first ones of the image's own and stay. */
static bool make_empty(struct image *image)
{
    static const struct pages none = {.page = NULL};
    for (uint32_t i = 0; i <= image->indexes; i++) {
        if (!image_tree(&image->pages, &none, IMAGE_TABLE_ROOT + i,
                        i == 0 && !image->table->without_rowid)) {
            return false;
        }
    }
    update_header(image);
    return true;
}

void image_empty(struct image *image)
{
    /* Page 1 and the empty roots are the image's first own pages. */
    size_t roots = image->indexes + 1;
    image_pages_cut(&image->pages, IMAGE_TABLE_ROOT + (uint32_t)roots, 1 + roots);
    for (size_t i = 0; i < roots; i++) {
        image->pages.page[IMAGE_TABLE_ROOT + i] = image->pages.own[1 + i];
    }
    for (size_t i = 0; i < image->indexes; i++) {
        pages_clear(&image->index[i]);
    }
    update_header(image);
}

static int run(sqlite3 *db, char *sql)
{
    int rc = sql == NULL ? SQLITE_NOMEM : sqlite3_exec(db, sql, NULL, NULL, NULL);
    sqlite3_free(sql);
    return rc;
}

/* False: SQLite kept it, for want of memory. */
static bool detach(struct image *image)
{
    if (image->attached && run(image->db, sqlite3_mprintf("DETACH %s", image->name)) == SQLITE_OK) {
        image->attached = false;
        unlist(image);
    }
    return !image->attached;
}

static int attach_once(struct image *image, const char *vfs)
{
    return run(image->db,
               sqlite3_mprintf("ATTACH 'file:" IMAGE_VFS_PATH "%llu?vfs=%s&mode=ro' AS %s",
                               (unsigned long long)image->file.number, vfs, image->name));
}

/* 1, 0 when the connection takes no more databases, or an error. */
static int attach(struct image *image, struct pitot_error *error)
{
    const char *vfs = image_vfs_name();
    if (vfs == NULL) {
        return failure(error, PITOT_ERROR_MEMORY, "SQLite took no VFS for images");
    }
    int rc = attach_once(image, vfs);
    if (rc == SQLITE_ERROR && strstr(sqlite3_errmsg(image->db), "too many attached") != NULL) {
        struct image *idle = find_idle(image->db);
        if (idle == NULL || !detach(idle)) {
            return 0;
        }
        rc = attach_once(image, vfs);
    }
    if (rc == SQLITE_OK) {
        image->attached = true;
        list(image);
        /* Pages are then used where they lie, and not copied. */
        rc = run(image->db, sqlite3_mprintf("PRAGMA %s.mmap_size = 1099511627776", image->name));
    }
    return rc == SQLITE_OK
               ? 1
               : failure_sqlite(error, image->db, rc, "the image of %s", image->table->name);
}

/* 1 or 0 as image_new() says, or an error. */
static int prepare(struct image *image, struct pitot_error *error)
{
    const struct table *table = image->table;
    image->indexes = image->transfer ? table->indexes : 0;
    image->index = calloc(image->indexes + 1, sizeof *image->index);
    image->schema = image_pages_new(&image->pages);
    bool done = image->index != NULL && image->schema != NULL;
    /* Numbers from 0 on: there is no page 0, then the schema, then the roots. */
    for (size_t i = 0; i < IMAGE_TABLE_ROOT + 1 + image->indexes && done; i++) {
        image_pages_number(&image->pages, i == IMAGE_SCHEMA_PAGE ? image->schema : NULL);
        done = image->pages.count == i + 1;
    }
    int fits = done && make_empty(image) ? make_schema(image) : -1;
    if (fits <= 0) {
        return fits == 0 ? 0
                         : failure(error, PITOT_ERROR_MEMORY, "%s: out of memory for its image",
                                   table->name);
    }
    image_vfs_add(&image->file);
    snprintf(image->name, sizeof image->name, "pitot_image_%llu",
             (unsigned long long)image->file.number);
    return 1;
}

int image_new(struct image **out, sqlite3 *db, const struct table *table, bool transfer,
              struct pitot_error *error)
{
    *out = NULL;
    bool plain_key = true;
    for (size_t i = 0; i < table->keys; i++) {
        plain_key = plain_key && table->key[i].column < table->columns &&
                    table->key[i].collation != COLLATION_OTHER;
    }
    if (table->without_rowid && !plain_key) {
        return 0;
    }
    struct image *image = calloc(1, sizeof *image);
    if (image == NULL) {
        return failure(error, PITOT_ERROR_MEMORY, "%s: out of memory for its image", table->name);
    }
    image->db = db;
    image->table = table;
    image->transfer = transfer;
    image->file.pages = &image->pages;
    int code = prepare(image, error);
    if (code <= 0) {
        image_free(image);
        return code;
    }
    *out = image;
    return 0;
}

static void destroy(struct image *image)
{
    for (size_t i = 0; i < image->indexes && image->index != NULL; i++) {
        pages_clear(&image->index[i]);
    }
    image_pages_cut(&image->pages, 0, 0);
    free(image->pages.own);
    free(image->pages.page);
    free(image->index);
    free(image);
}

static void closed(struct image_file *file)
{
    destroy((struct image *)((char *)file - offsetof(struct image, file)));
}

void image_free(struct image *image)
{
    if (image == NULL) {
        return;
    }
    if (image->attached) {
        image_empty(image);
        detach(image);
        unlist(image);
    }
    image_vfs_remove(&image->file);
    if (image->file.open) {
        /* It could not be detached, for want of memory: it ends with the connection. */
        image->file.closed = closed;
        return;
    }
    destroy(image);
}

/* A value as an index's entry has it. */
static void entry_slot(struct record_slot *slot, const struct pitot_value *value)
{
    switch (value->type) {
    case PITOT_INTEGER:
        record_slot_integer(slot, value->as.integer);
        break;
    case PITOT_REAL:
        record_slot_real(slot, value->as.real);
        break;
    case PITOT_TEXT:
    case PITOT_BLOB:
        record_slot_bytes(slot, value->type == PITOT_TEXT ? SERIAL_TEXT : SERIAL_BLOB,
                          value->as.bytes, value->size);
        break;
    default:
        *slot = (struct record_slot){.serial = SERIAL_NULL};
        break;
    }
}

/* 1: added, 0: too long, negative: out of memory. */
static int add_entry(struct pages *leaves, const struct order *order, const uint8_t *cell,
                     struct record_slot *slot)
{
    struct row row;
    row_read(order->stage, cell, &row);
    order_values(order, &row, order->one);
    for (size_t i = 0; i < order->keys; i++) {
        entry_slot(&slot[i], &order->one[i]);
    }
    size_t header = record_header_size(slot, order->keys);
    size_t body = record_body_size(slot, order->keys);
    size_t payload = header + body;
    if (payload > PAGES_INDEX_LOCAL) {
        return 0;
    }
    size_t size = varint_size(payload) + payload;
    uint8_t *out = pages_add(leaves, size < 4 ? 4 : size, RECORD_SLACK);
    if (out == NULL) {
        return -1;
    }
    size_t before = varint_size(payload);
    record_write(out + before, slot, order->keys, header, body);
    varint_write(out, payload);
    return 1;
}

/* The entries of an index, in order. As image_fill(). */
static int fill_index(struct pages *leaves, const struct stage *stage,
                      const struct table_index *index, struct pitot_error *error)
{
    struct order order;
    int code = order_rows(&order, stage, index->key, index->keys,
                          index->unique ? index->unique_keys : index->keys,
                          index->primary ? NULL : index->name, error);
    struct record_slot *slot = code == 0 ? calloc(index->keys, sizeof *slot) : NULL;
    int added = slot == NULL ? -1 : 1;
    size_t number = 0;
    for (size_t p = 0; p < stage->pages.count && added > 0; p++) {
        for (size_t c = 0; c < stage->pages.page[p].cells && added > 0; c++) {
            const uint8_t *cell = order.item != NULL ? order.item[number++].cell
                                                     : page_cell(&stage->pages.page[p], c);
            added = add_entry(leaves, &order, cell, slot);
        }
    }
    free(slot);
    order_release(&order);
    if (code == 0 && added < 0) {
        code = failure(error, PITOT_ERROR_MEMORY, "%s: out of memory for its index %s",
                       stage->table->name, index->name);
    }
    return code != 0 ? code : added;
}

int image_fill(struct image *image, const struct stage *stage, struct pitot_error *error)
{
    const struct table *table = image->table;
    int filled = 1;
    if (image->attached) {
        list(image);
    } else {
        filled = attach(image, error);
        if (filled <= 0) {
            return filled;
        }
    }
    image->pages.stage = stage;
    for (size_t i = 0; i < image->indexes && filled > 0; i++) {
        filled = fill_index(&image->index[i], stage, &table->index[i], error);
    }
    bool done = filled > 0 &&
                image_tree(&image->pages, &stage->pages, IMAGE_TABLE_ROOT, !table->without_rowid);
    for (size_t i = 0; i < image->indexes && done; i++) {
        done =
            image_tree(&image->pages, &image->index[i], IMAGE_TABLE_ROOT + 1 + (uint32_t)i, false);
    }
    if (filled > 0 && !done) {
        filled = failure(error, PITOT_ERROR_MEMORY, "%s: out of memory for its image", table->name);
    }
    if (filled <= 0) {
        image_empty(image);
        return filled;
    }
    update_header(image);
    return 1;
}
