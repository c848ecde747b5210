/* The release tone of a call: keys as RFC 4733 events, in-band, or as SIP INFO (application/dtmf-relay). */
#pragma once
#include "call/log.h"
#include "media/media.h"
#include "sip/part.h"

/* Embedded in its owner. */
struct sip_tones {
    struct media *media;
    struct sip *sip;
    struct sipsess *session;
    struct call_record *record;
    struct release form;
    struct tmr timer;
    char keys[DTMF_KEYS_MAX + 1];
    size_t at;                   /* the key in progress as SIP INFO, */
    struct sip_request *request; /* and its request, which ends with the tones */
    uint64_t sent_ms;
    void (*done)(void *arg);
    void *arg;
};

/* Presses the keys in that form. Calls done(arg) when keys that go out as SIP INFO have been pressed; others end with
 * the `played` of the media session. A request for each key follows when the one before was answered, or 2 s passed,
 * and its key and gap are over. The keys that the peer refuses as SIP INFO go out by media. Media, session and record
 * must live until sip_tones_stop(). The record gets the way that was taken. */
void sip_tones_press(struct sip_tones *t, struct media *m, struct sip *sip, struct sipsess *session,
                     struct call_record *record, const char *keys, const struct release *form, void (*done)(void *arg),
                     void *arg);
/* An all-zero struct is fine. */
void sip_tones_stop(struct sip_tones *t);

/* Stops the tones of a call that ends. */
extern const struct sip_part sip_tones_part;
