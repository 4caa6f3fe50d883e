/* Passes warnings of the library on to Python. */
#ifndef RECMAP_PYTHON_BASE_WARNINGS_H
#define RECMAP_PYTHON_BASE_WARNINGS_H

/* Called once, when the module is loaded. */
void warnings_load(void);

#endif
