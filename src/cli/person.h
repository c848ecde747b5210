/* porterod admin person: the data of a person, and its end. */
#pragma once
#include "base/config.h"

struct person_command {
    const char *path;   /* of the request: /admin/persons/read or /admin/persons/erase */
    const char *person; /* telephone number or e-mail address */
    bool document;      /* print the rows; otherwise their number in each table */
    bool json;
};

/* Asks the running service part by part, and prints the result; a configured_command of a struct person_command. */
enum err person_ask(const struct config *config, const void *context, char **ret_why) CHECKED;
