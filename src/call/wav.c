#include "call/wav.h"

#include <re/re.h>
#include <rem/rem.h>

#define FORMAT_LEN     16 /* of a fmt chunk */
#define EXTENSIBLE_LEN 40
#define OTHER_LEN      14U /* the longer header of a form other than PCM */
#define TAG_PCM        1
#define TAG_ALAW       6
#define TAG_ULAW       7
#define TAG_EXTENSIBLE 0xfffe

/* A format in an extensible header is its tag and this. */
static const char SUBFORMAT[] = "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71";

struct format {
    unsigned tag, channels, rate, block, bits;
};

static unsigned u16(const char *p)
{
    return (unsigned char)p[0] | (unsigned)(unsigned char)p[1] << 8;
}

static uint32_t u32(const char *p)
{
    return u16(p) | (uint32_t)u16(p + 2) << 16;
}

/* ---- chunks ---- */

/* The content of the first chunk of that name from *rest on, which then begins behind it. STR_NONE if there is none, or
 * it is cut off. */
static struct str find_chunk(struct str *rest, const char name[static 4])
{
    while (rest->n >= 8) {
        const uint32_t size = u32(rest->p + 4);
        const bool found = memcmp(rest->p, name, 4) == 0;
        const struct str body = str_from(*rest, 8);
        if (size > body.n)
            return STR_NONE;
        *rest = str_from(body, size + (size & 1)); /* chunks begin at even places */
        if (found)
            return str_n(body.p, size);
    }
    return STR_NONE;
}

static bool read_format(struct str s, struct format *ret)
{
    if (s.n < FORMAT_LEN)
        return false;
    *ret = (struct format){u16(s.p), u16(s.p + 2), u32(s.p + 4), u16(s.p + 12), u16(s.p + 14)};
    if (ret->tag == TAG_EXTENSIBLE) {
        if (s.n < EXTENSIBLE_LEN || memcmp(s.p + 26, SUBFORMAT, sizeof SUBFORMAT - 1) != 0)
            return false;
        ret->tag = u16(s.p + 24);
    }
    return true;
}

static const char *refuse_format(const struct format *f)
{
    const bool pcm = f->tag == TAG_PCM && (f->bits == 8 || f->bits == 16 || f->bits == 24);
    const bool law = (f->tag == TAG_ALAW || f->tag == TAG_ULAW) && f->bits == 8;
    if (!pcm && !law)
        return "the audio is not PCM of 8, 16 or 24 bits, mu-law or A-law";
    if (f->channels < 1 || f->channels > 2)
        return "the audio is neither mono nor stereo";
    if (f->rate < AUDIO_RATE_MIN || f->rate > AUDIO_RATE_MAX)
        return "the sample rate is not between 8,000 and 48,000 Hz";
    if (f->block != f->channels * f->bits / 8)
        return "the header is damaged";
    return NULL;
}

/* ---- samples ---- */

static int decode_sample(const struct format *f, const char *p)
{
    const unsigned char byte = (unsigned char)*p;
    if (f->tag == TAG_ALAW)
        return g711_alaw2pcm(byte);
    if (f->tag == TAG_ULAW)
        return g711_ulaw2pcm(byte);
    if (f->bits == 8)
        return (byte - 128) * 256;
    return (int16_t)u16(p + (f->bits == 24 ? 1 : 0)); /* the upper 16 bits */
}

static void decode(const struct format *f, const char *p, struct audio *ret)
{
    for (size_t i = 0; i < ret->n; i++) {
        int sum = 0;
        for (unsigned channel = 0; channel < f->channels; channel++, p += f->bits / 8)
            sum += decode_sample(f, p);
        ret->samples[i] = (int16_t)(sum / (int)f->channels);
    }
}

static enum err wav_refuse(const char **ret_why, const char *why)
{
    *ret_why = why;
    return ERR_USAGE;
}

enum err wav_read(struct str bytes, struct audio *ret, const char **ret_why)
{
    struct format f;
    struct str rest = str_from(bytes, 12);
    if (bytes.n < 12 || memcmp(bytes.p, "RIFF", 4) != 0 || memcmp(bytes.p + 8, "WAVE", 4) != 0)
        return wav_refuse(ret_why, "this is not a WAV file");
    if (!read_format(find_chunk(&rest, "fmt "), &f))
        return wav_refuse(ret_why, "the header is damaged");
    const char *refused = refuse_format(&f);
    if (refused)
        return wav_refuse(ret_why, refused);
    const struct str data = find_chunk(&rest, "data");
    if (!f.block || data.n < f.block)
        return wav_refuse(ret_why, "the file has no audio, or is cut off");
    *ret = (struct audio){.n = data.n / f.block, .rate = f.rate};
    ret->samples = mem_array(int16_t, ret->n);
    decode(&f, data.p, ret);
    return ERR_NONE;
}

static void wav_put(struct buf *out, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        buf_char(out, (char)(value >> (8 * i) & 0xff));
}

/* Everything before the audio of so many bytes, with `block` bytes a sample. Other forms than PCM have an empty
 * extension and the number of samples. */
static void wav_head(unsigned tag, uint32_t block, uint32_t bytes, struct buf *out)
{
    const bool pcm = tag == TAG_PCM;
    buf_lit(out, "RIFF");
    wav_put(out, 20 + FORMAT_LEN + (pcm ? 0U : OTHER_LEN) + bytes + (bytes & 1), 4);
    buf_lit(out, "WAVEfmt ");
    wav_put(out, FORMAT_LEN + (pcm ? 0 : 2), 4);
    wav_put(out, tag, 2);
    wav_put(out, 1, 2);
    wav_put(out, SOUND_RATE, 4);
    wav_put(out, SOUND_RATE * block, 4);
    wav_put(out, block, 2);
    wav_put(out, 8 * block, 2);
    if (!pcm) {
        wav_put(out, 0, 2);
        buf_lit(out, "fact");
        wav_put(out, 4, 4);
        wav_put(out, bytes / block, 4);
    }
    buf_lit(out, "data");
    wav_put(out, bytes, 4);
}

void wav_write(const int16_t *samples, size_t n, struct buf *out)
{
    wav_head(TAG_PCM, sizeof *samples, (uint32_t)(n * sizeof *samples), out);
    for (size_t i = 0; i < n; i++)
        wav_put(out, (uint16_t)samples[i], 2);
}

void wav_write_ulaw(struct str ulaw, struct buf *out)
{
    wav_head(TAG_ULAW, 1, (uint32_t)ulaw.n, out);
    buf_str(out, ulaw);
    if (ulaw.n & 1)
        buf_char(out, 0);
}
