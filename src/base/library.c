#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

#include "base/log.h"

enum err library_load(const char *soname, const char *const *names, size_t count, void *ret)
{
    void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        log_error("library not loaded: %s", dlerror());
        return ERR_NOT_FOUND;
    }
    for (size_t i = 0; i < count; i++) {
        void *symbol = dlsym(library, names[i]);
        if (!symbol) {
            log_error("library has no such symbol library=%s symbol=%s", soname, names[i]);
            return ERR_NOT_FOUND;
        }
        memcpy((char *)ret + i * sizeof symbol, &symbol, sizeof symbol);
    }
    return ERR_NONE;
}
