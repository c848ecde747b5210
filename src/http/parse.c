#include "http/parse.h"

struct parser {
    struct http_request *r;
    struct http_header *headers; /* r->headers, writable */
    struct http_framing *f;
    struct str authority; /* of an absolute-form target */
    struct http_header *host;
    unsigned hosts, lengths, codings;
    bool close, keep_alive; /* Connection options */
    bool unknown_coding, unknown_expectation;
};

bool http_is_tchar(char c)
{
    /* ! # $ % & ' * + - . 0-9 in the first word; A-Z ^ _ ` a-z | ~ in the second. */
    static const uint64_t map[2] = {0x03ff6cfa00000000u, 0x57ffffffc7fffffeu};
    unsigned char u = (unsigned char)c;
    return u < 128 && (map[u >> 6] >> (u & 63) & 1);
}

static bool is_decimal(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_alphanumeric(char c)
{
    return is_decimal(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool is_host_char(char c)
{
    return is_alphanumeric(c) || (c && strchr("-._~%!$&'()*+,;=:[]", c));
}

static bool all(struct str s, bool (*is)(char))
{
    for (size_t i = 0; i < s.n; i++)
        if (!is(s.p[i]))
            return false;
    return true;
}

/* ---- request line ---- */

const struct str http_method_names[HTTP_OTHER] = {
    [HTTP_GET] = {"GET", 3},     [HTTP_HEAD] = {"HEAD", 4},     [HTTP_POST] = {"POST", 4},      [HTTP_PUT] = {"PUT", 3},
    [HTTP_PATCH] = {"PATCH", 5}, [HTTP_DELETE] = {"DELETE", 6}, [HTTP_OPTIONS] = {"OPTIONS", 7}};

static enum http_method method_named(struct str m)
{
    unsigned i = 0;
    while (i < HTTP_OTHER && !str_eq(m, http_method_names[i]))
        i++;
    return (enum http_method)i;
}

static enum err read_http_version(struct str v, struct http_framing *f)
{
    if (v.n != 8 || !str_starts(v, STR("HTTP/")) || !is_decimal(v.p[5]) || v.p[6] != '.' || !is_decimal(v.p[7]))
        return ERR_BAD_REQUEST;
    if (v.p[5] != '1')
        return ERR_HTTP_VERSION;
    f->http10 = v.p[7] == '0';
    return ERR_NONE;
}

static void split_origin(struct http_request *r, struct str target)
{
    r->target = target;
    r->path = str_cut(target, '?', &r->query);
}

/* scheme "://" authority path-abempty [ "?" query ] */
static bool split_absolute(struct parser *p, struct str target)
{
    if (target.n >= 7 && str_eqi(str_n(target.p, 7), STR("http://")))
        target = str_from(target, 7);
    else if (target.n >= 8 && str_eqi(str_n(target.p, 8), STR("https://")))
        target = str_from(target, 8);
    else
        return false;
    size_t n = 0;
    while (n < target.n && target.p[n] != '/' && target.p[n] != '?')
        n++;
    p->authority = str_n(target.p, n);
    if (n == 0 || !all(p->authority, is_host_char))
        return false;
    target = str_from(target, n);
    if (target.n == 0)
        target = STR("/");
    else if (target.p[0] == '?')
        target = arena_printf(&p->r->arena, "/%.*s", STR_ARG(target));
    split_origin(p->r, target);
    return true;
}

static bool is_target_char(char c)
{
    return c > ' ' && c < 0x7f && c != '#';
}

static enum err read_target(struct parser *p, struct str target)
{
    if (target.n == 0 || !all(target, is_target_char))
        return ERR_BAD_REQUEST;
    if (target.p[0] == '/')
        split_origin(p->r, target);
    else if (str_eq(target, STR("*")) && p->r->method == HTTP_OPTIONS)
        split_origin(p->r, target);
    else if (!split_absolute(p, target))
        return ERR_BAD_REQUEST;
    return ERR_NONE;
}

/* method SP request-target SP HTTP-version (RFC 9112 section 3) */
static enum err read_request_line(struct parser *p, struct str line)
{
    struct str target, version;
    struct str method = str_cut(line, ' ', &target);
    if (method.n == 0 || !all(method, http_is_tchar))
        return ERR_BAD_REQUEST;
    p->r->method_text = method;
    p->r->method = method_named(method);
    target = str_cut(target, ' ', &version);
    enum err e = read_http_version(version, p->f);
    if (e)
        return e;
    return read_target(p, target);
}

/* ---- fields that affect framing ---- */

static enum err take_host(struct parser *p, struct http_header *h)
{
    p->host = h;
    return p->hosts++ == 0 && all(h->value, is_host_char) ? ERR_NONE : ERR_BAD_REQUEST;
}

static enum err take_content_length(struct parser *p, struct http_header *h)
{
    if (p->lengths++ || h->value.n == 0 || !all(h->value, is_decimal))
        return ERR_BAD_REQUEST;
    if (!str_to_u64(h->value, UINT64_MAX, &p->f->length))
        p->f->length = UINT64_MAX;
    return ERR_NONE;
}

/* Accepts a single `chunked`. Other codings before a final chunked are not implemented. Any other list leaves the
 * length of the body undefined (RFC 9112 section 6.3). */
static enum err take_transfer_encoding(struct parser *p, struct http_header *h)
{
    if (p->codings++)
        return ERR_BAD_REQUEST;
    struct str rest = h->value;
    while (rest.p) {
        struct str coding = str_trim(str_cut(rest, ',', &rest));
        bool chunked = str_eqi(coding, STR("chunked"));
        if (chunked != !rest.p)
            return ERR_BAD_REQUEST;
        if (!chunked)
            p->unknown_coding = true;
    }
    p->f->chunked = true;
    return ERR_NONE;
}

static enum err take_connection(struct parser *p, struct http_header *h)
{
    struct str rest = h->value;
    while (rest.p) {
        struct str option = str_trim(str_cut(rest, ',', &rest));
        if (str_eqi(option, STR("close")))
            p->close = true;
        else if (str_eqi(option, STR("keep-alive")))
            p->keep_alive = true;
    }
    return ERR_NONE;
}

static enum err take_expect(struct parser *p, struct http_header *h)
{
    if (str_eqi(h->value, STR("100-continue")))
        p->f->expect_continue = true;
    else
        p->unknown_expectation = true;
    return ERR_NONE;
}

static enum err take_known(struct parser *p, struct http_header *h)
{
    static const struct {
        const char *name;
        size_t n;
        enum err (*take)(struct parser *p, struct http_header *h);
    } known[] = {{"host", 4, take_host},
                 {"connection", 10, take_connection},
                 {"content-length", 14, take_content_length},
                 {"transfer-encoding", 17, take_transfer_encoding},
                 {"expect", 6, take_expect}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (h->name.n == known[i].n && str_eqi(h->name, str_n(known[i].name, known[i].n)))
            return known[i].take(p, h);
    return ERR_NONE;
}

/* field-name ":" OWS field-value OWS (RFC 9112 section 5) */
static enum err read_header_field(struct parser *p, struct str line)
{
    struct str value;
    struct str name = str_cut(line, ':', &value);
    if (!value.p || name.n == 0 || !all(name, http_is_tchar))
        return ERR_BAD_REQUEST;
    for (size_t i = 0; i < value.n; i++)
        if (!http_is_field_char(value.p[i]))
            return ERR_BAD_REQUEST;
    if (p->r->header_count == HTTP_MAX_HEADERS)
        return ERR_HEADERS_TOO_LARGE;
    struct http_header *h = &p->headers[p->r->header_count++];
    *h = (struct http_header){name, str_trim(value)};
    return take_known(p, h);
}

/* ---- the head ---- */

static enum err conclude(struct parser *p)
{
    struct http_framing *f = p->f;
    if (p->hosts == 0 && !f->http10)
        return ERR_BAD_REQUEST;
    if (f->chunked && (p->lengths || f->http10))
        return ERR_BAD_REQUEST;
    if (p->unknown_coding)
        return ERR_NOT_IMPLEMENTED;
    if (f->http10)
        f->expect_continue = false;
    else if (p->unknown_expectation)
        return ERR_EXPECTATION_FAILED;
    if (p->authority.p && p->host)
        p->host->value = p->authority;
    f->keep_alive = !p->close && (!f->http10 || p->keep_alive);
    p->r->has_body = f->chunked || f->length > 0;
    return ERR_NONE;
}

/* Takes the next line from *in, without its CRLF. Leaves *ret untouched if the line is incomplete. */
static enum err take_head_line(struct str *in, struct str *ret)
{
    const char *lf = in->n ? memchr(in->p, '\n', in->n) : NULL;
    if (!lf)
        return ERR_NONE;
    size_t n = (size_t)(lf - in->p);
    if (n == 0 || lf[-1] != '\r')
        return ERR_BAD_REQUEST;
    *ret = str_n(in->p, n - 1);
    *in = str_from(*in, n + 1);
    return ERR_NONE;
}

static enum http_parse refuse_framing(struct http_framing *f, enum err why)
{
    f->why = why;
    return HTTP_PARSE_REFUSED;
}

size_t http_empty_lines(struct str bytes)
{
    size_t n = 0;
    while (bytes.n - n >= 2 && bytes.p[n] == '\r' && bytes.p[n + 1] == '\n')
        n += 2;
    return n;
}

enum http_parse http_head_parse(struct str bytes, struct http_header headers[static HTTP_MAX_HEADERS],
                                struct http_request *r, struct http_framing *f)
{
    struct parser p = {.r = r, .headers = headers, .f = f};
    struct str in = bytes;
    *f = (struct http_framing){0};
    r->headers = headers;
    for (bool first = true;;) {
        struct str line = STR_NONE;
        enum err e = take_head_line(&in, &line);
        if (e)
            return refuse_framing(f, e);
        size_t used = bytes.n - in.n;
        if (used > HTTP_MAX_HEAD || (!line.p && bytes.n >= HTTP_MAX_HEAD))
            return refuse_framing(f, first ? ERR_URI_TOO_LONG : ERR_HEADERS_TOO_LARGE);
        if (!line.p) {
            /* A TLS ClientHello or other garbage must not wait for a line end that never comes. */
            bool garbage = first && in.n && in.p[0] != '\r' && !http_is_tchar(in.p[0]);
            return garbage ? refuse_framing(f, ERR_BAD_REQUEST) : HTTP_PARSE_MORE;
        }
        if (line.n == 0 && !first) {
            f->head_len = used;
            e = conclude(&p);
            return e ? refuse_framing(f, e) : HTTP_PARSE_DONE;
        }
        e = first ? read_request_line(&p, line) : read_header_field(&p, line);
        if (e)
            return refuse_framing(f, e);
        first = false;
    }
}

struct str http_header(const struct http_request *r, struct str name, size_t *ret_count)
{
    struct str found = STR_NONE;
    size_t count = 0;
    for (size_t i = 0; i < r->header_count; i++) {
        if (!str_eqi(r->headers[i].name, name))
            continue;
        if (count++ == 0)
            found = r->headers[i].value;
        if (!ret_count)
            break;
    }
    if (ret_count)
        *ret_count = count;
    return found;
}

bool http_accepts(const struct http_request *r, const char *media)
{
    struct str accept = http_header(r, STR("Accept"), NULL);
    return accept.n && memmem(accept.p, accept.n, media, strlen(media));
}
