/* The program: portero COMMAND … */
#include "cli/command.h"
#include "cli/command_list.h"

int main(int argc, char **argv)
{
    static const struct command_source commands = {command_at, command_is_operation};
    return command_main(&commands, argc, argv);
}
