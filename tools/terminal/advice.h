/* The advice of the library, for users of the command. */
#ifndef RECMAP_TOOLS_TERMINAL_ADVICE_H
#define RECMAP_TOOLS_TERMINAL_ADVICE_H

/* Removes the clauses, which end in semicolons, that name a constant or a function of C:
 * `RECMAP_NAME` or `recmap_name`. A user of the command can do what the other clauses say. */
void advice_remove_c(char *advice);

#endif
