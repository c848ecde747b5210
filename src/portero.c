/* The commands of residents and agents: portero COMMAND … */
#include "client/program.h"

int main(int argc, char **argv)
{
    return command_main(&client_program, argc, argv);
}
