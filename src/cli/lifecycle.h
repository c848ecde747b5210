/* How far the process is in its life: for readiness checks, the service manager and the log. */
#pragma once

enum lifecycle {
    LIFECYCLE_STARTING, /* until all listeners accept */
    LIFECYCLE_READY,
    LIFECYCLE_STOPPING /* from the first signal on; HTTPS is still served for a while */
};

/* Any thread. A process begins with LIFECYCLE_STARTING. */
enum lifecycle lifecycle_get(void);
void lifecycle_set(enum lifecycle state);
/* "starting", "ready" or "stopping". */
const char *lifecycle_name(enum lifecycle state);
