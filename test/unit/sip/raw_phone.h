/* Telephones behind a SIP trunk for tests: answers the INVITEs of the service by hand, over UDP on loopback. All
 * phones of a trunk share its address; the user part of the request's URI tells them apart. */
#pragma once
#include "media/raw_sip.h"

struct raw_trunk {
    int sip, port, rtp, rtp_port;
    struct sockaddr_in service;
    char request[RAW_MESSAGE_MAX]; /* the last one */
    char branch[200];              /* of the last INVITE, which may be repeated */
};

/* One call to a phone: its INVITE. */
struct raw_phone {
    char invite[8192];
    unsigned cseq; /* of our requests */
};

static inline void trunk_open(struct raw_trunk *t)
{
    *t = (struct raw_trunk){0};
    t->sip = raw_socket(&t->port);
    t->rtp = raw_socket(&t->rtp_port);
}

static inline void trunk_close(struct raw_trunk *t)
{
    close(t->sip);
    close(t->rtp);
}

/* The line of the header, without its end; "" if the message has none. */
static inline const char *raw_header(const char *message, const char *name)
{
    static char lines[8][1024];
    static unsigned next;
    char *line = lines[next++ % 8], start[64];
    (void)snprintf(start, sizeof start, "\r\n%s: ", name);
    const char *at = strstr(message, start);
    const char *end = at ? strstr(at + 2, "\r\n") : NULL;
    (void)snprintf(line, sizeof lines[0], "%.*s", end ? (int)(end - at - 2) : 0, end ? at + 2 : "");
    return line;
}

static inline const char *raw_value(const char *message, const char *name)
{
    const char *line = raw_header(message, name);
    return *line ? line + strlen(name) + 2 : "";
}

/* Sends the head, and a body if it is not "". */
static inline void trunk_send(struct raw_trunk *t, const char *head, const char *body)
{
    char text[RAW_MESSAGE_MAX];
    int n = snprintf(text, sizeof text, "%s%sContent-Length: %zu\r\n\r\n%s", head,
                     *body ? "Content-Type: application/sdp\r\n" : "", strlen(body), body);
    if (sendto(t->sip, text, (size_t)n, 0, (struct sockaddr *)&t->service, sizeof t->service) < 0)
        abort();
}

static inline void trunk_respond(struct raw_trunk *t, const char *request, int status, const char *headers,
                                 const char *body)
{
    char head[8192];
    const bool tagged = strstr(raw_value(request, "To"), "tag=") != NULL;
    (void)snprintf(head, sizeof head,
                   "SIP/2.0 %d Status\r\n%s\r\n%s\r\n%s%s\r\n%s\r\n%s\r\nContact: <sip:phone@127.0.0.1:%d>\r\n%s",
                   status, raw_header(request, "Via"), raw_header(request, "From"), raw_header(request, "To"),
                   tagged ? "" : ";tag=phone", raw_header(request, "Call-ID"), raw_header(request, "CSeq"), t->port,
                   headers);
    trunk_send(t, head, body);
}

/* The next message within wait_ms: true if it is this request, or the response with this status ("200"). Answers
 * OPTIONS, and skips other messages: repeated INVITEs, ACKs and responses. */
static inline bool trunk_receive(struct raw_trunk *t, const char *what, int wait_ms)
{
    struct pollfd p = {.fd = t->sip, .events = POLLIN};
    char status[32];
    (void)snprintf(status, sizeof status, "SIP/2.0 %s ", what);
    while (poll(&p, 1, wait_ms) > 0) {
        socklen_t n = sizeof t->service;
        ssize_t got = recvfrom(t->sip, t->request, sizeof t->request - 1, 0, (struct sockaddr *)&t->service, &n);
        t->request[got > 0 ? got : 0] = '\0';
        if (strncmp(t->request, "OPTIONS ", 8) == 0)
            trunk_respond(t, t->request, 200, "", "");
        const bool wanted = (strncmp(t->request, what, strlen(what)) == 0 && t->request[strlen(what)] == ' ') ||
                            strncmp(t->request, status, strlen(status)) == 0;
        const bool invite = strncmp(t->request, "INVITE ", 7) == 0;
        const bool repeated = invite && strcmp(t->branch, raw_value(t->request, "Via")) == 0;
        if (invite)
            (void)snprintf(t->branch, sizeof t->branch, "%s", raw_value(t->request, "Via"));
        if (wanted && !repeated)
            return true;
    }
    return false;
}

/* Waits for a call to this number. */
static inline bool phone_called(struct raw_trunk *t, struct raw_phone *p, const char *number)
{
    char start[64];
    if (!trunk_receive(t, "INVITE", RAW_PATIENCE_MS))
        return false;
    *p = (struct raw_phone){.cseq = 1};
    (void)snprintf(p->invite, sizeof p->invite, "%.8000s", t->request);
    (void)snprintf(start, sizeof start, "INVITE sip:%s@", number);
    return strncmp(p->invite, start, strlen(start)) == 0;
}

