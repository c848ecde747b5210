#include "cli/program.h"

static const struct command *const commands[] = {
#define SERVICE(name, words) &command_##name,
#include "tbl/commands.def"
    NULL};

static const struct command *service_at(size_t i)
{
    return commands[i];
}

static bool service_is_operation(const struct command *c)
{
    (void)c;
    return false;
}

const struct program service_program = {
    .name = "porterod",
    .sentence = "Portero answers the door: it is the telephone line behind a building's call box.",
    .at = service_at,
    .is_operation = service_is_operation,
    .others = (const char *const[]){NULL},
};
