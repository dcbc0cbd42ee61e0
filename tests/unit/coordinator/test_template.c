/* Templates: built once, found again, built anew whenever something does not agree. */
#include "base/buffer.h"
#include "base/file.h"
#include "coordinator/data.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>

#include "../folder.h"

enum { TEMPLATE_BYTES = 1 << 20 };

static struct data_folder data;
static struct error error;
static char notes[4096], dones[4096];
static int builds;

static void keep(void *context, const char *text)
{
    (void)context;
    snprintf(notes, sizeof notes, "%s", text);
}

static void keep_done(void *context, const char *text)
{
    (void)context;
    snprintf(dones, sizeof dones, "%s", text);
}

static const struct progress progress = {.note = keep, .done = keep_done};

static int set_up(void **state)
{
    error_clear(&error);
    builds = 0;
    notes[0] = dones[0] = '\0';
    return make_test_folder(state) != 0 ? -1 : data_open(&data, folder, NULL, &error);
}

static int tear_down(void **state)
{
    data_close(&data);
    return remove_test_folder(state);
}

static struct script_constant variables[] = {{(char *)(uintptr_t) "users", 1000},
                                             {(char *)(uintptr_t) "orders", 4000}};
static struct script_constant reversed[] = {{(char *)(uintptr_t) "orders", 4000},
                                            {(char *)(uintptr_t) "users", 1000}};
static const char *const settings[] = {"auto_vacuum=1", "page_size=512"};

static struct template_key key(void)
{
    return (struct template_key){
        .workload = "prod",
        .scale = "small",
        .load_hash = 0xfedcba9876543210u,
        .seed = 7,
        .variables = variables,
        .variable_count = 2,
        .file_settings = settings,
        .file_setting_count = 2,
    };
}

/* What the fake load does. */
enum behaviour { GOOD, FAIL, INTERRUPT, NO_FILE, NO_DATABASE, LOG_LEFT };

static void write_database(const char *path)
{
    unsigned char *bytes = malloc(TEMPLATE_BYTES);
    assert_non_null(bytes);
    for (size_t i = 0; i < TEMPLATE_BYTES; i++) {
        bytes[i] = (unsigned char)(i * 31 >> 3);
    }
    memcpy(bytes, "SQLite format 3", 16);
    write_bytes(path, bytes, TEMPLATE_BYTES);
    free(bytes);
}

static int fill(struct template_built *built)
{
    built->engine = strdup("sqlite");
    built->engine_version = strdup("3.54.1");
    built->tables = calloc(2, sizeof *built->tables);
    built->rows = calloc(2, sizeof *built->rows);
    built->tables[0] = strdup("users");
    built->tables[1] = strdup("orders");
    built->rows[0] = 1000;
    built->rows[1] = UINT64_C(1) << 60; /* as a text in JSON */
    built->table_count = 2;
    return 0;
}

static int build(void *context, const char *path, struct template_built *built,
                 struct error *problem)
{
    enum behaviour behaviour = *(enum behaviour *)context;
    char log[PATH_MAX];
    snprintf(log, sizeof log, "%s-wal", path);
    builds++;
    assert_false(exists(path));
    if (behaviour == NO_FILE) {
        return fill(built);
    }
    if (behaviour == NO_DATABASE) {
        write_text(path, "this is another kind of file");
        return fill(built);
    }
    write_database(path);
    write_text(log, behaviour == LOG_LEFT ? "frames" : "");
    fill(built);
    switch (behaviour) {
    case FAIL:
        return error_set(problem, ERROR_ENGINE, "the load failed");
    case INTERRUPT:
        return error_set(problem, ERROR_INTERRUPTED, "ended by a signal");
    default:
        return 0;
    }
}

static int prepare(const struct template_key *of, bool fresh, enum behaviour behaviour,
                   struct template_file *out)
{
    error_clear(&error);
    return template_prepare(&data, of, TEMPLATE_BYTES, fresh, build, &behaviour, &progress, out,
                            &error);
}

static int files(void)
{
    DIR *entries = opendir(folder);
    int count = 0;
    struct dirent *entry;
    while ((entry = readdir(entries)) != NULL) {
        count += entry->d_name[0] != '.' && strcmp(entry->d_name, "template.lock") != 0;
    }
    closedir(entries);
    return count;
}

static void assert_whole(const struct template_file *file)
{
    assert_true(exists(file->path));
    assert_int_equal(file->bytes, TEMPLATE_BYTES);
    assert_int_equal(strlen(file->identity), 16);
    assert_holds(file->path, file->identity);
    assert_holds(file->path, "/template-prod-small-");
    assert_string_equal(file->engine, "sqlite");
    assert_string_equal(file->engine_version, "3.54.1");
    assert_int_equal(file->table_count, 2);
    assert_string_equal(file->tables[0], "users");
    assert_string_equal(file->tables[1], "orders");
    assert_int_equal(file->rows[0], 1000);
    assert_int_equal(file->rows[1], UINT64_C(1) << 60);
    assert_int_equal(files(), 2);
}

