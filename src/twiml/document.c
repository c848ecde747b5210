#include "twiml/document.h"

#include "twiml/greeting.h"

#define BEGIN     "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Response>"
#define END       "</Response>"
#define PAUSE_MS  500 /* of a `w` */
#define HINTS     "zero, oh, one, two, three, four, five, six, seven, eight, nine, double, triple, one two three four"
#define DECIDE_S  8 /* for a resident who must accept the call */
#define LISTEN_S  2 /* for one who is connected without a key */
#define SILENCE_S 5 /* that ends a message */
#define URL_MAX   1024
#define KEY_S     5 /* for a resident who has left the room */
#define ECHO_S    1 /* before that, no key counts: it could be the visitor's, by an echo of the resident's line */

static const char TEXT_TALK[] = "Someone is at your door. Press 1 to talk.";
static const char TEXT_OPEN[] = "Someone is at your door. Press 9 to open the door, or stay on the line to talk.";
static const char TEXT_STAR[] = "While you talk, press star and then 9 to open it.";
static const char TEXT_KEY[] = "Press 9 to open the door, or star to hang up.";
static const char TEXT_STAY[] = "Someone is at your door.";

/* ---- text ---- */

static void put_escaped(unsigned char c, struct buf *out)
{
    switch (c) {
    case '&':
        buf_lit(out, "&amp;");
        return;
    case '<':
        buf_lit(out, "&lt;");
        return;
    case '>':
        buf_lit(out, "&gt;");
        return;
    case '"':
        buf_lit(out, "&quot;");
        return;
    default:
        buf_char(out, c < ' ' || c == 0x7f ? ' ' : (char)c);
    }
}

void twiml_escape(struct str text, struct buf *out)
{
    for (size_t i = 0; i < text.n; i++) {
        const unsigned char *p = (const unsigned char *)text.p + i;
        const bool noncharacter = text.n - i >= 3 && p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe; /* U+FFFE, U+FFFF */
        put_escaped(noncharacter ? ' ' : *p, out);
        i += noncharacter ? 2 : 0;
    }
}

static void put_attribute(const char *name, const char *value, struct buf *out)
{
    buf_printf(out, " %s=\"", name);
    twiml_escape(str_z(value), out);
    buf_char(out, '"');
}

static void put_say(const struct config *c, const char *text, struct buf *out)
{
    buf_lit(out, "<Say");
    put_attribute("language", c->twilio_language, out);
    if (*c->twilio_voice)
        put_attribute("voice", c->twilio_voice, out);
    buf_char(out, '>');
    twiml_escape(str_z(text), out);
    buf_lit(out, "</Say>");
}

/* A greeting: recorded, or the text. */
static void put_spoken(const struct config *c, const struct twiml_session *s, const struct call_action *a,
                       struct buf *out)
{
    struct buf url = BUF(URL_MAX);
    if (!a->say.recording) {
        put_say(c, a->say.text, out);
        return;
    }
    twiml_greeting_put(c, a->say.recording, s->story.arrival.started_us, &url);
    buf_lit(out, "<Play>");
    twiml_escape(buf_view(&url), out);
    buf_lit(out, "</Play>");
    buf_done(&url);
}

/* ---- the release tone ---- */

static void put_pause(int64_t ms, struct buf *out)
{
    for (int64_t n = (ms + PAUSE_MS / 2) / PAUSE_MS; n > 0; n--)
        buf_char(out, 'w');
}

void twiml_digits(const char *keys, const struct release *form, bool first, struct buf *out)
{
    put_pause(first && form->delay_ms < PAUSE_MS ? PAUSE_MS : form->delay_ms, out);
    for (int64_t n = 0; n < form->repeat; n++)
        for (const char *key = keys; *key; key++) {
            if (n || key != keys)
                put_pause(form->gap_ms, out);
            buf_char(out, *key);
        }
}

/* ---- verbs ---- */

static void put_time_limit(const struct twiml_session *s, struct buf *out)
{
    const int64_t left_s = twiml_session_left_s(s);
    buf_printf(out, " timeLimit=\"%lld\"", (long long)(left_s > 0 ? left_s : 1));
}

