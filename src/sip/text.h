/* Bounds of received SIP, checked before libre reads it: its search begins at every character, so that it
 * takes time with the square of a line's length. Without them one datagram stops all calls for many seconds.
 *
 * The source file also defines libre's sip_msg_decode(), which the dynamic linker prefers to the library's: it checks
 * the message, then calls the library's. So the bounds hold for UDP, TCP and TLS, and libre itself is not changed. */
#pragma once
#include "base/str.h"

#define SIP_HEADER_MAX  4096 /* bytes of a start line, and of a header with its continuation lines */
#define SIP_CSEQ_MAX    64   /* bytes of a CSeq header */
#define SIP_HEADERS_MAX 500  /* of one message: libre reads them again with each piece that a connection brings */

enum sip_text {
    SIP_TEXT_COMPLETE, /* libre may read it: its headers are complete */
    SIP_TEXT_PART,     /* there is nothing to read yet */
    SIP_TEXT_REFUSED
};

enum sip_text sip_text_check(struct str message);
