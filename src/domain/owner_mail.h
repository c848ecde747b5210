/* Mails to the owner of an account about changes that somebody else may have made, numbers that have ended, and limits
 * that somebody may use up; and to a person whom an owner invites: tbl/owner_mails.def. In the language of the notices
 * that were asked for, or of the browser; else in English.
 */
#pragma once
#include "domain/browser.h"
#include "domain/tx.h"

/* The operator gave the building `number` in place of `former`; either may be STR_NONE. Does nothing if the building,
 * or its account, is deleted. */
enum err owner_mail_number(struct tx *tx, const struct id *building, struct str number, struct str former) CHECKED;

/* The building loses its number `former` at ends_us, or has lost it, with the account's subscription; it got `number`
 * after it had lost one. All do nothing in the same cases. */
enum err owner_mail_number_ends(struct tx *tx, const struct id *building, struct str former, int64_t ends_us) CHECKED;
enum err owner_mail_number_ended(struct tx *tx, const struct id *building, struct str former) CHECKED;
enum err owner_mail_number_new(struct tx *tx, const struct id *building, struct str number) CHECKED;

/* A call to the building rings no phone, since its account has no minutes left. Does nothing if a mail told so within
 * the day. */
enum err owner_mail_minutes(struct tx *tx, const struct id *account, const struct id *building) CHECKED;

/* The building's owner made the owner of the address `to` a member, who reads `language`. Fails with
 * ERR_ACCOUNT_NOT_FOUND if the account is being deleted. */
enum err owner_mail_invitation(struct tx *tx, const struct id *building, struct str to, struct str language) CHECKED;

/* A person whom the owner invited signed in for the first time. Does nothing if the account is being deleted. */
enum err owner_mail_joined(struct tx *tx, const struct id *building, struct str name, struct str email) CHECKED;

/* A copy of all data of the account is made now, in that browser. Does nothing if a mail told of one within the hour.
 * Fails with ERR_ACCOUNT_NOT_FOUND. */
enum err owner_mail_export(struct tx *tx, const struct id *account, struct browser_names browser,
                           struct str language) CHECKED;
