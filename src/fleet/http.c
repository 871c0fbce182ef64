/* http.c - makes requests with libcurl. */
#include "fleet/http.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"

/* ---- user and password ---- */

static char *copy(const char *text) { return text && *text ? xprintf("%s", text) : NULL; }

/* Reads lines "user NAME" and "password TEXT". Returns the number of the first other line, which
 * may be a bare password; 0: none. */
static unsigned read_login(char *text, struct http_login *ret)
{
	char *rest = text;
	unsigned number = 0, odd = 0;
	for (char *line; (line = strsep(&rest, "\n"));) {
		number++;
		line += strspn(line, " \t\r");
		size_t word = strcspn(line, " \t=");
		char *value = line + word + strspn(line + word, " \t=");
		value[strcspn(value, "\r")] = '\0';
		char **at = word == 4 && !strncmp(line, "user", 4)       ? &ret->user
			    : word == 8 && !strncmp(line, "password", 8) ? &ret->password
									 : NULL;
		if (!at && *line && *line != '#' && !odd)
			odd = number;
		if (!at)
			continue;
		free(*at);
		*at = copy(value);
	}
	return odd;
}

static struct kin_error *login_of_file(const char *path, struct http_login *ret)
{
	enum { MOST = 1 << 16 };
	struct stat st;
	struct file file;
	if (stat(path, &st))
		return err_os(errno, "%s", path);
	if (st.st_mode & 077)
		return err_new(KIN_ERROR_USAGE,
			       "%s: others may read it, and there is a password in it: chmod 600 "
			       "it",
			       path);
	struct kin_error *err = file_read(path, &(struct file_opts){ .max = MOST }, &file);
	if (err)
		return err;
	unsigned odd = read_login((char *)file.data, ret);
	explicit_bzero(file.data, file.size);
	file_free(&file);
	return odd ? err_new(KIN_ERROR_USAGE,
			     "%s: line %u is not understood: the lines are 'user NAME' and "
			     "'password TEXT'",
			     path, odd)
		   : NULL;
}

static char *usual_file(void)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	if (config && *config == '/')
		return xprintf("%s/kin/store", config);
	return home && *home == '/' ? xprintf("%s/.config/kin/store", home) : NULL;
}

struct kin_error *http_login_find(struct http_login *ret)
{
	struct http_login l = { copy(getenv("KIN_STORE_USER")),
				copy(getenv("KIN_STORE_PASSWORD")) };
	const char *named = getenv("KIN_STORE_LOGIN");
	struct kin_error *err = NULL;
	if (!l.user && !l.password) {
		char *path = named && *named ? xprintf("%s", named) : usual_file();
		if (path && ((named && *named) || access(path, F_OK) == 0))
			err = login_of_file(path, &l);
		free(path);
	}
	if (err)
		http_login_done(&l);
	else
		*ret = l;
	return err;
}

void http_login_done(struct http_login *l)
{
	if (l->password)
		explicit_bzero(l->password, strlen(l->password));
	free(l->user);
	free(l->password);
	*l = (struct http_login){ 0 };
}

char *http_escaped(const char *text)
{
	char *ret = xalloc(3 * strlen(text) + 1), *p = ret;
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
			     (c >= 'a' && c <= 'z') || c == '_' || c == '-' || c == '.';
		p += sprintf(p, plain ? "%c" : "%%%02X", c);
	}
	return ret;
}

/* ---- a server ---- */

struct http {
	CURL *easy;
	struct curl_slist *headers;
	char error[CURL_ERROR_SIZE];
	struct row_buffer *into;
};

/* Large answers are megabytes. Reserving that much at once avoids moving data, and allows large
 * pages; untouched pages take no memory. */
static void make_room(struct row_buffer *b, size_t n)
{
	enum { SMALL = 64 << 10, USUAL = 16 << 20 };
	bool is_usual = b->n + n > SMALL && b->n + n <= USUAL;
	vec_reserve(b, is_usual ? USUAL - b->n : n);
}

static size_t take(char *data, size_t size, size_t n, void *arg)
{
	struct http *h = arg;
	size_t bytes = size * n;
	make_room(h->into, bytes);
	memcpy(h->into->at + h->into->n, data, bytes);
	h->into->n += bytes;
	return bytes;
}

static void add_header(struct http *h, const char *name, const char *value)
{
	char *line = value && *value ? xprintf("%s: %s", name, value) : xprintf("%s:", name);
	struct curl_slist *longer = curl_slist_append(h->headers, line);
	explicit_bzero(line, strlen(line));
	free(line);
	if (!longer)
		xout_of_memory();
	h->headers = longer;
}

