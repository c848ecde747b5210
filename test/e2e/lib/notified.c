/* The service manager's end of $NOTIFY_SOCKET: listens at the path in argv[1], and prints each message with a line
 * after it, "--". */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

int main(int argc, char **argv)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char text[4096];
    ssize_t n;
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (argc != 2 || fd < 0 || strlen(argv[1]) >= sizeof at.sun_path)
        return 2;
    strcpy(at.sun_path, argv[1]);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0)
        return 1;
    puts("--");
    fflush(stdout);
    while ((n = recv(fd, text, sizeof text, 0)) >= 0) {
        printf("%.*s%s--\n", (int)n, text, n && text[n - 1] == '\n' ? "" : "\n");
        fflush(stdout);
    }
    return 0;
}
