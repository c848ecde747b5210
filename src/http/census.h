/* How many connections there are, in all and from each address (net_address_block). Any thread. */
#pragma once
#include "net/address.h"

struct http_census;

struct http_census *http_census_new(unsigned most, unsigned most_per_address);
void http_census_free(struct http_census *c);

enum http_admission { HTTP_ADMITTED, HTTP_FULL, HTTP_ADDRESS_FULL };
/* Counts a new connection in; exempt: not by address. What was admitted must leave with the same arguments. */
enum http_admission http_census_enter(struct http_census *c, const struct net_address *a, bool exempt);
void http_census_leave(struct http_census *c, const struct net_address *a, bool exempt);
