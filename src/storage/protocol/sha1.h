/* SHA-1 (FIPS 180-4). Only for names of files that other programs name so: it protects nothing. */
#ifndef RECMAP_STORAGE_PROTOCOL_SHA1_H
#define RECMAP_STORAGE_PROTOCOL_SHA1_H

enum { SHA1_SIZE = 20, SHA1_HEX_SIZE = 2 * SHA1_SIZE + 1 };

/* Writes the digest of the text as 40 lower-case hexadecimal digits and a NUL. */
void sha1_write_hex(char hex[SHA1_HEX_SIZE], const char *text);

#endif
