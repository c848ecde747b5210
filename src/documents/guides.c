/* The guides that are served, in the order of the navigation. Documents for those who change the program are not. */
#include "documents/guides_text.h"
#include "documents/markdown.h"

const struct docs_guide docs_guides[] = {
    {"agents", "The whole job of an assistant that acts for a resident, on one page.", guide_agents, DOCS_FOR_ALL},
    {"questions", "Owners' questions: call boxes, cost, power failures, a new machine.", guide_questions, DOCS_FOR_ALL},
    {"api", "Each part of the API, typed into a shell.", guide_api, DOCS_FOR_ALL},
    {"cli", "The command line: signing in once, then a command for each operation.", guide_cli, DOCS_FOR_ALL},
    {"clients", "Clients in TypeScript and Python, and Home Assistant.", guide_clients, DOCS_FOR_ALL},
    {"first-door", "From a bare Debian to a door that opens, in ten minutes.", guide_first_door, DOCS_FOR_ALL},
    {"calls", "How a visitor's call is decided, step by step, and what its record tells.", guide_calls, DOCS_FOR_ALL},
    {"telephony", "Call boxes, PBXs, trunks and Twilio: how telephones are connected.", guide_telephony, DOCS_FOR_ALL},
    {"operations", "Installing, configuring, watching, backing up and upgrading.", guide_operations, DOCS_FOR_ALL},
    {"nodes", "Several nodes on one PostgreSQL database.", guide_nodes, DOCS_FOR_ALL},
    {"scaling", "How far one machine and one database go.", guide_scaling, DOCS_FOR_FEW},
    {"performance", "Measured figures, each next to a control.", guide_performance, DOCS_FOR_FEW},
    {"decisions", "Behaviour in every corner that the contract leaves open.", guide_decisions, DOCS_FOR_FEW},
    {NULL, NULL, NULL, DOCS_FOR_ALL}};
