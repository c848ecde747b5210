#include "http/chunk.h"

#include "http/parse.h"

#define MAX_DIGITS   16
#define MAX_OVERHEAD HTTP_MAX_HEAD

enum state {
    SIZE,      /* hexadecimal digits */
    SIZE_PAD,  /* white space before ";" (RFC 9112 section 7.1.1) */
    EXTENSION, /* up to CR */
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    LINE,  /* the start of a trailer line */
    NAME,  /* of a trailer field */
    VALUE, /* of a trailer field */
    VALUE_LF,
    END_LF,
    DONE,
    BAD
};

static int chunk_size_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum state after_digits(char c)
{
    switch (c) {
    case '\r':
        return SIZE_LF;
    case ';':
        return EXTENSION;
    case ' ':
    case '\t':
        return SIZE_PAD;
    default:
        return BAD;
    }
}

static enum state size_char(struct http_chunk *c, char ch)
{
    int digit = chunk_size_digit(ch);
    if (digit < 0)
        return c->digits ? after_digits(ch) : BAD;
    if (++c->digits > MAX_DIGITS)
        return BAD;
    c->left = c->left << 4 | (unsigned)digit;
    return SIZE;
}

/* One byte outside chunk data. */
static enum state framing_char(struct http_chunk *c, char ch)
{
    switch ((enum state)c->state) {
    case SIZE:
        return size_char(c, ch);
    case SIZE_PAD:
        return ch == '\r' ? BAD : after_digits(ch);
    case EXTENSION:
        return ch == '\r' ? SIZE_LF : http_is_field_char(ch) ? EXTENSION : BAD;
    case SIZE_LF:
        return ch != '\n' ? BAD : c->left ? DATA : LINE;
    case DATA_CR:
        return ch == '\r' ? DATA_LF : BAD;
    case DATA_LF:
        c->digits = 0;
        return ch == '\n' ? SIZE : BAD;
    case LINE:
        return ch == '\r' ? END_LF : http_is_tchar(ch) ? NAME : BAD;
    case NAME:
        return ch == ':' ? VALUE : http_is_tchar(ch) ? NAME : BAD;
    case VALUE:
        return ch == '\r' ? VALUE_LF : http_is_field_char(ch) ? VALUE : BAD;
    case VALUE_LF:
        return ch == '\n' ? LINE : BAD;
    case END_LF:
        return ch == '\n' ? DONE : BAD;
    case DATA:
    case DONE:
    case BAD:
        break;
    }
    return BAD;
}

static bool bounded(enum state s)
{
    return s == SIZE_PAD || s == EXTENSION || s == NAME || s == VALUE;
}

static enum http_chunk_step take_data(struct http_chunk *c, struct str *in, struct str *ret_data)
{
    size_t n = c->left < in->n ? (size_t)c->left : in->n;
    *ret_data = str_n(in->p, n);
    *in = str_from(*in, n);
    c->left -= n;
    if (c->left == 0)
        c->state = DATA_CR;
    return HTTP_CHUNK_DATA;
}

enum http_chunk_step http_chunk_next(struct http_chunk *c, struct str *in, struct str *ret_data)
{
    while (in->n && c->state != DONE && c->state != BAD) {
        if (c->state == DATA)
            return take_data(c, in, ret_data);
        enum state next = framing_char(c, in->p[0]);
        if (bounded(next) && ++c->overhead > MAX_OVERHEAD)
            next = BAD;
        c->state = next;
        if (next == BAD)
            break;
        *in = str_from(*in, 1);
        if (next == DATA) {
            if (c->left > c->max - c->total) {
                c->state = BAD;
                return HTTP_CHUNK_LARGE;
            }
            c->total += c->left;
        }
    }
    return c->state == DONE ? HTTP_CHUNK_END : c->state == BAD ? HTTP_CHUNK_BAD : HTTP_CHUNK_MORE;
}
