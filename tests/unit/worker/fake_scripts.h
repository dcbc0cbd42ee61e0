/* Scripts and other JSON as text with ' for ". */
#ifndef PITOT_TESTS_FAKE_SCRIPTS_H
#define PITOT_TESTS_FAKE_SCRIPTS_H

#include "base/json.h"
#include "script/script.h"

#include <stdlib.h>
#include <string.h>

/* JSON written with ' for ". NULL when it is none. */
static inline json_t *fake_json(const char *text)
{
    char *copy = strdup(text);
    for (char *c = copy; *c != '\0'; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    json_t *json = NULL;
    struct error error = ERROR_INIT;
    json_parse(copy, strlen(copy), "test", &json, &error);
    free(copy);
    return json;
}

#define FAKE_NUMBER(value) "{'op':'constant','type':'integer','value':" #value ",'place':[1,1]}"
#define FAKE_RANDOM                                                                                \
    "{'op':'random','type':'integer','arguments':[" FAKE_NUMBER(1) "," FAKE_NUMBER(                \
        1000000000) "],'place':[1,1]}"

/* One statement with one drawn parameter; `keys` of a verify job. */
#define FAKE_DRAWING FAKE_COMPARED("")
#define FAKE_COMPARED(keys)                                                                        \
    "{" keys "'name':'drawing','kind':'read','operations':1,"                                      \
    "'variables':[{'name':'n','type':'integer','from':'set'}],"                                    \
    "'statements':[{'sql':'s','parameters':[0],'one':false,'place':[1,1]}],"                       \
    "'steps':[{'step':'set','variable':0,'expression':" FAKE_RANDOM ",'place':[1,1]},"             \
    "{'step':'statement','statement':0,'place':[1,1]}]}"

/* `:op` as the parameter. */
#define FAKE_COUNTING                                                                              \
    "{'name':'counting','kind':'read','operations':1,"                                             \
    "'variables':[{'name':'op','type':'integer','from':'builtin'}],"                               \
    "'statements':[{'sql':'s','parameters':[0],'one':false,'place':[1,1]}],"                       \
    "'steps':[{'step':'statement','statement':0,'place':[1,1]}]}"

/* Two statements outside a transaction, or within one. */
#define FAKE_STATEMENTS                                                                            \
    "'variables':[],'statements':[{'sql':'a','parameters':[],'one':false,'place':[1,1]},"          \
    "{'sql':'b','parameters':[],'one':false,'place':[2,1]}],"
#define FAKE_PAIR                                                                                  \
    "{'name':'pair','kind':'write','operations':1," FAKE_STATEMENTS                                \
    "'steps':[{'step':'statement','statement':0,'place':[1,1]},"                                   \
    "{'step':'statement','statement':1,'place':[2,1]}]}"
#define FAKE_TRANSACTION                                                                           \
    "{'name':'transaction','kind':'write','operations':1," FAKE_STATEMENTS                         \
    "'steps':[{'step':'begin_write','place':[1,1]},"                                               \
    "{'step':'statement','statement':0,'place':[1,1]},"                                            \
    "{'step':'statement','statement':1,'place':[2,1]},{'step':'commit','place':[3,1]}]}"

static inline struct script *fake_script(const char *text)
{
    struct script *script = NULL;
    struct error error = ERROR_INIT;
    json_t *tree = fake_json(text);
    script_from_json(tree, &script, &error);
    json_decref(tree);
    return script;
}

#endif
