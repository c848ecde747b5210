/* Heap memory. A lack of memory is the machine's failure: every function here aborts and never returns NULL.
 * Sizes come from bounds of our own, never unchecked from input. The caller frees with free(). */
#pragma once
#include <stdarg.h>
#include <stddef.h>

/* One zeroed `type`; n zeroed elements of `type`; one zeroed `type` followed by n bytes for its flexible array. */
#define mem_new(type)         ((type *)mem_zeroed(1, sizeof(type)))
#define mem_array(type, n)    ((type *)mem_zeroed((n), sizeof(type)))
#define mem_new_with(type, n) ((type *)mem_zeroed(1, sizeof(type) + (n)))
/* Resizes the array p, which may be NULL, to n elements, n > 0. New elements are not initialised. */
#define mem_resize(p, n) ((p) = mem_resized((p), (n), sizeof *(p)))

void *mem_zeroed(size_t count, size_t size);
void *mem_resized(void *p, size_t count, size_t size);
/* n bytes, not initialised. */
void *mem_bytes(size_t n);

char *mem_strdup(const char *s);
char *mem_strndup(const char *s, size_t n);
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *mem_vprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
