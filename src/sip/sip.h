/* The embedded SIP user agent: answers the call boxes' calls over UDP and TCP, on its own thread (docs/calls.md).
 *
 * Its thread never blocks on the store: each decision is a write task, and the answer comes back through a mailbox. */
#pragma once
#include "base/config.h"
#include "domain/call_command.h"
#include "domain/trunk_board.h"
#include "store/store.h"

struct known; /* call/known.h */
struct sip_agent;

/* Listens on config->listen_sip (port 0: a free one, the same for UDP and TCP) and starts taking calls. `c`, `s`
 * and `known` (NULL: no door is kept in memory) must outlive the agent. Fails with ERR_USAGE (the address or
 * voice.peers) or ERR_IO and sets *ret_why, which the caller frees. */
enum err sip_start(const struct config *c, struct store *s, struct known *known, struct sip_agent **ret,
                   char **ret_why) CHECKED;
/* The bound address, such as "127.0.0.1:5060"; lives as long as the agent. */
const char *sip_address(const struct sip_agent *a);
/* The number of calls, and the monotonic time when the loop last turned, both up to a second old. Any thread. */
unsigned sip_pulse(const struct sip_agent *a, int64_t *ret_turned_us);
/* The state of the trunks; lives as long as the agent. */
struct trunk_board *sip_trunk_board(const struct sip_agent *a);
/* Whether codes that callers say are understood: the models are loaded. Any thread. */
bool sip_hears(const struct sip_agent *a);
/* A greeting was saved: has it ready before a call needs it, or, if many are saved at once, when one does. `name`: the
 * text, or the ID of a recording. Any thread. */
void sip_prepare_greeting(struct sip_agent *a, bool recording, struct str name);
enum code_call {
    CODE_CALL_PLACED,      /* the telephone rings, or was answered */
    CODE_CALL_FAILED,      /* it was not reached, or too many such calls are placed; it is not told the code */
    CODE_CALL_WRONG_NUMBER /* nobody has the number */
};
/* Calls `number` over a trunk, as a call from the number `as`, tells the code, six digits, twice, and hangs up. `id`
 * stands for the code in the log. At most SIP_CODE_CALLS_MAX such calls at once, and sms.calls_per_hour. Any thread but
 * the agent's; waits until the telephone rings, 25 s at most. */
enum code_call sip_call_code(struct sip_agent *a, const char *id, const char *number, const char *as,
                             const char *code) CHECKED;
/* Performs the command on a call of this agent, and waits for its result. ERR_NOT_FOUND: the agent has no such call;
 * ret->why is set or NULL after any failure. ERR_CALL_UNREACHABLE: its thread did not respond in CALL_COMMAND_WAIT_US;
 * others as the command says. Any thread but the agent's. */
enum err sip_command(struct sip_agent *a, const struct call_command *command, struct call_command_result *ret) CHECKED;
/* Reads the certificate of SIP over TLS again (SIGHUP), soon. */
void sip_reload(struct sip_agent *a);
/* Gives the calls in progress wait_ms to end, then hangs up. New calls are taken meanwhile, but not in the last ten
 * seconds; eight seconds before the end, those who talk are told, and telephones that ring are given up. Returns at
 * once. */
void sip_wind_down(struct sip_agent *a, int64_t wait_ms);
/* Like sip_wind_down, unless that was called before; then waits until all calls have ended and all decisions asked for
 * have come. */
void sip_stop(struct sip_agent *a, int64_t wait_ms);
/* Frees a stopped agent, or NULL. Call it after store_close: until then a store thread may use the agent's mailbox. */
void sip_free(struct sip_agent *a);