/* A greeting that a key ends is part of <Gather>. */
static void put_gather(const struct config *c, const struct twiml_session *s, const struct call_action *collect,
                       const struct call_action *greeting, struct buf *out)
{
    const bool speech = collect->collect.speech;
    buf_printf(out, "<Gather input=\"%s\" numDigits=\"%zu\" finishOnKey=\"#\" timeout=\"%lld\"",
               speech ? "dtmf speech" : "dtmf", call_code_end(&s->call) - strlen(s->call.code),
               (long long)((collect->collect.wait_ms + 999) / 1000));
    if (speech) {
        buf_lit(out, " speechTimeout=\"2\" hints=\"" HINTS "\"");
        put_attribute("language", c->twilio_language, out);
    }
    buf_printf(out, " action=\"" TWIML_VOICE "?step=%lld\" method=\"POST\" actionOnEmptyResult=\"true\">",
               (long long)s->step);
    if (greeting)
        put_spoken(c, s, greeting, out);
    buf_lit(out, "</Gather>");
}

static void put_number(const struct twiml_session *s, size_t phone, struct buf *out)
{
    buf_printf(out, "<Number url=\"" TWIML_RESIDENT "?call=%.*s&amp;phone=%zu\" method=\"POST\">", STR_ARG(s->sid),
               phone);
    twiml_escape(str_z(s->call.ring.phones[phone]), out);
    buf_lit(out, "</Number>");
}

static void put_dial(const struct twiml_session *s, const struct call_ring *ring, struct buf *out)
{
    buf_printf(out, "<Dial action=\"" TWIML_VOICE "?step=%lld\" method=\"POST\" answerOnBridge=\"true\"",
               (long long)s->step);
    buf_printf(out, " timeout=\"%lld\"", (long long)ring->seconds);
    put_time_limit(s, out);
    if (s->story.arrival.dialled[0])
        put_attribute("callerId", s->story.arrival.dialled, out);
    buf_char(out, '>');
    const bool all = ring->strategy == RING_ALL;
    for (size_t i = all ? 0 : s->phone; i < ring->count && (all || i == s->phone); i++)
        put_number(s, i, out);
    buf_lit(out, "</Dial>");
}

/* Of two people, who both end it when they leave, so that neither waits there alone. */
static void put_conference(const struct twiml_session *s, struct buf *out)
{
    buf_printf(out,
               "<Conference beep=\"false\" waitUrl=\"\" startConferenceOnEnter=\"true\" endConferenceOnExit=\"true\" "
               "maxParticipants=\"2\">%.*s</Conference></Dial>",
               STR_ARG(s->sid));
}

static void put_room(const struct twiml_session *s, struct buf *out)
{
    buf_printf(out, "<Dial action=\"" TWIML_VOICE "?step=%lld\" method=\"POST\"", (long long)s->step);
    put_time_limit(s, out);
    buf_char(out, '>');
    put_conference(s, out);
}

/* Without a sound Twilio goes on with the next verb. One time of silence counts before and after the message. */
static void put_record(const struct twiml_session *s, int64_t max_s, struct buf *out)
{
    buf_printf(out,
               "<Record maxLength=\"%lld\" timeout=\"%d\" playBeep=\"true\" trim=\"do-not-trim\" "
               "finishOnKey=\"1234567890*#\" action=\"" TWIML_VOICE "?step=%lld\" method=\"POST\" "
               "recordingStatusCallback=\"" TWIML_RECORDING "\" recordingStatusCallbackMethod=\"POST\"/>",
               (long long)max_s, SILENCE_S, (long long)s->step);
    buf_printf(out, "<Redirect method=\"POST\">" TWIML_VOICE "?step=%lld</Redirect>", (long long)s->step);
}

static void put_play(const struct call_action *a, bool first, struct buf *out)
{
    buf_lit(out, "<Play digits=\"");
    twiml_digits(a->tones.keys, &a->tones.form, first, out);
    buf_lit(out, "\"/>");
}

/* The greeting that the next action collects digits during, else NULL. */
static const struct call_action *interruptible(const struct call_actions *actions, size_t i)
{
    const struct call_action *a = &actions->v[i];
    const bool asked = i + 1 < actions->n && actions->v[i + 1].kind == CALL_COLLECT;
    return a->kind == CALL_SAY && a->say.interruptible && asked ? a : NULL;
}

static void put_verb(const struct config *c, const struct twiml_session *s, const struct call_actions *actions,
                     size_t i, struct buf *out)
{
    const struct call_action *a = &actions->v[i];
    switch (a->kind) {
    case CALL_REJECT:
        buf_printf(out, "<Reject reason=\"%s\"/>", a->status / 100 == 5 ? "busy" : "rejected");
        return;
    case CALL_SAY:
        if (!interruptible(actions, i))
            put_spoken(c, s, a, out);
        return;
    case CALL_COLLECT:
        put_gather(c, s, a, i ? interruptible(actions, i - 1) : NULL, out);
        return;
    case CALL_SEND_TONES:
        put_play(a, i == 0 || actions->v[i - 1].kind == CALL_ANSWER, out);
        return;
    case CALL_FORWARD:
        put_dial(s, a->forward, out);
        return;
    case CALL_HANG_UP:
        buf_lit(out, "<Hangup/>");
        return;
    case CALL_TAKE_MESSAGE:
        put_record(s, a->max_s, out);
        return;
    case CALL_ANSWER: /* the first verb does */
    case CALL_ASK_ARRIVE:
    case CALL_ASK_CODE:
    case CALL_ASK_FORWARDED:
        return;
    }
}

