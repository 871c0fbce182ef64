/* saved.c - writes a temporary file and copies it, since writers of these formats seek. */
#include "formats/saved.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/folder.h"

static struct kin_error *copy(const char *path, FILE *out)
{
	char buf[1 << 16];
	FILE *in = fopen(path, "re");
	if (!in)
		return err_os(errno, "%s", path);
	for (size_t n; (n = fread(buf, 1, sizeof(buf), in));)
		fwrite(buf, 1, n, out);
	bool bad = ferror(in);
	fclose(in);
	return bad ? err_os(EIO, "%s", path) : NULL;
}

struct kin_error *saved_write(struct kin_profile *profile, const char *name, FILE *out)
{
	char *folder;
	struct kin_error *err = folder_temporary("kin", &folder);
	if (err) {
		free(folder);
		return err;
	}
	char *path = xprintf("%s/%s", folder, name);
	err = kin_profile_write(profile, path);
	if (!err)
		err = copy(path, out);
	unlink(path);
	rmdir(folder);
	free(path);
	free(folder);
	return err;
}
