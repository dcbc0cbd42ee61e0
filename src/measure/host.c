#include "measure/host.h"

#include "base/buffer.h"
#include "base/file.h"
#include "core/clock.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* A text file of the kernel's without the white space (or the NUL of a device tree) at
 * its end; NULL if it cannot be read or is empty. free() it. */
static char *read_text(const char *path)
{
    struct buffer text;
    buffer_init(&text);
    char *taken = NULL;
    if (file_read(path, (size_t)16 << 20, &text, NULL) == 0) {
        while (text.length > 0 && (text.data[text.length - 1] == '\0' ||
                                   isspace((unsigned char)text.data[text.length - 1]))) {
            text.length--;
        }
        if (text.length > 0) {
            text.data[text.length] = '\0';
            taken = buffer_take(&text);
        }
    }
    buffer_release(&text);
    return taken;
}

/* The rest of the first line that begins with `name`, blanks and then `separator`; a new
 * string, or NULL. */
static char *line_value(const char *text, const char *name, char separator)
{
    size_t length = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) != 0) {
            continue;
        }
        const char *value = line + length + strspn(line + length, " \t");
        if (*value == separator) {
            value++;
            value += strspn(value, " \t");
            return strndup(value, strcspn(value, "\n"));
        }
    }
    return NULL;
}

struct arm_name {
    unsigned long implementer, part;
    const char *name;
};

/* Arm's own numbers of implementers (part 0) and of the cores that servers and small
 * boards have. */
static const struct arm_name arm_names[] = {
    {0x41, 0, "Arm"},
    {0x43, 0, "Cavium"},
    {0x48, 0, "HiSilicon"},
    {0x4e, 0, "NVIDIA"},
    {0x50, 0, "Applied Micro"},
    {0x51, 0, "Qualcomm"},
    {0x61, 0, "Apple"},
    {0xc0, 0, "Ampere"},
    {0x41, 0xd03, "Cortex-A53"},
    {0x41, 0xd05, "Cortex-A55"},
    {0x41, 0xd07, "Cortex-A57"},
    {0x41, 0xd08, "Cortex-A72"},
    {0x41, 0xd0b, "Cortex-A76"},
    {0x41, 0xd0c, "Neoverse N1"},
    {0x41, 0xd40, "Neoverse V1"},
    {0x41, 0xd49, "Neoverse N2"},
    {0x41, 0xd4f, "Neoverse V2"},
    {0xc0, 0xac3, "Ampere-1"},
};

static const char *arm_name(unsigned long implementer, unsigned long part)
{
    for (size_t i = 0; i < sizeof arm_names / sizeof arm_names[0]; i++) {
        if (arm_names[i].implementer == implementer && arm_names[i].part == part) {
            return arm_names[i].name;
        }
    }
    return NULL;
}

char *host_cpu_model(const char *cpuinfo, const char *tree_model)
{
    char *model = line_value(cpuinfo, "model name", ':');
    if (model != NULL) {
        return model;
    }
    char *implementer = line_value(cpuinfo, "CPU implementer", ':');
    char *part = line_value(cpuinfo, "CPU part", ':');
    struct buffer text;
    buffer_init(&text);
    if (implementer != NULL && part != NULL) {
        unsigned long maker = strtoul(implementer, NULL, 16);
        unsigned long core = strtoul(part, NULL, 16);
        const char *maker_name = arm_name(maker, 0);
        const char *core_name = arm_name(maker, core);
        if (maker_name != NULL) {
            buffer_puts(&text, maker_name);
        } else {
            buffer_printf(&text, "implementer %s", implementer);
        }
        if (core_name != NULL) {
            buffer_printf(&text, " %s", core_name);
        } else {
            buffer_printf(&text, " part %s", part);
        }
    }
    if (tree_model != NULL && tree_model[0] != '\0') {
        buffer_puts(&text, text.length > 0 ? " on " : "");
        buffer_puts(&text, tree_model);
    }
    model = text.length > 0 ? buffer_take(&text) : NULL;
    buffer_release(&text);
    free(implementer);
    free(part);
    return model;
}

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *p = text; (p = strstr(p, word)) != NULL; p += length) {
        if ((p == text || isspace((unsigned char)p[-1])) &&
            (p[length] == '\0' || isspace((unsigned char)p[length]))) {
            return true;
        }
    }
    return false;
}

static void add_mark(struct buffer *marks, const char *text)
{
    if (marks->length > 0) {
        buffer_puts(marks, ", ");
    }
    buffer_puts(marks, text);
}

