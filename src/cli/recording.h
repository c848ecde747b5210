/* A recorded greeting from a file. */
#pragma once

/* Reads a WAV file and returns its audio as the service stores it, 8 kHz mu-law, in base64url, which the caller frees.
 * NULL, after a complaint, if it cannot be used. */
char *recording_from_file(const char *path);
