/* Writes the manual pages and the shells' completions into a directory: documents DIRECTORY. Makes the OpenAPI
 * documents, too, so that damage to one fails the build. Runs while the program is built and is not installed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command_list.h"
#include "cli/completion.h"
#include "cli/manual.h"
#include "sandbox/routes.h"

static FILE *create(const char *directory, const char *below, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, below);
    mkdir(directory, 0777);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s", directory, below, name);
    FILE *file = fopen(path, "we");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void done(FILE *file)
{
    if (fclose(file) != 0) {
        perror("documents");
        exit(1);
    }
}

static void write_pages(const char *directory)
{
    FILE *file = create(directory, "man1", "portero.1");
    manual_program(file);
    done(file);
    file = create(directory, "man5", "portero.conf.5");
    manual_configuration(file);
    done(file);
    const struct command *c;
    for (size_t i = 0; (c = command_at(i)); i++) {
        char name[64];
        snprintf(name, sizeof name, "portero-%s.1", c->name);
        file = create(directory, "man1", name);
        manual_command(c, file);
        done(file);
    }
}

static void write_completions(const char *directory)
{
    static const struct {
        const char *below, *name;
        void (*put)(FILE *);
    } all[] = {
        {"bash", "portero", completion_bash},
        {"zsh", "_portero", completion_zsh},
        {"fish", "portero.fish", completion_fish},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        FILE *file = create(directory, all[i].below, all[i].name);
        all[i].put(file);
        done(file);
    }
}

static void check_openapi(void)
{
    const struct openapi *const all[] = {&openapi_contract, &openapi_sandbox, &openapi_site};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        json_t *document = openapi_build(all[i], NULL);
        if (!document) {
            fprintf(stderr, "documents: the OpenAPI document of %s cannot be made\n", all[i]->title);
            exit(1);
        }
        json_decref(document);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: documents DIRECTORY\n", stderr);
        return 2;
    }
    check_openapi();
    write_pages(argv[1]);
    write_completions(argv[1]);
    return 0;
}
