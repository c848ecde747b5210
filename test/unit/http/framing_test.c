/* Request framing over the wire, plain and in TLS. Ambiguous requests are refused and the connection closes. Valid
 * requests are answered and the connection stays open. */
#include "http/harness.h"

#define HOST  "Host: localhost\r\n"
#define GET   "GET /echo HTTP/1.1\r\n" HOST "\r\n"
#define G     "GET /echo HTTP/1.1\r\n" HOST
#define P     "POST /echo HTTP/1.1\r\n" HOST
#define CL(n) "Content-Length: " n "\r\n"
#define TE(v) "Transfer-Encoding: " v "\r\n"
#define ABC   "5\r\n\"abc\"\r\n0\r\n\r\n"

#define OPEN true
#define SHUT false

static const struct {
    const char *name;
    struct str bytes;
    const char *statuses;
    bool open;
} cases[] = {
#define C(name, bytes, statuses, open)                                                                                 \
    {                                                                                                                  \
        name, {bytes, sizeof(bytes) - 1}, statuses, open                                                               \
    }
    C("GET", GET, "200", OPEN),
    C("POST", P CL("5") "\r\nhello", "200", OPEN),
    C("pipelined GETs", GET GET GET, "200,200,200", OPEN),
    C("pipelined POST and GET", P CL("5") "\r\nhello" GET, "200,200", OPEN),
    C("POST without a length", P "\r\n", "200", OPEN),
    C("GET with a body", G CL("5") "\r\n\"abc\"" GET, "200,200", OPEN),
    C("PATCH with length 0", "PATCH /echo HTTP/1.1\r\n" HOST CL("0") "\r\n", "200", OPEN),
    C("lower-case method", "get /echo HTTP/1.1\r\n" HOST "\r\n", "200", OPEN),
    C("unknown method", "FOO /echo HTTP/1.1\r\n" HOST "\r\n", "200", OPEN),
    C("absolute-form", "GET http://localhost/echo HTTP/1.1\r\n" HOST "\r\n", "200", OPEN),
    C("leading empty lines", "\r\n\r\n" GET, "200", OPEN),
    C("HTTP/1.0", "GET /echo HTTP/1.0\r\n" HOST "\r\n", "200", SHUT),
    C("HTTP/1.0 without Host", "GET /echo HTTP/1.0\r\n\r\n", "200", SHUT),
    C("HTTP/1.0 keep-alive", "GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "200", OPEN),
    C("HTTP/1.9 counts as 1.1", "GET /echo HTTP/1.9\r\n" HOST "\r\n", "200", OPEN),
    C("repeated ordinary field", G "X-A: 1\r\nX-A: 2\r\n\r\n", "200", OPEN),
    C("empty value", G "X-A:\r\n\r\n", "200", OPEN),
    C("obs-text in a value", G "X-A: \xc3\xa4\r\n\r\n", "200", OPEN),
    C("Connection: close", G "Connection: close\r\n\r\n" GET, "200", SHUT),
    C("Connection: a, Close", G "Connection: a, Close\r\n\r\n" GET, "200", SHUT),
    /* Content-Length */
    C("twice, equal", P CL("5") CL("5") "\r\n\"abc\"" GET, "400", SHUT),
    C("twice, 5 and 10", P CL("5") CL("10") "\r\n\"abc\"" GET, "400", SHUT),
    C("twice, 10 and 5", P CL("10") CL("5") "\r\n\"abc\"" GET, "400", SHUT),
    C("a list", P CL("5, 5") "\r\n\"abc\"" GET, "400", SHUT),
    C("+5", P CL("+5") "\r\n\"abc\"" GET, "400", SHUT),
    C("-1", P CL("-1") "\r\n\"abc\"" GET, "400", SHUT),
    C("0x5", P CL("0x5") "\r\n\"abc\"" GET, "400", SHUT),
    C("5abc", P CL("5abc") "\r\n\"abc\"" GET, "400", SHUT),
    C("5 5", P CL("5 5") "\r\n\"abc\"" GET, "400", SHUT),
    C("empty length", P "Content-Length:\r\n\r\n" GET, "400", SHUT),
    C("2^64+5", P CL("18446744073709551621") "\r\n\"abc\"" GET, "413", SHUT),
    C("above the limit, no body sent", P CL("200000") "\r\n", "413", SHUT),
    C("above the limit by one", P CL("102401") "\r\n", "413", SHUT),
    /* Transfer-Encoding */
    C("chunked", P TE("chunked") "\r\n" ABC GET, "200,200", OPEN),
    C("Chunked", P TE("Chunked") "\r\n" ABC GET, "200,200", OPEN),
    C("chunk extension", P TE("chunked") "\r\n5;ext=1\r\n\"abc\"\r\n0\r\n\r\n" GET, "200,200", OPEN),
    C("trailers are dropped",
      P TE("chunked") "\r\n5\r\n\"abc\"\r\n0\r\nContent-Length: 50\r\nAuthorization: x\r\n\r\n" GET, "200,200", OPEN),
    C("with Content-Length", P CL("5") TE("chunked") "\r\n" ABC GET, "400", SHUT),
    C("with Content-Length 6", P CL("6") TE("chunked") "\r\n0\r\n\r\nX" GET, "400", SHUT),
    C("with Content-Length after it", P TE("chunked") CL("6") "\r\n0\r\n\r\nX" GET, "400", SHUT),
    C("xchunked", P TE("xchunked") "\r\n" ABC GET, "400", SHUT),
    C("chunked, identity", P TE("chunked, identity") "\r\n" ABC GET, "400", SHUT),
    C("chunked, chunked", P TE("chunked, chunked") "\r\n" ABC GET, "400", SHUT),
    C("gzip, chunked", P TE("gzip, chunked") "\r\n" ABC GET, "501", SHUT),
    C("identity", P TE("identity") "\r\n" ABC GET, "400", SHUT),
    C("empty coding", P "Transfer-Encoding:\r\n\r\n" ABC GET, "400", SHUT),
    C("two fields", P TE("chunked") TE("identity") "\r\n" ABC GET, "400", SHUT),
    C("two chunked fields", P TE("chunked") TE("chunked") "\r\n" ABC GET, "400", SHUT),
    C("space before the colon", P "Transfer-Encoding : chunked\r\n" CL("5") "\r\n\"abc\"" GET, "400", SHUT),
    C("vertical tab before the value",
      P TE("\x0b"
           "chunked") CL("5") "\r\n\"abc\"" GET,
      "400", SHUT),
    C("HTTP/1.0 and chunked", "POST /echo HTTP/1.0\r\n" HOST "Connection: keep-alive\r\n" TE("chunked") "\r\n" ABC,
      "400", SHUT),
    C("chunk size +5", P TE("chunked") "\r\n+5\r\n\"abc\"\r\n0\r\n\r\n" GET, "400", SHUT),
    C("chunk size 0x5", P TE("chunked") "\r\n0x5\r\n\"abc\"\r\n0\r\n\r\n" GET, "400", SHUT),
    C("chunk size missing", P TE("chunked") "\r\n\r\n\"abc\"\r\n0\r\n\r\n" GET, "400", SHUT),
    C("chunk size 2^64+5", P TE("chunked") "\r\n10000000000000005\r\n\"abc\"\r\n0\r\n\r\n" GET, "400", SHUT),
    C("chunk size above the limit", P TE("chunked") "\r\n19001\r\n", "413", SHUT),
    C("chunks with bare LF", P TE("chunked") "\r\n5\n\"abc\"\n0\n\n" GET, "400", SHUT),
    C("bare LF in an extension", P TE("chunked") "\r\n5;a\nb\r\n\"abc\"\r\n0\r\n\r\n" GET, "400", SHUT),
    C("chunk data without CRLF", P TE("chunked") "\r\n5\r\n\"abc\"XX0\r\n\r\n" GET, "400", SHUT),
    /* lines and characters */
    C("folded line", G "X-A: b\r\n  folded\r\n\r\n", "400", SHUT),
    C("folded Transfer-Encoding", P "Transfer-Encoding:\r\n chunked\r\n" CL("5") "\r\n\"abc\"" GET, "400", SHUT),
    C("bare LF everywhere", "GET /echo HTTP/1.1\nHost: localhost\n\n", "400", SHUT),
    C("bare LF in one field", G "X-A: b\nX-B: c\r\n\r\n", "400", SHUT),
    C("bare LF before the request", "\n" GET, "400", SHUT),
    C("bare CR in a value", G "X-A: b\rX-B: c\r\n\r\n", "400", SHUT),
    C("NUL in a value", G "X-A: b\0c\r\n\r\n", "400", SHUT),
    C("NUL in a name", G "X-\0A: b\r\n\r\n", "400", SHUT),
    C("NUL in Authorization", G "Authorization: Bearer x\0garbage\r\n\r\n", "400", SHUT),
    C("NUL in the target", "GET /echo\0y HTTP/1.1\r\n" HOST "\r\n", "400", SHUT),
    C("control character in a value",
      G "X-A: b\x01"
        "c\r\n\r\n",
      "400", SHUT),
    C("DEL in a value",
      G "X-A: b\x7f"
        "c\r\n\r\n",
      "400", SHUT),
    C("no colon", G "JunkLine\r\n\r\n", "400", SHUT),
    C("empty name", G ": v\r\n\r\n", "400", SHUT),
    C("space before the first field", "GET /echo HTTP/1.1\r\n " HOST "\r\n", "400", SHUT),
    C("fragment in the target", "GET /echo#x HTTP/1.1\r\n" HOST "\r\n", "400", SHUT),
    C("relative target", "GET echo HTTP/1.1\r\n" HOST "\r\n", "400", SHUT),
    C("two spaces", "GET  /echo HTTP/1.1\r\n" HOST "\r\n", "400", SHUT),
    C("space at the line's end", "GET /echo HTTP/1.1 \r\n" HOST "\r\n", "400", SHUT),
    C("no Host", "GET /echo HTTP/1.1\r\n\r\n", "400", SHUT),
    C("two Hosts", G "Host: other\r\n\r\n", "400", SHUT),
    C("Host with a path", "GET /echo HTTP/1.1\r\nHost: a/b\r\n\r\n", "400", SHUT),
    /* versions */
    C("HTTP/2.0", "GET /echo HTTP/2.0\r\n" HOST "\r\n", "505", SHUT),
    C("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505", SHUT),
    C("HTTP/11.1", "GET /echo HTTP/11.1\r\n" HOST "\r\n", "400", SHUT),
    C("http/1.1", "GET /echo http/1.1\r\n" HOST "\r\n", "400", SHUT),
    C("HTTP/0.9", "GET /echo\r\n", "400", SHUT),
    C("TLS greeting", "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03", "400", SHUT),
    /* Expect */
    C("Expect: 100-continue, body later", P "Expect: 100-continue\r\n" CL("5") "\r\n", "100", OPEN),
    C("Expect: 100-continue, too large", P "Expect: 100-continue\r\n" CL("200000") "\r\n", "413", SHUT),
    C("Expect: 100-continue, no body", G "Expect: 100-continue\r\n\r\n", "200", OPEN),
    C("Expect: something else", P "Expect: bogus\r\n" CL("5") "\r\n\"abc\"", "417", SHUT),
    C("Expect ignored in HTTP/1.0", "POST /echo HTTP/1.0\r\nExpect: x\r\n" CL("1") "\r\na", "200", SHUT),
#undef C
};

/* Proves that a connection is still open: the missing body, then a request with a unique answer. */
static void check_open(struct client *c, struct answer *a, const char *name)
{
    size_t count = a->count;
    if (a->statuses[0] == 100) {
        expect(c, a, STR("hello"), 200, "hello");
        count++;
    }
    client_send(c, STR("GET /sentinel HTTP/1.1\r\nHost: a\r\n\r\n"));
    if (!answer_next(a, c) || a->statuses[count] != 404 || !str_eq(a->body, STR("/sentinel")))
        fail_msg("%s: the connection should have stayed open, in step", name);
}

static void run_case(const struct rig *g, bool tls, const char *name, struct str bytes, const char *statuses, bool open)
{
    struct client c = client_open(g, tls);
    struct answer a = {0};
    char text[128];
    size_t expected = 1;
    for (const char *p = statuses; *p; p++)
        expected += *p == ',';
    client_send(&c, bytes);
    if (open)
        while (a.count < expected && answer_next(&a, &c))
            ;
    else
        answer_rest(&a, &c);
    if (strcmp(answer_text(&a, text), statuses) != 0)
        fail_msg("%s%s: answered %s, not %s", name, tls ? " (TLS)" : "", text, statuses);
    if (open)
        check_open(&c, &a, name);
    answer_done(&a);
    client_close(&c);
}

static void run_table(bool tls)
{
    struct rig g;
    rig_init(&g);
    rig_start(&g);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_case(&g, tls, cases[i].name, cases[i].bytes, cases[i].statuses, cases[i].open);
    rig_done(&g);
}

static void ambiguous_framing_is_refused_and_legal_framing_answered(void **state)
{
    (void)state;
    run_table(false);
}

static void tls_gives_the_same_answers(void **state)
{
    (void)state;
    run_table(true);
}

/* head, n times a unit, tail */
static struct str repeated(struct buf *b, const char *head, const char *unit, size_t n, const char *tail)
{
    *b = BUF(1u << 20);
    buf_str(b, str_z(head));
    for (size_t i = 0; i < n; i++)
        buf_str(b, str_z(unit));
    buf_str(b, str_z(tail));
    return buf_view(b);
}

static void each_size_limit_has_its_own_status(void **state)
{
    static const struct {
        const char *name, *head, *unit;
        size_t n;
        const char *tail, *statuses;
        bool open;
    } large[] = {
        {"long request line", "GET /echo?", "q", 20000, " HTTP/1.1\r\n" HOST "\r\n", "414", SHUT},
        {"endless request line", "GET /", "q", 16379, "", "414", SHUT},
        {"long field", G "X-Big: ", "q", 20000, "\r\n\r\n", "431", SHUT},
        {"many fields, 12 KB", G, "X-A: abcd\r\n", 1000, "\r\n", "431", SHUT},
        {"101 fields", G, "X-A: abcd\r\n", 100, "\r\n", "431", SHUT},
        {"100 fields", G, "X-A: abcd\r\n", 99, "\r\n", "200", OPEN},
        {"a head of almost 16 KB", G "X-Big: ", "q", 16000, "\r\n\r\n", "200", OPEN},
        {"chunked after a head of almost 16 KB", P TE("chunked") "X-Big: ", "q", 16000, "\r\n\r\n" ABC GET, "200,200",
         OPEN},
        {"chunked after a head that fills the small buffer", P TE("chunked") "X-Big: ", "q", 3900, "\r\n\r\n" ABC GET,
         "200,200", OPEN},
        {"the largest body", P CL("102400") "\r\n", "x", 102400, GET, "200,200", OPEN},
        {"a body that fills the small buffer", P CL("4000") "\r\n", "x", 4000, GET, "200,200", OPEN},
        {"too large a body, sent all the same", P CL("200000") "\r\n", "x", 200000, GET, "413", SHUT},
        {"the largest chunked body", P TE("chunked") "\r\n", "20\r\n0123456789abcdef0123456789abcdef\r\n", 3200,
         "0\r\n\r\n" GET, "200,200", OPEN},
        {"one-byte chunks", P TE("chunked") "\r\n", "1\r\nx\r\n", 20000, "0\r\n\r\n" GET, "200,200", OPEN},
        {"chunks that grow too large", P TE("chunked") "\r\n", "10\r\n0123456789abcdef\r\n", 6401, "0\r\n\r\n" GET,
         "413", SHUT},
        {"endless chunk extension", P TE("chunked") "\r\n5;", "x", 20000, "\r\n\"abc\"\r\n0\r\n\r\n" GET, "400", SHUT},
        {"endless trailers", P TE("chunked") "\r\n0\r\n", "X-A: abcd\r\n", 5000, "\r\n" GET, "400", SHUT},
        {"many empty lines", "", "\r\n", 20000, GET, "200", OPEN},
    };
    struct rig g;
    (void)state;
    rig_init(&g);
    rig_start(&g);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        for (int tls = 0; tls < 2; tls++) {
            struct buf b;
            struct str bytes = repeated(&b, large[i].head, large[i].unit, large[i].n, large[i].tail);
            run_case(&g, tls, large[i].name, bytes, large[i].statuses, large[i].open);
            buf_done(&b);
        }
    }
    rig_done(&g);
}

/* The result must not depend on how the bytes are divided into segments. */
static void the_answers_do_not_depend_on_how_bytes_arrive(void **state)
{
    struct rig g;
    (void)state;
    rig_init(&g);
    rig_start(&g);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!cases[i].open)
            continue; /* a refusal may arrive before the last byte was sent */
        struct client c = client_open(&g, i % 2);
        struct answer a = {0};
        for (size_t at = 0; at < cases[i].bytes.n; at++)
            client_send(&c, str_n(cases[i].bytes.p + at, 1));
        while (a.count < (strlen(cases[i].statuses) + 1) / 4)
            assert_true(answer_next(&a, &c));
        char text[128];
        assert_string_equal(answer_text(&a, text), cases[i].statuses);
        check_open(&c, &a, cases[i].name);
        answer_done(&a);
        client_close(&c);
    }
    rig_done(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ambiguous_framing_is_refused_and_legal_framing_answered),
        cmocka_unit_test(tls_gives_the_same_answers),
        cmocka_unit_test(each_size_limit_has_its_own_status),
        cmocka_unit_test(the_answers_do_not_depend_on_how_bytes_arrive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
