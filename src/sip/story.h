/* Inside the SIP user agent: the log line and the record of a call. */
#pragma once
#include "sip/call.h"
#include "sip/part.h"

/* Begins the story when the call arrives. At its end, writes the line, and the record unless a decision is pending.
 * Calls that were never established and decided nothing are limited in number. */
extern const struct sip_part sip_story_part;

/* After call_step(). */
void sip_story_event(struct sip_call *c, const struct call_event *e);
/* When the action begins. */
void sip_story_action(struct sip_call *c, const struct call_action *a);
/* As story_note(), now. */
void sip_story_note(struct sip_call *c, enum call_step_kind kind, const char *text, const char *number);
/* As story_listening(), now. */
void sip_story_listening(struct sip_call *c, const char *text, const struct id *key);
/* The decision that was pending has come: writes the record. */
void sip_story_late(struct sip_call *c, const struct call_event *e);
