/* The forms of texts in several bodies, for struct field (base/schema.h): a pattern, and the same in words. */
#pragma once

#define FORM(regex, words) .pattern = (regex), .form = (words)

#define PHONE_PATTERN  "^\\+[1-9][0-9]{6,14}$"
#define NUMBER_PATTERN "^(\\+[1-9][0-9]{6,14}|[0-9]{2,15})$" /* of the pool: E.164, or an extension of a PBX */

#define PHONE_FORM FORM(PHONE_PATTERN, "an international phone number, such as +12125550123")
#define NUMBER_FORM                                                                                                    \
    FORM(NUMBER_PATTERN, "an international phone number, such as +12125550123, or an extension of 2 to 15 digits")
#define CALLER_FORM      FORM("^[+]?[0-9]{2,15}$", "2 to 15 digits, with or without +")
#define CODE_FORM        FORM("^([02-9]|[0-9]{2,4})$", "one to four digits, and not 1 alone")
#define TONE_FORM        FORM("^[0-9#*]{1,3}$", "one to three of the keys 0 to 9, * and #")
#define TIME_OF_DAY_FORM FORM("^([01][0-9]|2[0-3]):[0-5][0-9]$", "a time from 00:00 to 23:59, such as 08:30")
#define SIX_DIGITS_FORM  FORM("^[0-9]{6}$", "six digits")
