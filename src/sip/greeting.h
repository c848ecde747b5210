/* Says texts in a call: as speech, or as signal tones if the speech is not ready in time. */
#pragma once
#include <pthread.h>

#include "base/err.h"
#include "base/mailbox.h"
#include "call/call.h"
#include "call/sound.h"
#include "domain/settings.h"

#define GREETING_WAIT_MS 1000 /* the longest silence before tones take the place of speech */

struct clip;
struct media;
struct sip_agent;

/* Words to say. `text` and `recording` must live until they were said. */
struct greeting_words {
    enum call_prompt prompt;    /* which signal tones take their place */
    const char *text;           /* spoken, */
    const struct id *recording; /* unless there is a recording of the building; NULL: there is none */
};

/* Zero at first. Belongs to one media session, and is done after that was freed. */
struct saying {
    struct sip_agent *agent;
    struct media *media;
    struct greeting_words words;
    int64_t until_ms;  /* waiting for the speech, at most until then; 0: not waiting */
    struct clip *clip; /* the one that plays, or played last */
};

#define GREETING_WISHES_MAX 50 /* saved greetings that the agent's thread has not seen yet */
#define GREETING_NAME_MAX   (3 * GREETING_MAX)

/* Saved greetings on their way from other threads to the agent's. */
struct greeting_wishes {
    pthread_mutex_t lock;
    struct mail mail; /* posted while n > 0 */
    size_t n;
    struct greeting_wish {
        bool recording;
        char name[GREETING_NAME_MAX + 1];
    } list[GREETING_WISHES_MAX];
};

/* Start the agent's speech, and prepare the texts that most calls need. */
enum err greeting_start(struct sip_agent *a) CHECKED;
void greeting_stop(struct sip_agent *a);

/* Prepares the texts of these actions, then the texts that the call may need later. */
void greeting_prepare(struct sip_agent *a, const struct call *c, const struct call_actions *next);
/* Says the words. media_events.played tells the end. */
void greeting_say(struct saying *s, struct sip_agent *a, struct media *m, const struct greeting_words *words);
/* The parts of a prompt as it can be said at once: speech, or signal tones. The samples live as long as s. Returns the
 * number of parts. */
size_t greeting_parts(struct saying *s, struct sip_agent *a, enum call_prompt prompt, const char *text,
                      struct sound ret[static SOUND_PARTS_MAX]);
/* Every tick while a text is being said: begins to play as soon as the speech is ready. */
void greeting_tick(struct saying *s, int64_t now_ms);
void greeting_done(struct saying *s);
