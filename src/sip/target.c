#include "sip/target.h"

static void header_destructor(void *arg)
{
    struct sip_hdr *h = arg;
    list_unlink(&h->le);
    hash_unlink(&h->he);
}

/* A Contact with this user at the source of the message. The text is part of the header's memory. */
static struct sip_hdr *new_contact(const struct sip_msg *msg, const struct pl *user)
{
    static const char format[] = "<sip:%r%s%J%s>";
    const char *at = pl_isset(user) ? "@" : "";
    size_t size = user->l + 100; /* address, port and transport are shorter */
    struct sip_hdr *h = mem_zalloc(sizeof *h + size, header_destructor);
    if (!h)
        return NULL;
    char *text = (char *)(h + 1);
    int n = re_snprintf(text, size, format, user, at, &msg->src, sip_transp_param(msg->tp));
    if (n < 0)
        return mem_deref(h);
    h->id = SIP_HDR_CONTACT;
    pl_set_str(&h->name, "Contact");
    h->val = (struct pl){text, (size_t)n};
    return h;
}

static bool came_from(const struct sip_msg *msg, const struct uri *contact)
{
    struct sa at;
    return msg->tp == SIP_TRANSP_UDP && !pl_strcasecmp(&contact->scheme, "sip") && !sa_set(&at, &contact->host, 0) &&
           sa_cmp(&at, &msg->src, SA_ADDR);
}

void sip_target_forget(const struct sip_msg *msg)
{
    struct sip_hdr *old;
    while ((old = (struct sip_hdr *)sip_msg_hdr(msg, SIP_HDR_CONTACT))) {
        hash_unlink(&old->he);
        mem_deref(old);
    }
}

/* Makes `h` the Contact that the stack finds. The list of the message keeps the received one. */
static void set_contact(const struct sip_msg *msg, struct sip_hdr *h)
{
    sip_target_forget(msg);
    hash_append(msg->hdrht, SIP_HDR_CONTACT, &h->he, h);
}

void sip_target_fix(const struct sip_msg *invite, const struct sip_msg *msg)
{
    const struct sip_hdr *contact = sip_msg_hdr(msg, SIP_HDR_CONTACT);
    struct sip_addr addr;
    if (!contact || sip_msg_hdr(invite, SIP_HDR_RECORD_ROUTE) || sip_addr_decode(&addr, &contact->val))
        return;
    if (came_from(msg, &addr.uri))
        return;
    struct sip_hdr *h = new_contact(msg, &addr.uri.user);
    if (h)
        set_contact(msg, h);
}

static struct sip_hdr *received_contact(const struct sip_msg *msg)
{
    for (struct le *le = msg->hdrl.head; le; le = le->next) {
        struct sip_hdr *h = le->data;
        if (h->id == SIP_HDR_CONTACT)
            return h;
    }
    return NULL;
}

void sip_target_retry(struct sip_dialog *dialog, const struct sip_msg *request)
{
    struct sip_hdr *received = received_contact(request);
    if (request->tp == SIP_TRANSP_UDP || sip_msg_tcpconn(request) || !received || received->he.list)
        return;
    set_contact(request, mem_ref(received));
    (void)sip_dialog_update(dialog, request);
}