/* SDP with one format, 0 or 8, and events as type 97. */
static inline const char *phone_sdp(const struct raw_trunk *t, int format, const char *direction)
{
    static char text[512];
    (void)snprintf(text, sizeof text,
                   "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
                   "m=audio %d RTP/AVP %d 97\r\na=rtpmap:97 telephone-event/8000\r\na=%s\r\n",
                   t->rtp_port, format, direction);
    return text;
}

static inline void phone_answers(struct raw_trunk *t, const struct raw_phone *p)
{
    trunk_respond(t, p->invite, 200, "", phone_sdp(t, 0, "sendrecv"));
}

/* Sends a request of the phone within its call. */
static inline void phone_requests(struct raw_trunk *t, struct raw_phone *p, const char *method, const char *body)
{
    char head[8192];
    const unsigned cseq = strcmp(method, "ACK") == 0 ? p->cseq - 1 : p->cseq++;
    (void)snprintf(head, sizeof head,
                   "%s sip:portero@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:%d;branch=z9hG4bK%s%u;rport\r\n"
                   "From: %s;tag=phone\r\nTo: %s\r\n%s\r\nCSeq: %u %s\r\nMax-Forwards: 70\r\n"
                   "Contact: <sip:phone@127.0.0.1:%d>\r\n",
                   method, t->port, method, cseq, raw_value(p->invite, "To"), raw_value(p->invite, "From"),
                   raw_header(p->invite, "Call-ID"), cseq, method, t->port);
    trunk_send(t, head, body);
}

/* The port of the service's RTP in the phone's call. */
static inline int phone_media_port(const struct raw_phone *p)
{
    return atoi(strstr(p->invite, "m=audio ") + 8);
}

/* Sends a packet of a stream. */
static inline void raw_rtp(int fd, int port, unsigned sequence, uint8_t type, const uint8_t payload[static 160])
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    at.sin_port = htons((uint16_t)port);
    const uint32_t timestamp = sequence * 160;
    uint8_t packet[172] = {0x80,
                           type,
                           (uint8_t)(sequence >> 8),
                           (uint8_t)sequence,
                           (uint8_t)(timestamp >> 24),
                           (uint8_t)(timestamp >> 16),
                           (uint8_t)(timestamp >> 8),
                           (uint8_t)timestamp,
                           1,
                           2,
                           3,
                           4};
    memcpy(packet + 12, payload, 160);
    if (sendto(fd, packet, sizeof packet, 0, (struct sockaddr *)&at, sizeof at) < 0)
        abort();
}

/* The same with audio whose bytes are all `byte`. */
static inline void raw_audio(int fd, int port, unsigned sequence, uint8_t type, uint8_t byte)
{
    uint8_t payload[160];
    memset(payload, byte, sizeof payload);
    raw_rtp(fd, port, sequence, type, payload);
}

/* Whether a packet of this type with 160 times this byte arrives within wait_ms. */
static inline bool raw_hears(int fd, uint8_t type, uint8_t byte, int wait_ms)
{
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int left = wait_ms; left > 0;) {
        uint8_t packet[2048];
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, left) > 0 && recv(fd, packet, sizeof packet, 0) == 172 && (packet[1] & 0x7f) == type &&
            packet[12] == byte && memcmp(packet + 12, packet + 13, 159) == 0)
            return true;
        clock_gettime(CLOCK_MONOTONIC, &now);
        left = wait_ms - (int)((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000);
    }
    return false;
}

/* Whether a packet arrives whose samples are not all the same, as they are in silence. */
static inline bool raw_hears_tone(int fd)
{
    unsigned char packet[2048];
    struct pollfd waits = {.fd = fd, .events = POLLIN};
    for (int i = 0; i < RAW_PATIENCE_MS / 20 && poll(&waits, 1, RAW_PATIENCE_MS) > 0; i++) {
        const ssize_t n = recv(fd, packet, sizeof packet, 0);
        if (n == 12 + 160 && memcmp(packet + 12, packet + 13, 160 - 1) != 0)
            return true;
    }
    return false;
}

/* The first key that arrives as events of this type within wait_ms, or 0. */
static inline char raw_heard_key(int fd, uint8_t type, int wait_ms)
{
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int left = wait_ms; left > 0;) {
        uint8_t packet[2048];
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, left) > 0 && recv(fd, packet, sizeof packet, 0) == 16 && (packet[1] & 0x7f) == type &&
            packet[12] < 12)
            return "0123456789*#"[packet[12]];
        clock_gettime(CLOCK_MONOTONIC, &now);
        left = wait_ms - (int)((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000);
    }
    return 0;
}
