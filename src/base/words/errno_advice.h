/* What to do about an error of the system. Pure. */
#ifndef RECMAP_BASE_WORDS_ERRNO_ADVICE_H
#define RECMAP_BASE_WORDS_ERRNO_ADVICE_H

/* Advice for the user of the command. Without a path, which is "", it may be empty. */
const char *errno_advice(int system_errno, const char *path);

#endif