static void built_and_reused(void **state)
{
    (void)state;
    struct template_key asked = key();
    struct template_file first, second;
    assert_int_equal(prepare(&asked, false, GOOD, &first), 0);
    assert_whole(&first);
    assert_false(first.reused);
    assert_true(first.build_seconds >= 0);
    assert_holds(dones, "template built");

    /* The order in which variables are listed says nothing. */
    asked.variables = reversed;
    assert_int_equal(prepare(&asked, false, FAIL, &second), 0);
    assert_whole(&second);
    assert_true(second.reused);
    assert_true(isnan(second.build_seconds));
    assert_string_equal(first.path, second.path);
    assert_int_equal(builds, 1);
    assert_string_equal(notes, "");
    template_release(&second);

    assert_int_equal(prepare(&asked, true, GOOD, &second), 0);
    assert_whole(&second);
    assert_false(second.reused);
    assert_int_equal(builds, 2);
    template_release(&second);
    template_release(&first);
}

static void other_key_other_template(void **state)
{
    (void)state;
    static struct script_constant other_value[] = {{(char *)(uintptr_t) "users", 1001},
                                                   {(char *)(uintptr_t) "orders", 4000}};
    static const char *const joined[] = {"auto_vacuum=1page_size=512"};
    struct template_key keys[9];
    for (size_t i = 0; i < 9; i++) {
        keys[i] = key();
    }
    keys[1].seed = 8;
    keys[2].load_hash++;
    keys[3].scale = "medium";
    keys[4].workload = "bench";
    keys[5].variables = other_value;
    keys[6].variable_count = 1;
    keys[7].file_setting_count = 1;
    keys[8].file_settings = joined;
    keys[8].file_setting_count = 1;
    struct template_file templates[9];
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(prepare(&keys[i], false, GOOD, &templates[i]), 0);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(templates[i].identity, templates[j].identity);
            assert_string_not_equal(templates[i].path, templates[j].path);
        }
    }
    assert_int_equal(builds, 9);
    assert_int_equal(files(), 18);
    for (size_t i = 0; i < 9; i++) {
        template_release(&templates[i]);
    }
}

/* What can be wrong with a template that is found. */
static void cut(const char *path, const char *description)
{
    (void)description;
    assert_int_equal(truncate(path, TEMPLATE_BYTES / 2), 0);
}

static void lengthen(const char *path, const char *description)
{
    (void)description;
    assert_int_equal(truncate(path, TEMPLATE_BYTES + 4096), 0);
}

static void change_at(const char *path, off_t offset)
{
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "??", 2, offset), 2);
    close(fd);
}

static void change_magic(const char *path, const char *description)
{
    (void)description;
    change_at(path, 3);
}

static void change_head(const char *path, const char *description)
{
    (void)description;
    change_at(path, 100);
}

static void change_end(const char *path, const char *description)
{
    (void)description;
    change_at(path, TEMPLATE_BYTES - 2);
}

/* One byte that no sample would find. */
static void change_a_byte(const char *path, const char *description)
{
    (void)description;
    change_at(path, TEMPLATE_BYTES / 3 + 1237);
}

/* From a point on, as a write that stopped half-way leaves it. */
static void change_second_half(const char *path, const char *description)
{
    (void)description;
    for (off_t at = TEMPLATE_BYTES / 2; at < TEMPLATE_BYTES - 128 * 1024; at += 4096) {
        change_at(path, at);
    }
}

static void remove_database(const char *path, const char *description)
{
    (void)description;
    assert_int_equal(unlink(path), 0);
}

static void remove_description(const char *path, const char *description)
{
    (void)path;
    assert_int_equal(unlink(description), 0);
}

static void empty_description(const char *path, const char *description)
{
    (void)path;
    write_text(description, "");
}

static void cut_description(const char *path, const char *description)
{
    (void)path;
    assert_int_equal(truncate(description, 40), 0);
}

static void replace_in(const char *path, const char *from, const char *to)
{
    struct buffer bytes;
    buffer_init(&bytes);
    assert_int_equal(file_read(path, 1 << 20, &bytes, &error), 0);
    char *place = strstr(bytes.data, from);
    assert_non_null(place);
    memcpy(place, to, strlen(to));
    write_bytes(path, bytes.data, bytes.length);
    buffer_release(&bytes);
}

static void other_seed(const char *path, const char *description)
{
    (void)path;
    replace_in(description, "\"seed\": 7", "\"seed\": 8");
}

static void other_format(const char *path, const char *description)
{
    (void)path;
    replace_in(description, "\"format\": 1", "\"format\": 0");
}

