#include "call/words.h"

#define BETWEEN " \t\r\n-,."

static const struct {
    struct str word;
    char digit;
} digit_words[] = {
    {{"zero", 4}, '0'}, {{"oh", 2}, '0'},    {{"o", 1}, '0'},     {{"one", 3}, '1'},
    {{"two", 3}, '2'},  {{"three", 5}, '3'}, {{"four", 4}, '4'},  {{"five", 4}, '5'},
    {{"six", 3}, '6'},  {{"seven", 5}, '7'}, {{"eight", 5}, '8'}, {{"nine", 4}, '9'},
};

struct digits {
    char *text;
    size_t n, size;
};

/* Adds the digit `times` times. */
static bool add_digit(struct digits *out, char digit, int times)
{
    for (; times > 0; times--) {
        if (out->n + 1 >= out->size)
            return false;
        out->text[out->n++] = digit;
        out->text[out->n] = '\0';
    }
    return true;
}

/* Takes one word: the name of a digit, or digits. */
static bool take_word(struct str word, int times, struct digits *out)
{
    for (size_t i = 0; i < sizeof digit_words / sizeof *digit_words; i++)
        if (str_eqi(word, digit_words[i].word))
            return add_digit(out, digit_words[i].digit, times);
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] < '0' || word.p[i] > '9' || !add_digit(out, word.p[i], times))
            return false;
        times = 1;
    }
    return true;
}

static struct str next_word(struct str *rest)
{
    size_t start = 0, end;
    while (start < rest->n && strchr(BETWEEN, rest->p[start]) && rest->p[start])
        start++;
    for (end = start; end < rest->n && rest->p[end] && !strchr(BETWEEN, rest->p[end]); end++)
        ;
    if (end == start && end < rest->n) /* a NUL is part of no word: the caller refuses it */
        end++;
    struct str word = str_n(rest->p + start, end - start);
    *rest = str_from(*rest, end);
    return word;
}

bool words_to_digits(struct str text, char *ret, size_t size)
{
    struct digits out = {ret, 0, size};
    ret[0] = '\0';
    int times = 1;
    for (struct str word; (word = next_word(&text)).n > 0;) {
        if (str_eqi(word, STR("double")) || str_eqi(word, STR("triple"))) {
            if (times != 1)
                return false;
            times = str_eqi(word, STR("double")) ? 2 : 3;
            continue;
        }
        if (!take_word(word, times, &out))
            return false;
        times = 1;
    }
    return out.n > 0 && times == 1;
}
