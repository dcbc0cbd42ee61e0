/* Where pitot's own files lie: found by the place of the program that runs, so that an installation
 * may be moved. */
#ifndef PITOT_COORDINATOR_PLACE_H
#define PITOT_COORDINATOR_PLACE_H

#include "core/error.h"

/* Path of a program of ours, which lies beside pitot: a new string, or NULL with UNAVAILABLE (it is
 * missing) or ERROR_MEMORY. */
char *place_of_program(const char *name, struct error *error);

/* Folder of the programs that make engines ready: that of the installation which pitot is part of;
 * otherwise "scripts", as they are called in a checkout. A new string; NULL: no memory. */
char *place_of_scripts(void);

#endif
