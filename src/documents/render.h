/* The documents for developers: the reference of the API, made of the tables of routes and fields, the guides of the
 * directory docs, /llms.txt and /robots.txt. The program that is built gets them from src/documents.c. */
#pragma once
#include <stdbool.h>

#include "base/str.h"

/* Path, such as "/docs/api", and text live as long as the call. A text that is longer than its limit is STR_NONE. */
typedef void documents_take(void *arg, const char *path, const char *media, struct str text);

/* Gives each document. In a sandbox the pages have forms that send requests, and search engines are kept away. Where
 * the texts name the service's address, they have DOCS_PUBLIC_URL. */
void documents_render(bool sandbox, documents_take *take, void *arg);
