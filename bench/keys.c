/* In-band keys: the share of keys that are heard exactly once, for each twist (high tone minus low tone), length and
 * noise; keys heard in files of speech, where there are none; the cost. The control is librem's decoder alone.
 *
 * bench_keys [FILE ...]: each FILE is speech, 16 bit, 8 kHz, mono, without a header. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <re/re.h>
#include <rem/rem.h>

#include "media/dtmf.h"
#include "sized.h"

#define PACKET 160
#define TIMES  40 /* of the keypad, for each figure */
#define TWO_PI 6.283185307179586

static const char KEYPAD[] = "123A456B789C*0#D";
static const double ROWS[] = {697, 770, 852, 941}, COLUMNS[] = {1209, 1336, 1477, 1633};

struct count {
    char want;
    unsigned right, other; /* presses in the present key */
};

static void on_key(char key, void *arg)
{
    struct count *c = arg;
    ++*(key == c->want ? &c->right : &c->other);
}

static struct count ours_count, alone_count;
static struct dtmf_in ours;
static struct dtmf_dec *alone;

static void begin(char want)
{
    ours_count = alone_count = (struct count){.want = want};
    dtmf_in_done(&ours);
    dtmf_dec_reset(alone, 8000, 1);
    if (!dtmf_in_init(&ours, on_key, &ours_count))
        exit(1);
}

static double noise(void)
{
    return sqrt(-2 * log(drand48() + 1e-12)) * cos(TWO_PI * drand48());
}

/* A key at -10 to -20 dBm0 with a silence around it, through mu-law. */
static void press(size_t key, int twist, int ms, double snr)
{
    const double power = pow(10, -1 - drand48()) * 22300.0 * 22300.0 / 2, ratio = pow(10, twist / 10.0);
    const double low = sqrt(2 * power / (1 + ratio)), high = sqrt(2 * power * ratio / (1 + ratio));
    const double loud = sqrt(power / pow(10, snr / 10)), phase = TWO_PI * drand48();
    const int first = 2 * PACKET + (int)(PACKET * drand48()), last = first + ms * 8;
    begin(KEYPAD[key]);
    for (int at = 0; at < last + 4 * PACKET; at += PACKET) {
        int16_t packet[PACKET];
        for (int k = 0; k < PACKET; k++) {
            const double t = TWO_PI * (at + k) / 8000;
            const bool down = at + k >= first && at + k < last;
            const double v = down ? low * sin(t * ROWS[key / 4]) + high * sin(t * COLUMNS[key % 4] + phase) : 0;
            packet[k] = g711_ulaw2pcm(g711_pcm2ulaw((int16_t)(v + loud * noise())));
        }
        dtmf_in_audio(&ours, at / 8, packet, PACKET);
        dtmf_dec_probe(alone, packet, PACKET);
    }
}

static void table(void)
{
    static const int lengths_ms[] = {40, 100};
    static const double snrs[] = {20, 12};
    const unsigned presses = (unsigned)sized(TIMES, 1) * 16;
    puts("twist   40 ms, 20 dB   40 ms, 12 dB  100 ms, 20 dB  100 ms, 12 dB   per cent heard once (librem alone)");
    for (int twist = -9; twist <= 5; twist++) {
        printf("%+3d dB", twist);
        for (size_t i = 0; i < 4; i++) {
            unsigned right = 0, right_alone = 0;
            for (size_t n = 0; n < presses; n++) {
                press(n % 16, twist, lengths_ms[i / 2], snrs[i % 2]);
                right += ours_count.right == 1 && !ours_count.other;
                right_alone += alone_count.right == 1 && !alone_count.other;
            }
            printf("  %5.1f (%5.1f)", 100.0 * right / presses, 100.0 * right_alone / presses);
        }
        putchar('\n');
    }
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Returns the seconds of speech. */
static double play_file(const char *name, double ret_cpu_s[static 2])
{
    FILE *f = fopen(name, "rb");
    int16_t packet[PACKET];
    double seconds = 0;
    if (!f) {
        perror(name);
        exit(1);
    }
    begin('\0');
    while (fread(packet, sizeof *packet, PACKET, f) == PACKET) {
        for (size_t k = 0; k < PACKET; k++)
            packet[k] = g711_ulaw2pcm(g711_pcm2ulaw(packet[k]));
        const double t = now_s();
        dtmf_in_audio(&ours, (int64_t)(seconds * 1000), packet, PACKET);
        const double t2 = now_s();
        dtmf_dec_probe(alone, packet, PACKET);
        ret_cpu_s[0] += t2 - t;
        ret_cpu_s[1] += now_s() - t2;
        seconds += 0.02;
    }
    fclose(f);
    return seconds;
}

static void speech(char **names)
{
    double seconds = 0, cpu_s[2] = {0};
    unsigned heard = 0, heard_alone = 0;
    for (; *names; names++) {
        seconds += play_file(*names, cpu_s);
        heard += ours_count.right + ours_count.other;
        heard_alone += alone_count.right + alone_count.other;
    }
    printf("keys in %.1f minutes of speech: %u (librem alone %u)\n", seconds / 60, heard, heard_alone);
    printf("CPU for a second of audio: %.0f us (librem alone %.0f us, ratio %.2f)\n", cpu_s[0] / seconds * 1e6,
           cpu_s[1] / seconds * 1e6, cpu_s[0] / cpu_s[1]);
}

int main(int argc, char **argv)
{
    srand48(1);
    if (libre_init() || dtmf_dec_alloc(&alone, 8000, 1, on_key, &alone_count))
        return 1;
    table();
    if (argc > 1)
        speech(argv + 1);
    return 0;
}
