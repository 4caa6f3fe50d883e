/* Writes to pipes that nobody reads, and the signals that they raise. */
#ifndef RECMAP_TESTS_SUPPORT_BROKEN_PIPE_H
#define RECMAP_TESTS_SUPPORT_BROKEN_PIPE_H

/* Counts SIGPIPE from now on, instead of ending the program. */
void broken_pipe_count_signals(void);

/* The signals that arrived since. */
int broken_pipe_signal_count(void);

/* Back to what the signal does by default. */
void broken_pipe_stop_counting(void);

/* Asserts that the write fails with EPIPE. */
void broken_pipe_write(void);

#endif
