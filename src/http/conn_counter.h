/* Counts open connections, in all and from each address block (net_address_block), and enforces both limits. Any
 * thread. */
#pragma once
#include "net/address.h"

struct http_conn_counter;

struct http_conn_counter *http_conn_counter_new(unsigned most, unsigned most_per_address);
void http_conn_counter_free(struct http_conn_counter *c);

enum http_admission { HTTP_ADMITTED, HTTP_FULL, HTTP_ADDRESS_FULL };
/* Counts a new connection. An exempt one is not counted by address. Each admitted connection must be removed with the
 * same arguments. */
enum http_admission http_conn_counter_add(struct http_conn_counter *c, const struct net_address *a, bool exempt);
void http_conn_counter_remove(struct http_conn_counter *c, const struct net_address *a, bool exempt);
