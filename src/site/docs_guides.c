/* The guides that are served, in the order of the navigation. Documents for those who change the program are not. */
#include "site/docs_markdown.h"
#include "site/guides.h"

const struct docs_guide docs_guides[] = {
    {"agents", "The whole job of an assistant that acts for a resident, on one page.", guide_agents},
    {"api", "Each part of the API, typed into a shell.", guide_api},
    {"cli", "The command line: signing in once, then a command for each operation.", guide_cli},
    {"clients", "Clients in TypeScript and Python, and Home Assistant.", guide_clients},
    {"first-door", "From a bare Debian 12 to a door that opens, in ten minutes.", guide_first_door},
    {"calls", "How a visitor's call is decided, step by step, and what its record tells.", guide_calls},
    {"telephony", "Call boxes, PBXs, trunks and Twilio: how telephones are connected.", guide_telephony},
    {"operations", "Installing, configuring, watching, backing up and upgrading.", guide_operations},
    {"nodes", "Several nodes on one PostgreSQL database.", guide_nodes},
    {"scaling", "How far one machine and one database go.", guide_scaling},
    {"performance", "Measured figures, each next to a control.", guide_performance},
    {"decisions", "Behaviour in every corner that the contract leaves open.", guide_decisions},
    {NULL, NULL, NULL}};
