/*
 * dam-threshold-c: the policy of dam-threshold in one C file, with nothing but POSIX.
 *
 * Take the discard if it is worth at most t, otherwise draw; keep the card in hand if it is worth at
 * most t, otherwise throw it. The option `threshold` sets t (6 unless given). In a phase it does not
 * know, and where the wish is not legal, the bot plays the first legal action.
 *
 * The interesting part is how little JSON a bot needs. A value is a pointer to its first character
 * inside the line, and a few functions do all the reading:
 *
 *   skip(value)             the end of a value, whatever it is
 *   member(object, key)     the value under a key, or NULL
 *   element(array, before)  the value after `before` in an array (NULL: the first), or NULL
 *   is_text, number         what a value says
 *
 * Nothing is copied and fields that the bot does not know are stepped over, so a later version of
 * the protocol may add some. The line ends in a NUL, at which every loop stops: a broken line cannot
 * lead the bot out of its buffer. The buffer grows with the longest line.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double DEFAULT_THRESHOLD = 6;

/* ---- reading JSON ---- */

static const char *skip_space(const char *p) {
    while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r') p++;
    return p;
}

/* The end of the string that starts with a quote at p. */
static const char *skip_string(const char *p) {
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1]) p++;
    return *p ? p + 1 : p;
}

/* The end of the value at p. Counting brackets is enough, and it needs no recursion, so deep
   nesting cannot exhaust the stack. */
static const char *skip(const char *p) {
    long depth = 0;
    do {
        p = skip_space(p);
        if (*p == '"') {
            p = skip_string(p);
        } else if (*p == '{' || *p == '[') {
            depth++;
            p++;
        } else if (*p == '}' || *p == ']') {
            depth--;
            p++;
        } else if (*p == ',' || *p == ':') {
            p++;
        } else {
            while (*p && !strchr(" \t\r\n\"{}[],:", *p)) p++;
        }
    } while (*p && depth > 0);
    return p;
}

/* One character of a string: moves *p past it and returns its code, -1 at the end of the string. */
static long next_char(const char **p) {
    const char *s = *p;
    if (!*s || *s == '"') return -1;
    if (*s != '\\') {
        *p = s + 1;
        return (unsigned char)*s;
    }
    if (!s[1]) return -1;
    *p = s + 2;
    switch (s[1]) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'u': break;
    default: return (unsigned char)s[1];
    }
    long code = 0;
    for (int i = 0; i < 4; i++, (*p)++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF", *digit;
        if (!**p || !(digit = strchr(digits, **p))) return -1;
        code = code * 16 + (digit - digits) % 16;
    }
    return code;
}

/* Whether the value at p is the string `text` (ASCII), however it is escaped. */
static bool is_text(const char *p, const char *text) {
    if (!p || *p != '"') return false;
    p++;
    for (; *text; text++)
        if (next_char(&p) != (unsigned char)*text) return false;
    return *p == '"';
}

static const char *member(const char *object, const char *key) {
    if (!object || *object != '{') return NULL;
    const char *p = skip_space(object + 1);
    while (*p == '"') {
        const char *value = skip_space(skip_string(p));
        if (*value != ':') return NULL;
        value = skip_space(value + 1);
        if (is_text(p, key)) return *value ? value : NULL;
        p = skip_space(skip(value));
        if (*p != ',') return NULL;
        p = skip_space(p + 1);
    }
    return NULL;
}

/* The first value of an array; with `previous`, the one after it. NULL when there is none. */
static const char *element(const char *array, const char *previous) {
    if (!array || *array != '[') return NULL;
    const char *p = skip_space(previous ? skip(previous) : array + 1);
    if (previous) {
        if (*p != ',') return NULL;
        p = skip_space(p + 1);
    }
    return *p && *p != ']' ? p : NULL;
}

static const char *last(const char *array) {
    const char *value = NULL;
    for (const char *p = element(array, NULL); p; p = element(array, p)) value = p;
    return value;
}

/* The value of an array that is the string `text`, or NULL. */
static const char *find(const char *array, const char *text) {
    const char *p = element(array, NULL);
    while (p && !is_text(p, text)) p = element(array, p);
    return p;
}

/* The number at p, or `otherwise` if there is none. */
static double number(const char *p, double otherwise) {
    if (!p) return otherwise;
    char *end;
    double value = strtod(p, &end);
    return end == p ? otherwise : value;
}

