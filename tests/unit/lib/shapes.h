/* Tables of every shape that changes how a pass goes about them. */
#ifndef TESTS_LIB_SHAPES_H
#define TESTS_LIB_SHAPES_H

#include <stddef.h>

/* %s is the table's name. values: one letter a column: k a key of few values, i any integer-like,
 * t text-like, x anything, c 0 to 9, s a slice (a or b), p a parent's number, 0 a NULL allowed. */
struct shape {
    const char *name;
    const char *ddl;
    const char *indexes;
    const char *columns; /* names, comma separated */
    const char *values;
    const char *key;   /* names, comma separated; NULL: none */
    const char *slice; /* column */
};

static const struct shape shapes[] = {
    {"id", "CREATE TABLE %s(id INTEGER PRIMARY KEY, a TEXT, b INTEGER)", "", "id,a,b", "ktx", "id",
     NULL},
    {"id in the middle, autoincrement",
     "CREATE TABLE %s(a REAL, id INTEGER PRIMARY KEY AUTOINCREMENT, b)", "", "a,id,b", "xkx", "id",
     NULL},
    {"id, strict",
     "CREATE TABLE %s(id INTEGER PRIMARY KEY, a TEXT, b REAL, c INT, d BLOB, e ANY) STRICT", "",
     "id,a,b,c,d,e", "kxxxxx", "id", NULL},
    {"id, not null", "CREATE TABLE %s(id INTEGER PRIMARY KEY, a TEXT NOT NULL, b NOT NULL)", "",
     "id,a,b", "kxx", "id", NULL},
    {"id, indexes", "CREATE TABLE %s(id INTEGER PRIMARY KEY, a TEXT COLLATE NOCASE, b, c REAL)",
     "CREATE INDEX i1 ON t(a); CREATE INDEX i2 ON t(b DESC, c); CREATE INDEX i3 ON t(c, a, id)",
     "id,a,b,c", "kxxx", "id", NULL},
    {"id, partial and expression indexes", "CREATE TABLE %s(id INTEGER PRIMARY KEY, a TEXT, b)",
     "CREATE INDEX i1 ON t(lower(a)); CREATE INDEX i2 ON t(b) WHERE b > 3", "id,a,b", "ktx", "id",
     NULL},
    {"id, slices", "CREATE TABLE %s(id INTEGER PRIMARY KEY, s TEXT, a)", "CREATE INDEX i1 ON t(s)",
     "id,s,a", "ksx", "id", "s"},
    {"text key", "CREATE TABLE %s(k TEXT PRIMARY KEY, a, b INTEGER)", "", "k,a,b", "kxx", "k",
     NULL},
    {"text key, nocase", "CREATE TABLE %s(k TEXT PRIMARY KEY COLLATE NOCASE, a)", "", "k,a", "kx",
     "k", NULL},
    {"key of no type", "CREATE TABLE %s(k PRIMARY KEY, a)", "", "k,a", "kx", "k", NULL},
    {"two columns, descending",
     "CREATE TABLE %s(a, k NUMERIC, l TEXT COLLATE RTRIM, PRIMARY KEY(l, k DESC))", "", "a,k,l",
     "xkk", "l,k", NULL},
    {"without rowid", "CREATE TABLE %s(k INTEGER PRIMARY KEY, a, b TEXT) WITHOUT ROWID", "",
     "k,a,b", "kxt", "k", NULL},
    {"without rowid, text",
     "CREATE TABLE %s(a, k TEXT COLLATE NOCASE, b REAL, PRIMARY KEY(k)) WITHOUT ROWID", "", "a,k,b",
     "xkx", "k", NULL},
    {"without rowid, two columns, index",
     "CREATE TABLE %s(a, k, l TEXT, PRIMARY KEY(l DESC, k)) WITHOUT ROWID",
     "CREATE INDEX i1 ON t(a)", "a,k,l", "xkk", "l,k", NULL},
    {"without rowid, slices", "CREATE TABLE %s(s TEXT, k TEXT, a, PRIMARY KEY(s, k)) WITHOUT ROWID",
     "", "s,k,a", "skx", "s,k", "s"},
    {"text key, slices", "CREATE TABLE %s(k TEXT PRIMARY KEY, s NUMERIC, a)",
     "CREATE INDEX i1 ON t(s)", "k,s,a", "ksx", "k", "s"},
    {"key only", "CREATE TABLE %s(k TEXT PRIMARY KEY) WITHOUT ROWID", "", "k", "k", "k", NULL},
    {"one small column", "CREATE TABLE %s(k INTEGER PRIMARY KEY)", "", "k", "k", "k", NULL},
    {"no key", "CREATE TABLE %s(a, b TEXT)", "", "a,b", "xx", NULL, NULL},
    {"no key, index", "CREATE TABLE %s(a, b TEXT)", "CREATE INDEX i1 ON t(a, b)", "a,b", "xx", NULL,
     NULL},
    {"no key, slices", "CREATE TABLE %s(a, s)", "CREATE INDEX i1 ON t(s)", "a,s", "xs", NULL, "s"},
    {"check", "CREATE TABLE %s(id INTEGER PRIMARY KEY, a, c INTEGER CHECK (c BETWEEN 0 AND 9))", "",
     "id,a,c", "kxc", "id", NULL},
    {"generated",
     "CREATE TABLE %s(id INTEGER PRIMARY KEY, a INT, g AS (a + 1), b TEXT, h AS (b || 'x') STORED)",
     "CREATE INDEX i1 ON t(g)", "id,a,b", "kct", "id", NULL},
    {"without rowid, generated",
     "CREATE TABLE %s(k TEXT PRIMARY KEY, g AS (k || 'x') STORED, a) WITHOUT ROWID", "", "k,a",
     "kx", "k", NULL},
    {"defaults",
     "CREATE TABLE %s(id INTEGER PRIMARY KEY, a DEFAULT 5, b TEXT DEFAULT ('x' || 'y'))", "",
     "id,a,b", "kxx", "id", NULL},
    {"twenty columns",
     "CREATE TABLE %s(a, b TEXT, c INT, d REAL, e NUMERIC, f, g, h, i, j, k INTEGER PRIMARY KEY, "
     "l, m,"
     " n, o TEXT, p, q, r, s BLOB, u)",
     "", "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,u", "xxxxxxxxxxkxxxxxxxxx", "k", NULL},
    {"odd names",
     "CREATE TABLE %s(\"a \"\"b\" TEXT, \"select\" INTEGER PRIMARY KEY, rowid TEXT, _rowid_, oid)",
     "", "\"a \"\"b\",\"select\",rowid,_rowid_,oid", "xkxxx", "\"select\"", NULL},
};

#endif