/* The machine by its firmware's name: a virtual machine's maker calls itself there. */
static void add_firmware(struct buffer *marks)
{
    static const char *const virtual_vendors[] = {
        "QEMU",      "KVM",        "VMware",  "Xen",          "innotek",
        "Microsoft", "Amazon EC2", "Bochs",   "Parallels",    "Google",
        "OpenStack", "Alibaba",    "Hetzner", "DigitalOcean", "Oracle"};
    char *vendor = read_text("/sys/class/dmi/id/sys_vendor");
    char *product = read_text("/sys/class/dmi/id/product_name");
    bool known = false;
    for (size_t i = 0; vendor != NULL && i < sizeof virtual_vendors / sizeof virtual_vendors[0];
         i++) {
        known = known || strstr(vendor, virtual_vendors[i]) != NULL;
    }
    /* Some vendors also sell metal: on x86-64 the hypervisor flag has the last word, and
     * a bare-metal product says so. */
    if (known && (product == NULL || strstr(product, "metal") == NULL)) {
        add_mark(marks, vendor);
        if (product != NULL) {
            buffer_printf(marks, " %s", product);
        }
    }
    free(vendor);
    free(product);
}

static void add_container(struct buffer *marks)
{
    char *cgroup = read_text("/proc/1/cgroup");
    if (access("/.dockerenv", F_OK) == 0) {
        add_mark(marks, "Docker container");
    } else if (access("/run/.containerenv", F_OK) == 0) {
        add_mark(marks, "Podman container");
    } else if (getenv("KUBERNETES_SERVICE_HOST") != NULL) {
        add_mark(marks, "Kubernetes container");
    } else if (cgroup != NULL &&
               (strstr(cgroup, "/docker") != NULL || strstr(cgroup, "/kubepods") != NULL ||
                strstr(cgroup, "/lxc") != NULL)) {
        add_mark(marks, "container");
    }
    free(cgroup);
}

static char *virtual_machine(const char *cpuinfo)
{
    struct buffer marks;
    buffer_init(&marks);
    char *flags = line_value(cpuinfo, "flags", ':');
    bool flagged = flags != NULL && has_word(flags, "hypervisor");
    if (flagged || flags == NULL) {
        add_firmware(&marks);
    }
    if (marks.length == 0) {
        char *type = read_text("/sys/hypervisor/type");
        if (type != NULL) {
            add_mark(&marks, type);
        } else if (flagged) {
            add_mark(&marks, "unnamed hypervisor");
        }
        free(type);
    }
    add_container(&marks);
    char *found = marks.length > 0 ? buffer_take(&marks) : NULL;
    buffer_release(&marks);
    free(flags);
    return found;
}

static char *kernel(void)
{
    struct utsname name;
    struct buffer text;
    buffer_init(&text);
    if (uname(&name) == 0) {
        buffer_printf(&text, "%s %s %s", name.sysname, name.release, name.machine);
    }
    char *found = text.length > 0 ? buffer_take(&text) : NULL;
    buffer_release(&text);
    return found;
}

static char *operating_system(void)
{
    char *text = read_text("/etc/os-release");
    if (text == NULL) {
        text = read_text("/usr/lib/os-release");
    }
    char *name = text != NULL ? line_value(text, "PRETTY_NAME", '=') : NULL;
    free(text);
    size_t length = name != NULL ? strlen(name) : 0;
    if (length >= 2 && (name[0] == '"' || name[0] == '\'') && name[length - 1] == name[0]) {
        memmove(name, name + 1, length - 2);
        name[length - 2] = '\0';
    }
    return name;
}

static uint64_t meminfo_bytes(const char *meminfo, const char *name)
{
    char *value = meminfo != NULL ? line_value(meminfo, name, ':') : NULL;
    uint64_t bytes = value != NULL ? strtoull(value, NULL, 10) * 1024 : 0;
    free(value);
    return bytes;
}

