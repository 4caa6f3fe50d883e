/* IMAGE columns: the pixels of all rows, and the shape and strides that show them. */
#ifndef RECMAP_PARSE_COLUMNS_IMAGE_ASSEMBLY_H
#define RECMAP_PARSE_COLUMNS_IMAGE_ASSEMBLY_H

#include "parse/columns/assembly.h"

/* Assembles the column from its sink. Returns false when memory runs out. */
bool assemble_image(const struct assembly *a);

#endif
