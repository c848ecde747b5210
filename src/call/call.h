/* The call logic (calls.md, steps 1 to 10): one pure state machine. Events in, actions out; no I/O, no clock, no
 * thread.
 *
 * A front end (the SIP user agent, a provider's voice webhooks, the sandbox) owns a `struct call`, reports each event
 * with call_step() and performs the actions it gets back in order, each after the one before is done:
 *
 *   CALL_ASK_…      ask the domain (call/decide.h); report CALL_DECIDED, or CALL_FAILED if it could not answer. Once
 *                   the call is answered, its audio must be known
 *   CALL_REJECT     refuse the call with a SIP status, which ends it
 *   CALL_ANSWER     answer the call; done when media may flow
 *   CALL_SAY        say a text; done when it has been played
 *   CALL_COLLECT    report CALL_DIGIT (and CALL_SPOKEN) from now on, and CALL_TIMEOUT if no input came for wait_ms
 *                   after the last CALL_SAY was played and after the last key was released. A digit is reported when
 *                   its key goes down. If that CALL_SAY is interruptible, digits count while it plays,
 *                   and the first one ends it; while another is played, digits are dropped
 *   CALL_SEND_TONES press the release tone in the given form; done when the peer has had time to hear it
 *   CALL_FORWARD    ring the resident's phones, and wait for browsers; reports CALL_FORWARD_ANSWERED once the resident
 *                   and the visitor can talk, CALL_FORWARD_OPEN when the resident presses 9 or the release tone, or
 *                   opens by a request (before or after that, but not while CALL_SEND_TONES runs),
 *                   CALL_FORWARD_FAILED or, after the conversation, CALL_FORWARD_ENDED
 *   CALL_TAKE_MESSAGE  record the visitor; done after max_s, a key, or a silence
 *   CALL_HANG_UP    end the call, and the resident's
 *
 * New actions replace pending ones. CALL_HUNG_UP may come at any time and ends the call. */
#pragma once
#include "domain/access.h"

#define CALL_CODE_MAX      8    /* digits of a code */
#define CALL_CODE_DIGITS   4    /* digits that end the input, unless a usable code has more */
#define CALL_ATTEMPTS      3    /* wrong codes, or incomplete ones, in one call before it is forwarded */
#define CALL_FIRST_WAIT_MS 8000 /* silence before the first digit, and after one that ends no usable code */
#define CALL_NEXT_WAIT_MS  2000 /* silence that ends a code as long as a usable one */
#define CALL_PHONES_MAX    (1 + RING_PHONES_MAX)
#define CALL_MESSAGE_S     30  /* the longest message */
#define CALL_UNCLEAR_MAX   2   /* spoken codes that are not understood, before only keys count */
#define CALL_TEXT_MAX      512 /* bytes of a greeting, NUL included; a longer one is cut at a character */
#define CALL_OPENING_MAX   120 /* bytes of the sentence that tells when a code opens, NUL included */
#define CALL_NUMBER_MAX    20  /* "+", 15 digits, NUL and some room */
#define CALL_ACTIONS_MAX   8

enum call_prompt {
#define P(symbol, word, text) PROMPT_##symbol,
#include "tbl/prompts.def"
#undef P
    PROMPT_COUNT
};

/* Why nobody talked to the visitor. */
enum call_forward_failure { CALL_NO_ANSWER, CALL_BUSY, CALL_DECLINED, CALL_UNREACHABLE };

enum call_event_kind {
    CALL_ARRIVED, /* a call to one of our numbers */
    CALL_DECIDED, /* the domain answered: `decision` (after CALL_ASK_FORWARDED its near misses alone) */
    CALL_FAILED,  /* the domain could not answer; `decision`: without the store's, forward or reject; or NULL */
    CALL_DIGIT,   /* `digit`: a key, 0-9 * # (others are ignored) */
    CALL_SPOKEN,  /* `spoken`: the digits recognised in speech */
    CALL_UNCLEAR, /* speech was not understood; `guess`: but has as many digits as a code */
    CALL_TIMEOUT, /* CALL_COLLECT's wait_ms are over */
    CALL_FORWARD_ANSWERED, /* the resident and the visitor are bridged until one side hangs up */
    CALL_FORWARD_OPEN,     /* the resident opens the door */
    CALL_FORWARD_FAILED,   /* nobody talked to the visitor: `failure` */
    CALL_FORWARD_ENDED,    /* the resident hung up */
    CALL_HUNG_UP           /* the caller hung up */
};

struct call_event {
    enum call_event_kind kind;
    const struct access_decision *decision;
    struct str spoken;
    char digit;
    const char *way; /* of CALL_DIGIT, for the record: "event", "tone", "info"; NULL: unknown */
    enum call_forward_failure failure;
    bool guess;
    bool gone;     /* of CALL_FAILED: the building was removed during the call */
    bool away;     /* of CALL_FAILED: the store could not be reached in time */
    bool hears;    /* of CALL_ARRIVED: this front end understands speech */
    bool browsers; /* of CALL_ARRIVED: with this front end, residents may open and answer in a browser */
    bool remote;   /* of CALL_FORWARD_OPEN: by a request, not by a key */
};

