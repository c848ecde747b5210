#include "cli/served.h"

#include <assert.h>
#include <string.h>

#include "admin/routes.h"
#include "jobs/billing.h"
#include "jobs/erasure.h"
#include "jobs/label.h"
#include "jobs/mail.h"
#include "jobs/number.h"
#include "jobs/operation.h"
#include "jobs/purge.h"
#include "jobs/subscription.h"
#include "mcp/routes.h"
#include "resources/routes.h"
#include "sandbox/routes.h"
#include "site/routes.h"
#include "twiml/twiml.h"

static void add_sets(struct served *s, const struct route_set *const *sets, size_t count)
{
    assert(count <= SERVED_SETS_MAX - s->set_count);
    for (size_t i = 0; i < count; i++)
        s->sets[s->set_count++] = sets[i];
}

/* Routes that the configured providers post to. */
static void add_hooks(struct served *s, const struct config *c, const struct providers *providers)
{
    static const struct route_set *const stripe[] = {&stripe_hook_routes};
    static const struct route_set *const twilio[] = {&twiml_routes};
    if (strcmp(c->billing_provider, "stripe") == 0)
        add_sets(s, stripe, 1);
    if (providers->hook)
        add_sets(s, twilio, 1);
}

void served_choose_routes(struct served *s, const struct config *c, const struct providers *providers)
{
    static const struct route_set *const earlier[] = {&earlier_routes};
    add_sets(s, mcp_sets, mcp_set_count);
    add_sets(s, api_sets, api_set_count);
    add_sets(s, earlier, 1);
    add_sets(s, browser_sets, browser_set_count);
    add_sets(s, site_sets, site_set_count);
    add_sets(s, admin_sets, admin_set_count);
    add_hooks(s, c, providers);
    if (!c->production)
        add_sets(s, sandbox_sets, sandbox_set_count);
}

void served_choose_kinds(struct served *s, struct providers *providers)
{
    const struct job_kind kinds[] = {jobs_kind_mail(providers->mailer),
                                     jobs_kind_provision(providers->numbers),
                                     jobs_kind_numbers(),
                                     jobs_kind_release_number(providers->numbers),
                                     jobs_kind_release_all_numbers(),
                                     jobs_kind_billing_sync(providers->billing),
                                     jobs_kind_billing_reconcile(providers->billing),
                                     jobs_kind_operation(providers),
                                     jobs_kind_erasure(providers->billing),
                                     twiml_kind_expire(),
                                     twiml_kind_message(providers->twilio),
                                     twiml_kind_discard(providers->twilio),
                                     twiml_kind_talk(providers->twilio),
                                     jobs_kind_label(),
                                     jobs_kind_purge()};
    _Static_assert(sizeof kinds <= sizeof s->kinds, "SERVED_KINDS_MAX");
    memcpy(s->kinds, kinds, sizeof kinds);
    s->kind_count = sizeof kinds / sizeof *kinds;
}
