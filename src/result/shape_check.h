/* What must hold between the fields of an item that was read: each function appends what is wrong
 * to `wrong`, nothing when all is well. Internal to the layer. */
#ifndef PITOT_RESULT_SHAPE_CHECK_H
#define PITOT_RESULT_SHAPE_CHECK_H

#include "base/buffer.h"
#include "result/result.h"

void shape_check_run(const void *item, struct buffer *wrong);
void shape_check_summary(const void *item, struct buffer *wrong);
void shape_check_engine(const void *item, struct buffer *wrong);
void shape_check_script(const void *item, struct buffer *wrong);
void shape_check_loop_part(const void *item, struct buffer *wrong);
void shape_check_cell(const void *item, struct buffer *wrong);
void shape_check_mean(const void *item, struct buffer *wrong);
void shape_check_against_row(const void *item, struct buffer *wrong);
void shape_check_numbers_side(const void *item, struct buffer *wrong);
void shape_check_numbers(const void *item, struct buffer *wrong);
void shape_check_result(const void *item, struct buffer *wrong);

#endif
