/* The commands of the two programs, and the rows that become commands of the interface. */
#include "cli/program.h"
#include "client/operation.h"
#include "client/program.h"
#include "resources/routes.h"

#include "base/unit.h"

static const struct command *both(size_t i)
{
    size_t clients = 0;
    while (client_program.at(clients))
        clients++;
    return i < clients ? client_program.at(i) : service_program.at(i - clients);
}

/* The i-th command of both programs, verbs included; NULL after the last. */
static const struct command *any(size_t i)
{
    const struct command *c;
    for (size_t j = 0; (c = both(j)); j++) {
        if (i-- == 0)
            return c;
        for (size_t k = 0; c->verb && c->verb(c, k); k++)
            if (i-- == 0)
                return c->verb(c, k);
    }
    return NULL;
}

static void no_two_commands_have_a_name(void **state)
{
    (void)state;
    for (size_t i = 0; any(i); i++)
        for (size_t j = i + 1; any(j); j++)
            assert_string_not_equal(any(i)->name, any(j)->name);
}

static void no_two_options_of_a_command_have_a_name(void **state)
{
    const struct command *c;
    (void)state;
    for (size_t n = 0; (c = any(n)); n++)
        for (size_t i = 0; i < c->option_count; i++)
            for (size_t j = i + 1; j < c->option_count; j++) {
                assert_string_not_equal(c->options[i].name, c->options[j].name);
                if (c->options[i].also)
                    assert_string_not_equal(c->options[i].also, c->options[j].name);
            }
}

static void every_operation_has_a_command(void **state)
{
    size_t count = 0;
    const struct command *c;
    (void)state;
    for (size_t i = 0; (c = any(i)); i++)
        count += c->run == operation_command_run;
    for (size_t i = 0; i < openapi_contract.set_count; i++)
        for (size_t j = 0; j < openapi_contract.sets[i]->count; j++)
            count -= !(openapi_contract.sets[i]->rows[j].flags & ROUTE_PAGE);
    assert_int_equal(count, 0);
}

/* CLI-28 */
static void the_client_knows_the_names_of_the_services_commands(void **state)
{
    size_t i;
    (void)state;
    for (i = 0; client_program.others[i]; i++)
        assert_string_equal(client_program.others[i], service_program.at(i)->name);
    assert_null(service_program.at(i));
    assert_null(service_program.others[0]);
}

static const struct route *route_of(const char *id)
{
    for (size_t i = 0; i < openapi_contract.set_count; i++)
        for (size_t j = 0; j < openapi_contract.sets[i]->count; j++)
            if (!strcmp(openapi_contract.sets[i]->rows[j].operation_id, id))
                return &openapi_contract.sets[i]->rows[j];
    fail_msg("no operation %s", id);
    return NULL;
}

static void assert_same_text(const char *a, const char *b)
{
    assert_int_equal(a != NULL, b != NULL);
    if (a && b)
        assert_string_equal(a, b);
}

static void assert_same_shape(const struct shape *ours, const struct shape *theirs)
{
    assert_int_equal(ours != NULL, theirs != NULL);
    if (!ours)
        return;
    assert_int_equal(ours->field_count, theirs->field_count);
    assert_int_equal(ours->size, theirs->size);
    for (size_t i = 0; i < ours->field_count; i++) {
        const struct field *a = &ours->fields[i], *b = &theirs->fields[i];
        assert_string_equal(a->name, b->name);
        assert_same_text(a->doc, b->doc);
        assert_same_text(a->pattern, b->pattern);
        assert_same_text(a->form, b->form);
        assert_same_text(a->format, b->format);
        assert_int_equal(a->type, b->type);
        assert_int_equal(a->flags, b->flags);
        assert_int_equal(a->offset, b->offset);
        assert_true(a->min == b->min && a->max == b->max);
        assert_int_equal(a->values != NULL, b->values != NULL);
        for (size_t j = 0; a->values && (a->values[j] || b->values[j]); j++)
            assert_string_equal(a->values[j], b->values[j]);
        assert_same_shape(a->sub, b->sub);
    }
    assert_int_equal(ours->variants != NULL, theirs->variants != NULL);
    for (size_t i = 0; ours->variants && (ours->variants[i] || theirs->variants[i]); i++)
        assert_same_shape(ours->variants[i], theirs->variants[i]);
}

/* The client's rows are written as text while it is built. */
static void the_clients_rows_agree_with_the_routes(void **state)
{
    (void)state;
    for (const struct operation_row *row = operation_rows; row->id; row++) {
        const struct route *r = route_of(row->id);
        assert_string_equal(row->path, r->path);
        assert_string_equal(row->summary, r->doc.summary);
        assert_same_text(row->media, r->media);
        assert_same_shape(row->query, r->query);
        assert_same_shape(row->body, r->body);
        assert_int_equal(row->body_optional, r->body_optional);
        assert_int_equal(row->building, r->building == BUILDING_HEADER);
        assert_int_equal(row->idempotency, r->idempotency != NEED_NOT);
        assert_int_equal(row->match != OPERATION_MATCH_NONE, r->match != MATCH_NONE);
        assert_int_equal(row->json, r->reply != NULL);
        assert_int_equal(row->address, r->doc.status == 302);
        assert_int_equal(row->open, r->credential == CRED_NONE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_two_commands_have_a_name),
        cmocka_unit_test(no_two_options_of_a_command_have_a_name),
        cmocka_unit_test(every_operation_has_a_command),
        cmocka_unit_test(the_client_knows_the_names_of_the_services_commands),
        cmocka_unit_test(the_clients_rows_agree_with_the_routes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
