/* What errors say of a file that ends too early. */
#ifndef RECMAP_BASE_WORDS_CUT_FILE_H
#define RECMAP_BASE_WORDS_CUT_FILE_H

/* Why a file may end too early, as the end of a reason. */
#define FILE_IS_CUT "; the file may still be written, or its writer was not closed"

#endif