/* Undoes \NNN (octal), by which mountinfo writes blanks and backslashes, in place. */
static void unescape_mount(char *text)
{
    char *out = text;
    for (const char *p = text; *p != '\0';) {
        if (p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' &&
            p[3] >= '0' && p[3] <= '7') {
            *out++ = (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0'));
            p += 4;
        } else {
            *out++ = *p++;
        }
    }
    *out = '\0';
}

/* Cuts the next field off at a blank; NULL when there is none. */
static char *next_field(char **rest)
{
    *rest += strspn(*rest, " ");
    if (**rest == '\0') {
        return NULL;
    }
    char *field = *rest;
    *rest += strcspn(*rest, " ");
    if (**rest != '\0') {
        *(*rest)++ = '\0';
    }
    return field;
}

static bool lies_below(const char *path, const char *mount_point, size_t length)
{
    if (length == 1 && mount_point[0] == '/') {
        return path[0] == '/';
    }
    return strncmp(path, mount_point, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* id parent major:minor root MOUNT-POINT options optional... - TYPE SOURCE options */
static bool parse_mount(char *line, char **point, char **type, char **source)
{
    char *field = NULL;
    for (int i = 0; i < 5; i++) {
        field = next_field(&line);
    }
    *point = field;
    while (field != NULL && strcmp(field, "-") != 0) {
        field = next_field(&line);
    }
    *type = field != NULL ? next_field(&line) : NULL;
    *source = *type != NULL ? next_field(&line) : NULL;
    return *source != NULL;
}

void host_mount_of(const char *mountinfo, const char *path, char **file_system, char **device)
{
    *file_system = *device = NULL;
    char *text = strdup(mountinfo);
    size_t longest = 0;
    char *state = NULL;
    for (char *line = text != NULL ? strtok_r(text, "\n", &state) : NULL; line != NULL;
         line = strtok_r(NULL, "\n", &state)) {
        char *point, *type, *source;
        if (!parse_mount(line, &point, &type, &source)) {
            continue;
        }
        unescape_mount(point);
        size_t length = strlen(point);
        /* Of two mounts on one point the later one hides the other. */
        if (length >= longest && lies_below(path, point, length)) {
            longest = length;
            unescape_mount(source);
            free(*file_system);
            free(*device);
            *file_system = strdup(type);
            *device = strdup(source);
        }
    }
    free(text);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double host_clock_cost_ns(void)
{
    enum { BATCHES = 11, CALLS = 2000 };
    double costs[BATCHES];
    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t start = clock_now_ns();
        uint64_t end = start;
        for (int i = 0; i < CALLS; i++) {
            end = clock_now_ns();
        }
        costs[batch] = (double)(end - start) / CALLS;
    }
    qsort(costs, BATCHES, sizeof costs[0], by_value);
    return costs[BATCHES / 2];
}

static void read_clock(struct host *host)
{
    struct timespec resolution;
    host->clock_source =
        read_text("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    host->clock_cost_ns = host_clock_cost_ns();
    if (clock_getres(CLOCK_MONOTONIC, &resolution) == 0) {
        host->clock_resolution_ns =
            (uint64_t)resolution.tv_sec * NS_PER_S + (uint64_t)resolution.tv_nsec;
    }
}

static uint64_t processors(int name)
{
    long count = sysconf(name);
    return count > 0 ? (uint64_t)count : 0;
}

uint64_t host_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) {
        return processors(_SC_NPROCESSORS_ONLN);
    }
    return (uint64_t)CPU_COUNT(&set);
}

void host_read(struct host *host, const char *folder)
{
    *host = (struct host){.load_average = NAN, .clock_cost_ns = NAN};
    char *cpuinfo = read_text("/proc/cpuinfo");
    char *meminfo = read_text("/proc/meminfo");
    char *mountinfo = read_text("/proc/self/mountinfo");
    char *tree_model = read_text("/sys/firmware/devicetree/base/model");
    char *path = realpath(folder, NULL);

    host->cpu_model = host_cpu_model(cpuinfo != NULL ? cpuinfo : "", tree_model);
    host->cores = host_cores();
    host->cores_online = processors(_SC_NPROCESSORS_ONLN);
    host->virtual_machine = virtual_machine(cpuinfo != NULL ? cpuinfo : "");
    host->kernel = kernel();
    host->operating_system = operating_system();
    host->memory_total_bytes = meminfo_bytes(meminfo, "MemTotal");
    host->memory_available_bytes = meminfo_bytes(meminfo, "MemAvailable");
    double load;
    if (getloadavg(&load, 1) == 1) {
        host->load_average = load;
    }
    read_clock(host);
    if (mountinfo != NULL && path != NULL) {
        host_mount_of(mountinfo, path, &host->file_system, &host->device);
    }
    free(cpuinfo);
    free(meminfo);
    free(mountinfo);
    free(tree_model);
    free(path);
}

void host_release(struct host *host)
{
    free(host->cpu_model);
    free(host->virtual_machine);
    free(host->kernel);
    free(host->operating_system);
    free(host->clock_source);
    free(host->file_system);
    free(host->device);
    *host = (struct host){.load_average = NAN, .clock_cost_ns = NAN};
}
