/* A telephone in software: the part that the simulated call box (buzz.h) and the resident's telephone (phone.h) share.
 * One call at a time on the calling thread: keys that are pressed after the greetings, and lines about the events. */
#pragma once
#include <re/re.h>
#include <stdio.h>

#include "media/media.h"

struct handset_options {
    const char *digits; /* keys to press, or NULL; `,` waits for the next greeting to end */
    const char *wav;    /* 8 kHz mono 16 bit PCM file to play, or NULL */
    bool inband;        /* keys as tones in the audio: RFC 4733 is not offered */
    bool info;          /* keys as SIP INFO */
    int64_t delay_ms;   /* from the answer to the first key; below 0: when the greeting has ended */
    int64_t tone_ms;    /* of a key; 0: 100 */
    int64_t gap_ms;     /* between keys; 0: 100 */
    int64_t wait_ms;    /* how long a `,` waits for a greeting to begin; 0: 1 s */
    int64_t timeout_ms; /* for everything; 0: 60 s */
    bool json;          /* report one JSON object a line */
};

struct handset {
    const struct handset_options *o;
    FILE *out;
    char why[400];
    bool failed;    /* `why` says why */
    bool answered;  /* the call has begun */
    bool closed;    /* nothing more is reported */
    bool heard_key; /* at least one */

    struct sip *sip;
    struct sip_lsnr *requests;
    struct sipsess_sock *sessions;
    struct sipsess *session;
    struct media *media;
    struct tick *tick;
    struct tick_entry entry;
    struct tmr end_timer;
    struct mbuf *wav;
    int64_t began_ms;

    const char *digits; /* not pressed yet */
    bool wav_played, started;
    bool playing;         /* a key or the file */
    bool in_code;         /* from the first key of a code to its last */
    int64_t waited_ms;    /* start of the wait for a greeting */
    int64_t audio_ms;     /* arrival of the last packet of audio */
    bool heard;           /* a sound since the last key went down */
    size_t quiet_samples; /* received since the last sound */
};

/* Writes a line. `detail` may be NULL and must not need escaping in JSON. */
void handset_report(struct handset *h, const char *event, const char *detail);
void handset_fail(struct handset *h, const char *what, int error);

/* Prepares the process and reads the WAV file; false: failed. */
bool handset_init(struct handset *h, const struct handset_options *o, FILE *out);
/* Opens the SIP stack at `local` (port 0: a free one), which tells `on_call` about calls that come in (NULL: refuses
 * them). A trace handler gets `arg`, too. Returns 0 or errno. */
int handset_open(struct handset *h, const struct sa *local, enum sip_transp transport, const char *agent,
                 sipsess_conn_h *on_call, void *arg);
/* Makes the audio of a call. Returns 0 or errno. */
int handset_media(struct handset *h, const struct sa *local);
/* Runs libre's loop, and `on_tick` every 20 ms, until the handset has finished. Returns 0 or errno. */
int handset_loop(struct handset *h, void (*on_tick)(void *arg, int64_t now_ms), void *arg);
/* The call was answered; the peer's messages come from `peer`. */
void handset_answered(struct handset *h, const struct sa *peer);
/* Presses the keys whose time has come. */
void handset_act(struct handset *h, int64_t now_ms);
/* Whether all keys were pressed at least `ms` ago. */
bool handset_idle(const struct handset *h, int64_t now_ms, int64_t ms);
bool handset_timed_out(const struct handset *h, int64_t now_ms);
/* The other side hung up. */
void handset_hung_up(struct handset *h);
/* Hangs up, if there is a call, and leaves the loop once the last messages were sent. */
void handset_finish(struct handset *h);
/* Leaves the loop after `after_ms`. */
void handset_leave(struct handset *h, uint64_t after_ms);
/* Frees everything; `why` and the flags stay. */
void handset_done(struct handset *h);
