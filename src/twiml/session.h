/* A call between two webhooks: a row of the store, because the next request may reach another node.
 *
 * The answers of a call are counted. The addresses in an answer name the number of answers so far (its step), so that a
 * request that Twilio repeats is known by its step: it gets the last answer again and changes nothing. Two at once run
 * one after the other, as both write the row. */
#pragma once
#include "call/story.h"
#include "domain/tx.h"

#define TWIML_SID_MAX    35         /* bytes, NUL included */
#define TWIML_KEPT_S     (3 * 3600) /* without a request; longer than Twilio lets a conversation last */
#define TWIML_TALK_MAX_S 7200       /* the longest conversation, shorter than that: the call must be known at its end */
#define TWIML_ANSWER_MAX 16384

/* The message that a visitor may leave. */
enum twiml_message {
    MESSAGE_NONE,
    MESSAGE_ASKED, /* the visitor may speak, or has spoken */
    MESSAGE_HEARD, /* Twilio has a recording */
    MESSAGE_FETCHED,
    MESSAGE_STATE_COUNT
};

/* How visitor and resident talk (twiml/room.h). */
enum twiml_talk {
    TALK_DIRECT, /* as <Dial> has connected them, if they talk */
    TALK_MOVING, /* the resident's call is being moved to the room */
    TALK_ROOM,   /* the resident was sent to the room */
    TALK_ASKED,  /* the resident has left it, and may press a key */
    TALK_STATE_COUNT
};

struct twiml_session {
    struct str sid;          /* CallSid */
    int64_t step;            /* answers given */
    bool ended;              /* logged and recorded; no event follows */
    struct str answer;       /* the last one */
    size_t phone;            /* of call.ring.phones: the one that rings, if they ring in order */
    char leg[TWIML_SID_MAX]; /* CallSid of the resident who talks; "": nobody */
    enum twiml_message message;
    enum twiml_talk talk;
    int64_t rounds, joined; /* how often the resident, and the visitor, was sent to the room */
    int64_t waits_us;       /* the visitor has waited for the resident since then; 0: does not wait */
    int64_t talk_ms;        /* the resident has talked since then, as the next; 0: has not */
    int64_t at_ms;          /* of this turn, since the start of the call; not stored */
    struct call call;
    struct story story; /* also the numbers of caller and building */
};

/* A call that begins. `from` and `to` are E.164; anything that does not fit counts as "". */
void twiml_session_init(struct twiml_session *s, struct str sid, struct str from, struct str to, int64_t now_us);
/* Milliseconds since the start of the call. */
int64_t twiml_session_ms(const struct twiml_session *s, int64_t now_us);
/* Seconds that the resident may still talk; at most TWIML_TALK_MAX_S. */
int64_t twiml_session_left_s(const struct twiml_session *s);
/* Adds the conversation, which has ended, to the minutes of the call's record. */
void twiml_session_count(struct twiml_session *s);
/* Fails with ERR_NOT_FOUND. Texts are in the arena. */
enum err twiml_session_get(struct tx *tx, struct str sid, struct twiml_session *ret) CHECKED;
enum err twiml_session_put(struct tx *tx, const struct twiml_session *s) CHECKED;
