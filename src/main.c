/* The table of commands. src/cli has a file for each. */
#include "cli/command.h"

int main(int argc, char **argv)
{
    static const struct command *const commands[] = {
        &command_serve,        &command_buzz,    &command_phone, &command_admin,  &command_openapi,
        &command_check_config, &command_migrate, &command_rekey, &command_backup,
    };
    return command_main(commands, sizeof commands / sizeof *commands, argc, argv);
}
