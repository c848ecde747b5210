/* Ticket keys encrypt for an hour and decrypt for another hour. */
#include "http/tls_tickets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>
#include <string.h>

#include "base/clock.h"

#define MINUTE (60 * US_PER_S)

struct ticket {
    unsigned char name[16], iv[EVP_MAX_IV_LENGTH], sealed[48], mac[32];
    int sealed_n;
};

static const unsigned char text[] = "what the client keeps";

static int take(struct tls_tickets *t, int64_t now_us, struct ticket *ticket, bool seal)
{
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    EVP_MAC *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
    EVP_MAC_CTX *mac = EVP_MAC_CTX_new(hmac);
    unsigned char out[48], code[32];
    size_t code_n = 0;
    int n = 0, last = 0;
    int found = tls_tickets_key(t, now_us, ticket->name, ticket->iv, cipher, mac, seal);
    if (found > 0) {
        assert_int_equal(
            EVP_CipherUpdate(cipher, out, &n, seal ? text : ticket->sealed, seal ? (int)sizeof text : ticket->sealed_n),
            1);
        assert_int_equal(EVP_CipherFinal_ex(cipher, out + n, &last), 1);
        n += last;
        if (seal) {
            memcpy(ticket->sealed, out, (size_t)n);
            ticket->sealed_n = n;
        }
        assert_int_equal(EVP_MAC_init(mac, NULL, 0, NULL), 1);
        assert_int_equal(EVP_MAC_update(mac, ticket->sealed, (size_t)ticket->sealed_n), 1);
        assert_int_equal(EVP_MAC_final(mac, code, &code_n, sizeof code), 1);
        if (seal)
            memcpy(ticket->mac, code, sizeof code);
        else
            assert_memory_equal(out, text, sizeof text);
        assert_memory_equal(code, ticket->mac, sizeof code);
    }
    EVP_MAC_CTX_free(mac);
    EVP_MAC_free(hmac);
    EVP_CIPHER_CTX_free(cipher);
    return found;
}

/* HTTP-46 */
static void a_ticket_is_valid_for_one_to_two_hours(void **state)
{
    struct tls_tickets t;
    struct ticket first, late;
    (void)state;
    tls_tickets_init(&t);
    assert_int_equal(take(&t, MINUTE, &first, true), 1);
    assert_int_equal(take(&t, 30 * MINUTE, &first, false), 1);
    assert_int_equal(take(&t, 60 * MINUTE, &late, true), 1); /* still with the first key */
    assert_memory_equal(late.name, first.name, sizeof late.name);
    assert_int_equal(take(&t, 62 * MINUTE, &first, false), 2); /* and the client gets a new one */
    assert_int_equal(take(&t, 119 * MINUTE, &late, false), 2);
    assert_int_equal(take(&t, 122 * MINUTE, &late, false), 0);
    tls_tickets_done(&t);
}

static void the_key_is_replaced_every_hour(void **state)
{
    struct tls_tickets t;
    struct ticket before, after;
    (void)state;
    tls_tickets_init(&t);
    assert_int_equal(take(&t, 0, &before, true), 1);
    assert_int_equal(take(&t, 60 * MINUTE, &after, true), 1);
    assert_memory_not_equal(before.name, after.name, sizeof before.name);
    tls_tickets_done(&t);
}

static void a_key_is_erased_in_time_without_connections(void **state)
{
    static const struct tls_ticket_key none = {.given = false};
    struct tls_tickets t;
    struct ticket ticket;
    (void)state;
    tls_tickets_init(&t);
    assert_int_equal(take(&t, 0, &ticket, true), 1);
    struct tls_ticket_key key = t.current;
    tls_tickets_rotate(&t, 60 * MINUTE);
    assert_memory_equal(&t.previous, &key, sizeof key);
    tls_tickets_rotate(&t, 500 * MINUTE);
    assert_memory_equal(&t.previous, &none, sizeof none);
    assert_int_equal(take(&t, 500 * MINUTE, &ticket, false), 0);
    tls_tickets_done(&t);
}

static void a_ticket_of_another_server_is_not_decrypted(void **state)
{
    struct tls_tickets mine, other;
    struct ticket ticket;
    (void)state;
    tls_tickets_init(&mine);
    tls_tickets_init(&other);
    assert_int_equal(take(&other, 0, &ticket, true), 1);
    assert_int_equal(take(&mine, 0, &ticket, false), 0);
    tls_tickets_done(&mine);
    tls_tickets_done(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ticket_is_valid_for_one_to_two_hours),
        cmocka_unit_test(the_key_is_replaced_every_hour),
        cmocka_unit_test(a_key_is_erased_in_time_without_connections),
        cmocka_unit_test(a_ticket_of_another_server_is_not_decrypted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