static void no_rows(const char *path, const char *description)
{
    (void)path;
    replace_in(description, "\"rows\"", "\"rowz\"");
}

static const struct {
    const char *name;
    void (*damage)(const char *path, const char *description);
    const char *reason;
} damages[] = {
    {"cut", cut, "bytes instead of 1048576"},
    {"lengthened", lengthen, "bytes instead of 1048576"},
    {"magic", change_magic, "does not begin"},
    {"head", change_head, "content has changed"},
    {"end", change_end, "content has changed"},
    {"one byte", change_a_byte, "content has changed"},
    {"second half", change_second_half, "content has changed"},
    {"no database", remove_database, "only its description"},
    {"no description", remove_description, "not finished"},
    {"empty description", empty_description, "description"},
    {"cut description", cut_description, "description"},
    {"other seed", other_seed, "something else"},
    {"other format", other_format, "something else"},
    {"no rows", no_rows, "rows"},
};

static void damaged_is_built_anew(void **state)
{
    (void)state;
    struct template_key asked = key();
    struct template_file file;
    char description[PATH_MAX];
    assert_int_equal(prepare(&asked, false, GOOD, &file), 0);
    snprintf(description, sizeof description, "%.*s.json", (int)strlen(file.path) - 3, file.path);
    assert_true(exists(description));
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s", file.path);
        damages[i].damage(path, description);
        template_release(&file);
        builds = 0;
        notes[0] = '\0';
        assert_int_equal(prepare(&asked, false, GOOD, &file), 0);
        if (builds != 1 || file.reused || strstr(notes, damages[i].reason) == NULL) {
            fail_msg("%s: %d builds, \"%s\"", damages[i].name, builds, notes);
        }
        assert_whole(&file);
        template_release(&file);
        assert_int_equal(prepare(&asked, false, GOOD, &file), 0);
        assert_true(file.reused);
    }
    template_release(&file);
}

static void failed_build_leaves_nothing(void **state)
{
    (void)state;
    static const struct {
        enum behaviour behaviour;
        int code;
        const char *message;
    } table[] = {
        {FAIL, ERROR_ENGINE, "the load failed"},
        {INTERRUPT, ERROR_INTERRUPTED, "signal"},
        {NO_FILE, ERROR_IO, "No such file"},
        {NO_DATABASE, ERROR_ENGINE, "no SQLite database"},
        {LOG_LEFT, ERROR_ENGINE, "one file alone"},
    };
    struct template_key asked = key();
    struct template_file file;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_int_equal(prepare(&asked, false, table[i].behaviour, &file), table[i].code);
        assert_holds(error.message, table[i].message);
        assert_null(file.path);
        assert_int_equal(files(), 0);
    }
    /* One that was there stays until the new one is whole. */
    assert_int_equal(prepare(&asked, false, GOOD, &file), 0);
    template_release(&file);
    assert_int_equal(prepare(&asked, true, FAIL, &file), ERROR_ENGINE);
    assert_int_equal(files(), 2);
    assert_int_equal(prepare(&asked, false, FAIL, &file), 0);
    assert_true(file.reused);
    template_release(&file);
}

static void space_is_asked_first(void **state)
{
    (void)state;
    struct template_key asked = key();
    struct template_file file;
    enum behaviour behaviour = GOOD;
    static const uint64_t sizes[] = {UINT64_C(1) << 60, UINT64_MAX};
    for (size_t i = 0; i < 2; i++) {
        error_clear(&error);
        assert_int_equal(template_prepare(&data, &asked, sizes[i], false, build, &behaviour, NULL,
                                          &file, &error),
                         ERROR_FULL);
        assert_holds(error.message, "prod/small");
        assert_int_equal(builds, 0);
    }
    /* A template that is there needs none. */
    assert_int_equal(prepare(&asked, false, GOOD, &file), 0);
    template_release(&file);
    assert_int_equal(
        template_prepare(&data, &asked, UINT64_MAX, false, build, &behaviour, NULL, &file, &error),
        0);
    template_release(&file);
}

static void odd_names(void **state)
{
    (void)state;
    struct template_key asked = key();
    struct template_file first, second;
    asked.workload = "../my work/load \xff";
    asked.scale = "a very long scale's name that goes on and on and on";
    assert_int_equal(prepare(&asked, false, GOOD, &first), 0);
    assert_int_equal(files(), 2);
    assert_ptr_equal(strrchr(first.path, '/'), first.path + strlen(data.path));
    assert_int_equal(prepare(&asked, false, FAIL, &second), 0);
    assert_true(second.reused);
    template_release(&first);
    template_release(&second);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(built_and_reused),      TEST(other_key_other_template),
        TEST(damaged_is_built_anew), TEST(failed_build_leaves_nothing),
        TEST(space_is_asked_first),  TEST(odd_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
