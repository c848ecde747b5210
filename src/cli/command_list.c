#include "cli/command_list.h"

#include "cli/command.h"
#include "cli/operation.h"

static const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "tbl/commands.def"
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

const struct command *command_at(size_t i)
{
    return i < COMMAND_COUNT ? commands[i] : operation_noun(i - COMMAND_COUNT);
}

bool command_is_operation(const struct command *c)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (commands[i] == c)
            return false;
    return true;
}
