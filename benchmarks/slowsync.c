/* Adds SLOWSYNC_US microseconds to fsync and fdatasync: the latency of a network disk, made repeatable.
   Loaded with LD_PRELOAD. gcc -shared -fPIC -O2 -o slowsync.so slowsync.c -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void linger(void)
{
    const char *said = getenv("SLOWSYNC_US");
    long us = said ? atol(said) : 0;
    struct timespec pause = {us / 1000000, us % 1000000 * 1000};

    if (us > 0)
        nanosleep(&pause, NULL);
}

int fsync(int file)
{
    static int (*real)(int);

    if (!real)
        real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    int result = real(file);
    linger();
    return result;
}

int fdatasync(int file)
{
    static int (*real)(int);

    if (!real)
        real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    int result = real(file);
    linger();
    return result;
}
