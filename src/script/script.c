#include "script/parser.h"

#include <stdlib.h>

static void block_release(struct script_block *block)
{
    for (uint32_t i = 0; i < block->count; i++) {
        struct script_step *step = &block->steps[i];
        expression_release(&step->expression);
        expression_release(&step->chunk);
        free(step->table);
        block_release(&step->body);
    }
    free(block->steps);
}

void script_free(struct script *script)
{
    if (script == NULL) {
        return;
    }
    for (uint32_t i = 0; i < script->variable_count; i++) {
        free(script->variables[i].name);
    }
    for (uint32_t i = 0; i < script->statement_count; i++) {
        free(script->statements[i].sql);
        free(script->statements[i].parameters);
    }
    for (uint32_t i = 0; i < script->warning_count; i++) {
        free(script->warnings[i]);
    }
    block_release(&script->body);
    free(script->variables);
    free(script->statements);
    free(script->warnings);
    free(script->name);
    free(script->file);
    free(script);
}