static void set_up(struct http *h, const struct http_login *login)
{
	const char *ca = getenv("KIN_STORE_CA");
	if (login->user)
		add_header(h, "X-ClickHouse-User", login->user);
	if (login->password)
		add_header(h, "X-ClickHouse-Key", login->password);
	add_header(h, "Expect", NULL); /* no round trip before the body */
	curl_easy_setopt(h->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(h->easy, CURLOPT_CONNECTTIMEOUT, 10L);
	curl_easy_setopt(h->easy, CURLOPT_FOLLOWLOCATION, 0L); /* a redirect must not send the
							     password to another server */
	curl_easy_setopt(h->easy, CURLOPT_ERRORBUFFER, h->error);
	curl_easy_setopt(h->easy, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(h->easy, CURLOPT_WRITEDATA, h);
	curl_easy_setopt(h->easy, CURLOPT_BUFFERSIZE, 256L << 10);
	curl_easy_setopt(h->easy, CURLOPT_USERAGENT, "kin/" KIN_VERSION);
	if (ca && *ca)
		curl_easy_setopt(h->easy, CURLOPT_CAINFO, ca);
}

struct kin_error *http_new(const struct http_login *login, struct http **ret)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_new(KIN_ERROR_UNSUPPORTED, "libcurl does not start");
	struct http *h = xalloc(sizeof(*h));
	h->easy = curl_easy_init();
	if (!h->easy)
		xout_of_memory();
	set_up(h, login);
	*ret = h;
	return NULL;
}

void http_free(struct http *h)
{
	if (!h)
		return;
	curl_slist_free_all(h->headers);
	curl_easy_cleanup(h->easy);
	free(h);
}

/* Whether the server may have received the request. */
static bool may_be_sent(CURLcode code)
{
	return code != CURLE_COULDNT_CONNECT && code != CURLE_COULDNT_RESOLVE_HOST &&
	       code != CURLE_UNSUPPORTED_PROTOCOL && code != CURLE_URL_MALFORMAT &&
	       code != CURLE_PEER_FAILED_VERIFICATION;
}

/* Whether there was a connection on which the request could be sent. */
static bool was_ready(struct http *h)
{
	curl_off_t ready = 0; /* the time at which it could; 0: never */
	curl_easy_getinfo(h->easy, CURLINFO_PRETRANSFER_TIME_T, &ready);
	return ready;
}

/* Whether the server does not speak TLS. A plain HTTP server may refuse the first bytes of TLS, or
 * take them for half a line and wait for the rest. */
static bool is_handshake_missing(struct http *h, const char *url, CURLcode code)
{
	long connections = 0;
	if (code != CURLE_OPERATION_TIMEDOUT)
		return code == CURLE_SSL_CONNECT_ERROR;
	curl_easy_getinfo(h->easy, CURLINFO_NUM_CONNECTS, &connections);
	return !strncasecmp(url, "https:", 6) && connections && !was_ready(h);
}

static struct kin_error *failure(struct http *h, CURLcode code, long limit_s, bool no_handshake)
{
	if (code == CURLE_OPERATION_TIMEDOUT && was_ready(h))
		return err_new(KIN_ERROR_OS, "%s answer within %ld s, the limit for this request",
			       h->into->n ? "no complete" : "no", limit_s);
	return err_new(KIN_ERROR_OS, "%s%s", h->error[0] ? h->error : curl_easy_strerror(code),
		       no_handshake ? ": is https spoken at that port?" : "");
}

struct kin_error *http_ask(struct http *h, const struct http_request *request,
			   struct http_answer *ret, bool *sent)
{
	curl_mime *form = NULL;
	long limit_s = request->timeout_s ? request->timeout_s : 300;
	*ret = (struct http_answer){ 0 };
	h->into = &ret->bytes;
	h->error[0] = '\0';
	curl_easy_setopt(h->easy, CURLOPT_URL, request->url);
	curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, h->headers);
	curl_easy_setopt(h->easy, CURLOPT_TIMEOUT, limit_s);
	if (request->part) {
		form = curl_mime_init(h->easy);
		curl_mimepart *part = form ? curl_mime_addpart(form) : NULL;
		if (!part || curl_mime_name(part, request->part->name) ||
		    curl_mime_filename(part, request->part->name) ||
		    curl_mime_data(part, request->part->bytes, request->part->n))
			xout_of_memory();
		curl_easy_setopt(h->easy, CURLOPT_MIMEPOST, form);
	} else {
		curl_easy_setopt(h->easy, CURLOPT_POST, 1L);
		curl_easy_setopt(h->easy, CURLOPT_POSTFIELDS, request->n ? request->body : "");
		curl_easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->n);
	}
	CURLcode code = curl_easy_perform(h->easy);
	curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &ret->status);
	if (form) {
		curl_easy_setopt(h->easy, CURLOPT_MIMEPOST, NULL);
		curl_mime_free(form);
	}
	if (code == CURLE_OUT_OF_MEMORY)
		xout_of_memory();
	bool no_handshake = is_handshake_missing(h, request->url, code);
	*sent = may_be_sent(code) && !no_handshake;
	ret->timed_out = code == CURLE_OPERATION_TIMEDOUT;
	return code == CURLE_OK ? NULL : failure(h, code, limit_s, no_handshake);
}
