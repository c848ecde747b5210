/* The program: portero COMMAND … */
#include "cli/command.h"

int main(int argc, char **argv)
{
    static const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "tbl/commands.def"
    };
    return command_main(commands, sizeof commands / sizeof *commands, argc, argv);
}
