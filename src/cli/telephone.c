#include "cli/telephone.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/crypto.h"
#include "call/wav.h"
#include "speech/synth.h"

static void prepare_greeting(void *arg, bool recording, struct str name)
{
    sip_prepare_greeting(arg, recording, name);
}

static enum err command_telephone(void *arg, const struct call_command *command, struct call_command_result *ret)
{
    return sip_command(arg, command, ret);
}

static bool speak_greeting(struct str text, struct buf *ret)
{
    struct clip *clip = synth_render(text);
    if (!clip)
        return false;
    wav_write_ulaw(str_n((const char *)clip->ulaw, clip->length), ret);
    clip_unref(clip);
    return true;
}

static enum outcome call_code(void *arg, const struct sms_message *m, bool *ret_number)
{
    struct arena arena;
    arena_init(&arena, NULL, 0);
    const char *texts[] = {arena_str(&arena, m->id).p, arena_str(&arena, m->to).p, arena_str(&arena, m->as).p};
    char code[16] = "";
    snprintf(code, sizeof code, "%.*s", STR_ARG(m->code));
    const enum code_call result = sip_call_code(arg, texts[0], texts[1], texts[2], code);
    crypto_wipe(code, sizeof code);
    arena_done(&arena);
    *ret_number = result == CODE_CALL_WRONG_NUMBER;
    return result == CODE_CALL_PLACED ? OUTCOME_DONE : OUTCOME_REFUSED;
}

static bool hears_speech(void *arg)
{
    return sip_hears(arg);
}

enum err telephone_start(const struct telephone_options *o, struct speech_part *speech, struct sip_agent **ret_sip,
                         char **ret_why)
{
    const struct config *c = o->config;
    o->parts->play = wav_write_ulaw;
    if (strcmp(c->voice_provider, "sip") != 0 || !*c->listen_sip)
        return ERR_NONE;
    struct sip_agent *sip;
    enum err e = sip_start(c, o->store, o->known, &sip, ret_why);
    if (e)
        return e;
    *speech =
        (struct speech_part){.prepare = prepare_greeting, .speak = speak_greeting, .hears = hears_speech, .arg = sip};
    o->parts->trunks = sip_trunk_board(sip);
    o->parts->speech = speech;
    o->parts->command_call = command_telephone;
    o->parts->command_arg = sip;
    texter_set_call(o->texter, call_code, sip);
    *ret_sip = sip;
    return ERR_NONE;
}
