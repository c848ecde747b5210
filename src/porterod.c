/* The service, and the commands of its operator: porterod COMMAND … */
#include "cli/program.h"

int main(int argc, char **argv)
{
    return command_main(&service_program, argc, argv);
}
