/*
 * The VFS through which SQLite reads images. Registered under a name that no other
 * copy of this library has; never the default.
 */
#ifndef PITOT_LIB_IMAGE_VFS_H
#define PITOT_LIB_IMAGE_VFS_H

#include "lib/image_pages.h"

/* Registers the VFS if it is not yet. Its name, or NULL: SQLite could not. Any thread. */
const char *image_vfs_name(void);

/* An image as a file; a part of it. */
struct image_file {
    struct image_pages *pages;
    uint64_t number; /* opened as IMAGE_VFS_PATH followed by it */
    bool open;       /* a connection has it */
    /* Called when it is closed, if not NULL: the image was given up while it was open. */
    void (*closed)(struct image_file *file);
    struct image_file *next;
};

#define IMAGE_VFS_PATH "/pitot-image-"

/* Makes it known under a new number, and unknown again: it cannot be opened any more, but may still
 * be open. Any thread. */
void image_vfs_add(struct image_file *file);
void image_vfs_remove(struct image_file *file);

#endif