/* ---- playing Dam ---- */

static double threshold;
static char minus_rank; /* a rank that counts minus_value (DAM-V1), 0 for none */
static double minus_value;

/* Points of the card at p (DAM-30). What is no card is worth more than any. */
static double card_value(const char *p) {
    if (!p || *p != '"') return 1e9;
    p++;
    long rank = next_char(&p), suit = next_char(&p);
    if (minus_rank && rank == minus_rank) return minus_value;
    switch (rank) {
    case 'A': return 1;
    case 'T': return 10;
    case 'J': return 11;
    case 'Q': return 0;
    case 'K': return suit == 'H' ? 0 : 13;
    default: return rank >= '2' && rank <= '9' ? (double)(rank - '0') : 1e9;
    }
}

static void hello(const char *message) {
    threshold = number(member(member(message, "options"), "threshold"), DEFAULT_THRESHOLD);
    const char *rules = member(message, "rules");
    minus_value = number(member(rules, "minus_value"), -1);
    double rank = number(member(rules, "minus_rank"), 0); /* it may also be the word none */
    minus_rank = rank == 10 ? 'T' : rank >= 2 && rank <= 9 ? (char)('0' + (int)rank) : 0;
}

/* The chosen action, as the text of one of `legal`'s values, quotes and all; NULL for no answer. */
static const char *choose(const char *act) {
    const char *phase = member(act, "phase"), *view = member(act, "view");
    const char *legal = member(act, "legal"), *wish = NULL;
    if (is_text(phase, "source"))
        wish = card_value(last(member(view, "discard"))) <= threshold ? "take" : "draw";
    else if (is_text(phase, "decide"))
        wish = card_value(member(view, "hand")) <= threshold ? "keep" : "throw";
    if (wish && find(legal, wish)) return find(legal, wish);
    /* When the stock is empty and play goes on without it (DAM-V5), passing stands for drawing. */
    if (wish && !strcmp(wish, "draw") && find(legal, "pass")) return find(legal, "pass");
    return element(legal, NULL);
}

/* ---- the channel ---- */

static void send_bytes(const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t sent = write(STDOUT_FILENO, bytes, size);
        if (sent < 0) {
            if (errno == EINTR) continue;
            exit(1);
        }
        bytes += sent;
        size -= (size_t)sent;
    }
}

/* Sends {"action":<action>} with one write, if it fits, as it practically always does. */
static void send_action(const char *action) {
    static const char head[] = "{\"action\":", tail[] = "}\n";
    size_t size = (size_t)(skip(action) - action);
    char answer[256];
    if (sizeof head - 1 + size + sizeof tail - 1 > sizeof answer) {
        send_bytes(head, sizeof head - 1);
        send_bytes(action, size);
        send_bytes(tail, sizeof tail - 1);
        return;
    }
    memcpy(answer, head, sizeof head - 1);
    memcpy(answer + sizeof head - 1, action, size);
    memcpy(answer + sizeof head - 1 + size, tail, sizeof tail - 1);
    send_bytes(answer, sizeof head - 1 + size + sizeof tail - 1);
}

/* Deals with one line; false when it was the last. */
static bool take(const char *line) {
    const char *message = skip_space(line), *type = member(message, "type");
    if (is_text(type, "act")) {
        const char *action = choose(message);
        if (action) send_action(action);
    } else if (is_text(type, "hello")) {
        static const char ready[] = "{\"type\":\"ready\"}\n";
        hello(message);
        send_bytes(ready, sizeof ready - 1);
    }
    return !is_text(type, "quit");
}

int main(void) {
    size_t capacity = 1 << 16, filled = 0;
    char *buffer = malloc(capacity);
    while (buffer) {
        ssize_t got = read(STDIN_FILENO, buffer + filled, capacity - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got < 0;
        size_t searched = filled, start = 0;
        filled += (size_t)got;
        char *end;
        while ((end = memchr(buffer + searched, '\n', filled - searched))) {
            *end = '\0';
            if (!take(buffer + start)) return 0;
            start = searched = (size_t)(end - buffer) + 1;
        }
        filled -= start;
        memmove(buffer, buffer + start, filled);
        if (filled == capacity) {
            capacity *= 2;
            char *larger = realloc(buffer, capacity);
            if (!larger) break;
            buffer = larger;
        }
    }
    fputs("out of memory\n", stderr);
    return 1;
}
