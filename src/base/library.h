/* Shared libraries that are loaded when something first needs them. The program is not linked with those whose loading
 * would cost every command more than all the rest of its start: a synthesizer with its voice, a recognizer with linear
 * algebra.
 *
 * A table names the symbols:
 *
 *     #define FLITE(S) S(flite_init) S(flite_text_to_wave)
 *     LIBRARY(flite, FLITE);
 *
 * After LIBRARY_LOAD("libflite.so.1", flite), flite.flite_init() is the library's function. The types come from the
 * library's header, so a call is checked as if it were linked. */
#pragma once
#include <stddef.h>

#include "base/err.h"

#define LIBRARY_POINTER(symbol) __typeof__(symbol) *symbol;
#define LIBRARY_NAME(symbol)    #symbol,
/* Pointers to the symbols of a table, and their names in the same order. */
#define LIBRARY(variable, TABLE)                                                                                       \
    static struct {                                                                                                    \
        TABLE(LIBRARY_POINTER)                                                                                         \
    } variable;                                                                                                        \
    static const char *const variable##_names[] = {TABLE(LIBRARY_NAME)}
#define LIBRARY_LOAD(soname, variable)                                                                                 \
    library_load(soname, variable##_names, sizeof variable##_names / sizeof *variable##_names, &(variable))

/* Loads the library of this soname for the rest of the process, and sets the `count` pointers at `ret` to its symbols,
 * or the symbols of the libraries it needs. ERR_NOT_FOUND if it or one of them is missing, which is logged. Any thread.
 */
enum err library_load(const char *soname, const char *const *names, size_t count, void *ret) CHECKED;