enum call_action_kind {
    CALL_ASK_ARRIVE,
    CALL_ASK_CODE,
    CALL_ASK_FORWARDED,
    CALL_REJECT,
    CALL_ANSWER,
    CALL_SAY,
    CALL_COLLECT,
    CALL_SEND_TONES,
    CALL_FORWARD,
    CALL_TAKE_MESSAGE,
    CALL_HANG_UP
};

struct call_action {
    enum call_action_kind kind;
    union {
        struct {
            char code[CALL_CODE_MAX + 1];
            enum access_way way;
        } ask;      /* CALL_ASK_CODE */
        int status; /* CALL_REJECT */
        struct {
            enum call_prompt prompt;
            const char *text;           /* lives as long as the call */
            const struct id *recording; /* to be played in place of it; NULL: none */
            bool interruptible;
        } say;
        struct {
            int64_t wait_ms;
            bool speech; /* spoken digits count as well */
        } collect;
        struct {
            char keys[4];
            struct release form;
        } tones;
        const struct call_ring *forward; /* lives as long as the call */
        int64_t max_s;                   /* CALL_TAKE_MESSAGE */
    };
};

struct call_actions {
    struct call_action v[CALL_ACTIONS_MAX];
    size_t n;
};

/* The phones to ring: the forwarding phone first. Without a phone, browsers are waited for as long. */
struct call_ring {
    char phones[CALL_PHONES_MAX][CALL_NUMBER_MAX]; /* E.164; first the ones that ring */
    size_t count;
    size_t quiet;        /* phones behind those, left out because of quiet hours */
    bool quiet_browsers; /* browsers are left out, too */
    enum ring_strategy strategy;
    int64_t seconds; /* for each phone */
    int64_t minutes; /* that all may take, each minute that one begins; 0: no limit */
    bool accept;
    bool message;
    bool browsers; /* some are told that the visitor is there */
};

enum call_state {
    CALL_NEW,
    CALL_ARRIVING,   /* asked how to handle the call */
    CALL_COLLECTING, /* waiting for a code */
    CALL_CHECKING,   /* asked whether the code is right */
    CALL_RECORDING,  /* asked to record the forwarding */
    CALL_RINGING,    /* the resident's phone rings */
    CALL_BRIDGED,    /* caller and resident talk */
    CALL_ENDING,     /* the last actions were given */
    CALL_OVER        /* the caller hung up, or was rejected */
};

/* The result of a call, known from CALL_RECORDING on (from CALL_ENDING on for a release). */
enum call_outcome {
    CALL_NO_OUTCOME, /* hung up or failed before a decision */
    CALL_RELEASED,
    CALL_FORWARDED,
    CALL_REJECTED,
    CALL_OWNER
};

/* Front ends may read the members and must not write them. */
struct call {
    enum call_state state;
    enum call_outcome outcome;
    enum access_reason reason;                /* of the outcome */
    struct id building_id;                    /* empty until decided */
    struct id grant_id;                       /* of a release */
    struct access_near near[ACCESS_NEAR_MAX]; /* of a forwarded call; without the labels */
    size_t near_count;
    bool hung_up;         /* the caller hung up before the last actions were given */
    bool hears, browsers; /* as in struct call_event */
    bool known;           /* the caller has opened this door before */
    bool answered;
    bool speech;
    int keys, spoken, unclear;    /* accepted keys and spoken codes; speech that was not understood */
    int wrong, incomplete;        /* codes so far */
    int lengths;                  /* of usable codes, as in struct access_decision */
    bool denied;                  /* forwarded for a wrong code, which is said first */
    bool opened;                  /* the resident opened the door */
    char code[CALL_CODE_MAX + 1]; /* the digits entered so far */
    enum access_way way;          /* of the code that is checked */
    char tones[4];                /* the release tone; "" while not set */
    struct release release;
    struct call_ring ring;
    enum access_barred barred;                     /* why some phones are not in it */
    bool spent;                                    /* some are not in it: the account has no more minutes */
    char greetings[GREETING_COUNT][CALL_TEXT_MAX]; /* as enum call_prompt begins */
    struct id recordings[GREETING_COUNT];          /* played in place of them; empty: none */
    char opening[CALL_OPENING_MAX];                /* PROMPT_OPENS of the last code; "": PROMPT_DENIED */
};

void call_init(struct call *c);
/* Takes one event and returns the actions it leads to. An event that the state does not expect leads to no action. */
void call_step(struct call *c, const struct call_event *e, struct call_actions *ret);
/* The SIP status of a call with the outcome CALL_REJECTED. */
int call_refusal(const struct call *c);
/* Whether spoken codes count as well, the silence that ends the input so far, and the digits that end it at once. */
bool call_takes_speech(const struct call *c);
int64_t call_wait_ms(const struct call *c);
size_t call_code_end(const struct call *c);
/* The text of a prompt; "": nothing is said. Lives as long as the call. */
const char *call_text(const struct call *c, enum call_prompt prompt);
/* "collecting": for logs. */
const char *call_state_name(enum call_state s);
