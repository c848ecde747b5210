#include "documents/operation_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Names for operations whose derived name would be unclear, or is another command's. */
static const struct {
    const char *operation, *words;
} names[] = {
    {"getHealth", "service health"},
    {"getContract", "service contract"},
    {"getDocument", "service document"},
    {"getGuide", "service guide"},
    {"getSetup", "building setup"},
    {"getDecision", "building decision"},
    {"getPhone", "account phone show"},
    {"requestPhoneCode", "account phone verify"},
    {"confirmPhoneCode", "account phone confirm"},
    {"revokeOwnKey", "key revoke-own"},
    {"revokeOtherKeys", "key revoke-others"},
    {"getCallMessage", "call message"},
    {"listenToCall", "call listen"},
};

static bool is_plural_only(const char *word)
{
    return !strcmp(word, "settings");
}

/* Replaces a regular plural by its singular. */
static void to_singular(char *word)
{
    const size_t n = strlen(word);
    if (is_plural_only(word) || n < 3 || word[n - 1] != 's' || word[n - 2] == 's')
        return;
    if (!strcmp(word + n - 3, "ies"))
        word[n - 3] = 'y', word[n - 2] = '\0';
    else if (n > 4 && !strcmp(word + n - 4, "sses"))
        word[n - 2] = '\0';
    else
        word[n - 1] = '\0';
}

/* Copies the word of a camel-cased name that begins at `from`, in lower case. Returns where the next one begins. */
static const char *take_camel_word(const char *from, char *ret, size_t room)
{
    size_t n = 0;
    do {
        if (n + 1 < room)
            ret[n++] = (char)tolower((unsigned char)*from);
        from++;
    } while (*from && !isupper((unsigned char)*from));
    ret[n] = '\0';
    return from;
}

static void derive_name(const char *operation, char ret[static OPERATION_NAME_MAX])
{
    char verb[OPERATION_NAME_MAX / 2], word[OPERATION_NAME_MAX / 2];
    size_t n = 0;
    for (const char *at = take_camel_word(operation, verb, sizeof verb); *at && n < OPERATION_NAME_MAX;) {
        at = take_camel_word(at, word, sizeof word);
        to_singular(word);
        n += (size_t)snprintf(ret + n, OPERATION_NAME_MAX - n, "%s ", word);
    }
    if (n < OPERATION_NAME_MAX)
        snprintf(ret + n, OPERATION_NAME_MAX - n, "%s", strcmp(verb, "get") ? verb : "show");
}

void operation_command_name(const struct route *route, char ret[static OPERATION_NAME_MAX])
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(route->operation_id, names[i].operation)) {
            snprintf(ret, OPERATION_NAME_MAX, "%s", names[i].words);
            return;
        }
    derive_name(route->operation_id, ret);
}
