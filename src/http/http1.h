/* HTTP/1.1 on one connection: reads requests one after the other and passes them to the handler. */
#pragma once
#include "http/conn.h"

extern const struct http_protocol http1_protocol;