/* ---- documents ---- */

void twiml_visitor(const struct config *c, const struct twiml_session *s, const struct call_actions *actions,
                   bool joins, struct buf *out)
{
    buf_lit(out, BEGIN);
    bool records = false; /* Twilio asks again when it has recorded */
    for (size_t i = 0; i < actions->n && !records; i++) {
        put_verb(c, s, actions, i, out);
        records = actions->v[i].kind == CALL_TAKE_MESSAGE;
    }
    if (joins)
        put_room(s, out);
    buf_lit(out, END);
}

void twiml_wait(const struct twiml_session *s, struct buf *out)
{
    buf_printf(out, BEGIN "<Pause length=\"1\"/><Redirect method=\"POST\">" TWIML_VOICE "?step=%lld</Redirect>" END,
               (long long)s->step);
}

void twiml_resident(const struct config *c, const struct twiml_session *s, size_t phone, struct buf *out)
{
    const bool opens = s->call.tones[0], accept = s->call.ring.accept;
    const char *text = accept  ? (opens ? call_text(&s->call, PROMPT_ACCEPT) : TEXT_TALK)
                       : opens ? TEXT_OPEN
                               : TEXT_STAY;
    buf_printf(out,
               BEGIN "<Gather input=\"dtmf\" numDigits=\"1\" finishOnKey=\"\" timeout=\"%d\" action=\"" TWIML_RESIDENT
                     "?call=%.*s&amp;phone=%zu&amp;answer=%d\" method=\"POST\" actionOnEmptyResult=\"true\">",
               accept ? DECIDE_S : LISTEN_S, STR_ARG(s->sid), phone, RESIDENT_CHOSE);
    put_say(c, text, out);
    if (opens)
        put_say(c, TEXT_STAR, out);
    buf_lit(out, "</Gather>" END);
}

void twiml_resident_join(const struct twiml_session *s, struct buf *out)
{
    buf_printf(out,
               BEGIN "<Dial action=\"" TWIML_RESIDENT "?call=%.*s&amp;answer=%d&amp;round=%lld\" method=\"POST\" "
                     "hangupOnStar=\"true\"",
               STR_ARG(s->sid), RESIDENT_LEFT, (long long)s->rounds);
    put_time_limit(s, out);
    buf_char(out, '>');
    put_conference(s, out);
    buf_lit(out, END);
}

void twiml_resident_ask(const struct config *c, const struct twiml_session *s, struct buf *out)
{
    buf_printf(out,
               BEGIN "<Pause length=\"%d\"/>"
                     "<Gather input=\"dtmf\" numDigits=\"1\" finishOnKey=\"\" timeout=\"%d\" action=\"" TWIML_RESIDENT
                     "?call=%.*s&amp;answer=%d&amp;round=%lld\" method=\"POST\" actionOnEmptyResult=\"true\">",
               ECHO_S, KEY_S, STR_ARG(s->sid), RESIDENT_PRESSED, (long long)s->rounds);
    put_say(c, TEXT_KEY, out);
    buf_lit(out, "</Gather>" END);
}

void twiml_forward_alone(const struct twiml_session *s, struct buf *out)
{
    const struct call_ring *ring = &s->call.ring;
    buf_printf(out, BEGIN "<Dial answerOnBridge=\"true\" timeout=\"%lld\" timeLimit=\"%d\"", (long long)ring->seconds,
               TWIML_TALK_MAX_S);
    put_attribute("callerId", s->story.arrival.dialled, out);
    buf_char(out, '>');
    for (size_t i = 0; i < ring->count; i++) {
        buf_lit(out, "<Number>");
        twiml_escape(str_z(ring->phones[i]), out);
        buf_lit(out, "</Number>");
    }
    buf_lit(out, "</Dial>" END);
}

void twiml_hang_up(struct buf *out)
{
    buf_lit(out, BEGIN "<Hangup/>" END);
}

void twiml_nothing(struct buf *out)
{
    buf_lit(out, BEGIN END);
}
