# Holds a listening socket, as systemd does with a .socket unit, and runs the command in argv with it as descriptor 3, named
# by the first argument; runs it again when it has ended after SIGUSR1. SIGTERM ends both. Prints the port to standard error.
use strict;
use POSIX ();
use Socket;

my $name = shift @ARGV;
$^F = 3; # not closed at exec
socket(my $socket, AF_INET, SOCK_STREAM, 0) or die "socket: $!";
bind($socket, sockaddr_in(0, INADDR_LOOPBACK)) && listen($socket, 1024) or die "listen: $!";
POSIX::dup2(fileno($socket), 3) if fileno($socket) != 3;
print STDERR "holder: port ", (sockaddr_in(getsockname($socket)))[0], "\n";

my ($pid, $restart);
$SIG{USR1} = sub { $restart = 1; kill TERM => $pid };
$SIG{TERM} = sub { $restart = 0; kill TERM => $pid };
do {
    $restart = 0;
    $pid = fork() // die "fork: $!";
    if (!$pid) {
        @SIG{qw(USR1 TERM)} = ('DEFAULT') x 2;
        @ENV{qw(LISTEN_PID LISTEN_FDS LISTEN_FDNAMES)} = ($$, 1, $name);
        exec @ARGV or die "exec: $!";
    }
    1 while waitpid($pid, 0) < 0;
} while ($restart);
exit($? >> 8);
