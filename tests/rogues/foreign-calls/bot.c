/* Makes system calls by another convention, to walk past a filter that knows one set of numbers.
 * With "x32" in the hello or in the question: by those, else by int 0x80. */

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    static char line[65536];
    long result = -1;
    int x32;

    if (!fgets(line, sizeof line, stdin))
        return 1;
    x32 = strstr(line, "x32") != NULL;
    puts("{\"type\":\"ready\"}");
    fflush(stdout);
    do {
        if (!fgets(line, sizeof line, stdin))
            return 1;
    } while (!strstr(line, "\"act\""));
#ifdef __x86_64__
    if (x32 || strstr(line, "x32")) {
        errno = 0;
        result = syscall(0x40000000 | 39); /* getpid */
        result = result < 0 ? -errno : result;
    } else {
        /* socket(AF_UNIX, SOCK_STREAM, 0) of a 32-bit program */
        __asm__ volatile("int $0x80" : "=a"(result) : "a"(359), "b"(1), "c"(1), "d"(0) : "memory");
    }
#else
    result = -ENOSYS;
#endif
    printf("{\"action\":\"keep\",\"report\":{\"result\":%ld}}\n", result);
    fflush(stdout);
    return 0;
}
