/*
 * What a program has written and not flushed, so that a power cut can be made to take it away. Loaded before libc
 * (LD_PRELOAD): each change below BASA_CUT_ROOT is noted in BASA_CUT_JOURNAL with what undoes it, before it is made. A flush of
 * a file, or of a folder for the names in it, is noted as well: what was noted before it is durable. After a kill, whoever reads
 * the journal undoes the rest (undo.ts). Nothing is really flushed: the kernel's memory outlives the process.
 *
 * Records: kind (1 byte), then 8-byte numbers and a 4-byte length with the bytes, all little-endian as this machine has them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_FDS 65536
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static size_t root_length;
static char kept[PATH_MAX]; /* where names that go are kept, as hard links */
static int journal = -1;
static uint64_t position; /* records so far, of all processes of this life: one writes */
static uint64_t names;
static uint8_t tracked[MAX_FDS]; /* 1: a file, 2: a folder */
static uint64_t inode_of[MAX_FDS];

__attribute__((constructor)) static void start(void) {
  const char *asked = getenv("BASA_CUT_ROOT"), *path = getenv("BASA_CUT_JOURNAL"), *folder = getenv("BASA_CUT_KEPT");
  if (asked == NULL || path == NULL || folder == NULL) return;
  if (realpath(asked, root) == NULL || realpath(folder, kept) == NULL) return;
  root_length = strlen(root);
  journal = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (journal >= 0) names = (uint64_t)getpid() << 32;
}

/* In the folder, or a file beside it that has its name and an ending. */
static int is_below(const char *path) {
  if (journal < 0 || strncmp(path, root, root_length) != 0) return 0;
  return path[root_length] == '/' || path[root_length] == '.';
}

/* The folder itself, and the one it lies in. */
static int holds_names(const char *path) {
  size_t length = strlen(path);
  return strcmp(path, root) == 0 || (strncmp(path, root, length) == 0 && strrchr(root, '/') == root + length);
}

/* The whole path of a name whose last part may not be there. */
static int whole(const char *path, char *out) {
  char copy[PATH_MAX];
  if (journal < 0 || strlen(path) >= sizeof copy) return 0;
  strcpy(copy, path);
  char *slash = strrchr(copy, '/');
  const char *last = slash == NULL ? copy : slash + 1;
  char name[NAME_MAX + 1];
  if (strlen(last) > NAME_MAX) return 0;
  strcpy(name, last);
  if (slash != NULL) *slash = 0;
  char folder[PATH_MAX];
  const char *above = slash == NULL ? "." : (slash == copy ? "/" : copy);
  if (realpath(above, folder) == NULL) return 0;
  if (strlen(folder) + strlen(name) + 2 > PATH_MAX) return 0;
  sprintf(out, "%s/%s", folder, name);
  return is_below(out);
}

static uint64_t folder_of(const char *path) {
  char copy[PATH_MAX];
  struct stat found;
  strcpy(copy, path);
  *strrchr(copy, '/') = 0;
  return stat(copy, &found) == 0 ? (uint64_t)found.st_ino : 0;
}

struct part { const void *bytes; uint32_t length; };

/* One write: a kill leaves whole records. The lock is held. */
static void note(char kind, const uint64_t *numbers, int count, const struct part *parts, int part_count) {
  struct iovec pieces[16];
  int n = 0;
  pieces[n++] = (struct iovec){&kind, 1};
  pieces[n++] = (struct iovec){(void *)numbers, 8 * (size_t)count};
  for (int i = 0; i < part_count; i++) {
    pieces[n++] = (struct iovec){(void *)&parts[i].length, 4};
    pieces[n++] = (struct iovec){(void *)parts[i].bytes, parts[i].length};
  }
  syscall(SYS_writev, journal, pieces, n);
  position++;
}

#define TEXT(path) {path, (uint32_t)strlen(path)}

/* w: inode, offset, size before, the bytes that were there. */
static void note_bytes(int fd, off_t from, uint64_t length) {
  struct stat found;
  if (fstat(fd, &found) != 0 || length == 0) return;
  uint64_t size = (uint64_t)found.st_size, old = 0;
  char *bytes = NULL;
  if ((uint64_t)from < size) {
    old = size - (uint64_t)from < length ? size - (uint64_t)from : length;
    char path[64];
    sprintf(path, "/proc/self/fd/%d", fd);
    int reading = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0); /* not past the page cache */
    bytes = malloc(old);
    uint64_t got = 0;
    while (got < old) {
      ssize_t some = syscall(SYS_pread64, reading, bytes + got, old - got, from + (off_t)got);
      if (some <= 0) break;
      got += (uint64_t)some;
    }
    syscall(SYS_close, reading);
    old = got;
  }
  uint64_t numbers[] = {inode_of[fd], (uint64_t)from, size};
  struct part parts[] = {{bytes, (uint32_t)old}};
  pthread_mutex_lock(&lock);
  note('w', numbers, 3, parts, 1);
  pthread_mutex_unlock(&lock);
  free(bytes);
}

/* libuv closes without a function of libc: a number may be another's by now. */
static int is_tracked(int fd, uint8_t as) {
  struct stat found;
  if (fd < 0 || fd >= MAX_FDS || tracked[fd] != as || fstat(fd, &found) != 0) return 0;
  return (uint64_t)found.st_ino == inode_of[fd] && (as == 1 ? S_ISREG(found.st_mode) : S_ISDIR(found.st_mode));
}

static int is_file(int fd) { return is_tracked(fd, 1); }

static size_t length_of(const struct iovec *pieces, int count) {
  size_t all = 0;
  for (int i = 0; i < count; i++) all += pieces[i].iov_len;
  return all;
}

static off_t end_of_writes(int fd) {
  int flags = fcntl(fd, F_GETFL);
  struct stat found;
  if ((flags & O_APPEND) && fstat(fd, &found) == 0) return found.st_size;
  return lseek(fd, 0, SEEK_CUR);
}

static int opened(const char *path, int flags, mode_t mode) {
  char full[PATH_MAX];
  struct stat found;
  int counts = whole(path, full) && strstr(full, "-shm") == NULL; /* SQLite makes its index of the log anew */
  int is_new = counts && (flags & O_CREAT) && lstat(full, &found) != 0;
  if (is_new) {
    uint64_t numbers[] = {folder_of(full)};
    struct part parts[] = {TEXT(full)};
    pthread_mutex_lock(&lock);
    note('c', numbers, 1, parts, 1);
    pthread_mutex_unlock(&lock);
  }
  int cuts = counts && !is_new && (flags & O_TRUNC) && stat(full, &found) == 0 && found.st_size > 0;
  if (cuts) {
    int old = (int)syscall(SYS_openat, AT_FDCWD, full, O_RDONLY | O_CLOEXEC, 0);
    if (old >= 0 && old < MAX_FDS) {
      inode_of[old] = (uint64_t)found.st_ino;
      note_bytes(old, 0, (uint64_t)found.st_size);
      syscall(SYS_close, old);
    }
  }
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (fd >= 0 && fd < MAX_FDS) {
    tracked[fd] = 0;
    if (counts && fstat(fd, &found) == 0) {
      tracked[fd] = S_ISDIR(found.st_mode) ? 2 : S_ISREG(found.st_mode) ? 1 : 0;
      inode_of[fd] = (uint64_t)found.st_ino;
    } else if (journal >= 0 && fstat(fd, &found) == 0 && S_ISDIR(found.st_mode) && realpath(path, full) != NULL &&
               holds_names(full)) {
      tracked[fd] = 2;
      inode_of[fd] = (uint64_t)found.st_ino;
    }
  }
  return fd;
}

static mode_t mode_of(int flags, va_list more) { return (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0; }

#define OPEN(name)                                                                                                       \
  int name(const char *path, int flags, ...) {                                                                          \
    va_list more;                                                                                                        \
    va_start(more, flags);                                                                                               \
    mode_t mode = mode_of(flags, more);                                                                                  \
    va_end(more);                                                                                                        \
    return opened(path, flags, mode);                                                                                    \
  }
OPEN(open)
OPEN(open64)

int close(int fd) {
  if (fd >= 0 && fd < MAX_FDS) tracked[fd] = 0;
  return (int)syscall(SYS_close, fd);
}

ssize_t write(int fd, const void *bytes, size_t length) {
  if (is_file(fd)) note_bytes(fd, end_of_writes(fd), length);
  return NEXT(write)(fd, bytes, length);
}
ssize_t writev(int fd, const struct iovec *pieces, int count) {
  if (is_file(fd)) note_bytes(fd, end_of_writes(fd), length_of(pieces, count));
  return NEXT(writev)(fd, pieces, count);
}
ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t at) {
  if (is_file(fd)) note_bytes(fd, at, length);
  return NEXT(pwrite64)(fd, bytes, length, at);
}
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) { return pwrite64(fd, bytes, length, at); }
ssize_t pwritev64(int fd, const struct iovec *pieces, int count, off_t at) {
  if (is_file(fd)) note_bytes(fd, at, length_of(pieces, count));
  return NEXT(pwritev64)(fd, pieces, count, at);
}
ssize_t pwritev(int fd, const struct iovec *pieces, int count, off_t at) { return pwritev64(fd, pieces, count, at); }

int ftruncate64(int fd, off_t length) {
  struct stat found;
  if (is_file(fd) && fstat(fd, &found) == 0 && found.st_size != length) {
    off_t from = length < found.st_size ? length : found.st_size;
    note_bytes(fd, from, length < found.st_size ? (uint64_t)(found.st_size - length) : 1);
  }
  return NEXT(ftruncate64)(fd, length);
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }

/* f: inode, and how many records came before the flush began. */
static int flushed(int fd) {
  if (!is_tracked(fd, 1) && !is_tracked(fd, 2)) return (int)syscall(SYS_fsync, fd);
  pthread_mutex_lock(&lock);
  uint64_t numbers[] = {inode_of[fd], position};
  note('f', numbers, 2, NULL, 0);
  pthread_mutex_unlock(&lock);
  return 0;
}
int fsync(int fd) { return flushed(fd); }
int fdatasync(int fd) { return flushed(fd); }

/* The name under which a file is kept that loses its own. Returns whether there is such a file. */
static int keep(const char *full, char *as) {
  pthread_mutex_lock(&lock);
  sprintf(as, "%.3900s/%llx", kept, (unsigned long long)names++);
  pthread_mutex_unlock(&lock);
  return syscall(SYS_linkat, AT_FDCWD, full, AT_FDCWD, as, 0) == 0;
}

/* r: the folder it comes into, from, to, and what was there before under the new name. */
int rename(const char *from, const char *to) {
  char old[PATH_MAX], new[PATH_MAX], as[PATH_MAX];
  if (whole(from, old) && whole(to, new)) {
    if (!keep(new, as)) as[0] = 0;
    uint64_t numbers[] = {folder_of(new)};
    struct part parts[] = {TEXT(old), TEXT(new), TEXT(as)};
    pthread_mutex_lock(&lock);
    note('r', numbers, 1, parts, 3);
    pthread_mutex_unlock(&lock);
  }
  return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

/* u: the folder it goes from, its name, where it is kept. */
int unlink(const char *path) {
  char full[PATH_MAX], as[PATH_MAX];
  if (whole(path, full) && strstr(full, "-shm") == NULL && keep(full, as)) {
    uint64_t numbers[] = {folder_of(full)};
    struct part parts[] = {TEXT(full), TEXT(as)};
    pthread_mutex_lock(&lock);
    note('u', numbers, 1, parts, 2);
    pthread_mutex_unlock(&lock);
  }
  return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

/* A new name of a file that is there. */
int link(const char *from, const char *to) {
  char full[PATH_MAX];
  if (whole(to, full)) {
    uint64_t numbers[] = {folder_of(full)};
    struct part parts[] = {TEXT(full)};
    pthread_mutex_lock(&lock);
    note('c', numbers, 1, parts, 1);
    pthread_mutex_unlock(&lock);
  }
  return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* m, d: a folder that is made, or goes. */
static void note_folder(char kind, const char *path) {
  char full[PATH_MAX];
  if (!whole(path, full)) return;
  uint64_t numbers[] = {folder_of(full)};
  struct part parts[] = {TEXT(full)};
  pthread_mutex_lock(&lock);
  note(kind, numbers, 1, parts, 1);
  pthread_mutex_unlock(&lock);
}
int mkdir(const char *path, mode_t mode) {
  struct stat found;
  if (stat(path, &found) != 0) note_folder('m', path);
  return (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}
int rmdir(const char *path) {
  int answer = (int)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
  if (answer == 0) note_folder('d', path);
  return answer;
}
/* Node 24 removes whole folders by the library of C++: with this, and with names in a folder whose number is given. */
int remove(const char *path) {
  struct stat found;
  return lstat(path, &found) == 0 && S_ISDIR(found.st_mode) ? rmdir(path) : unlink(path);
}
int unlinkat(int folder, const char *name, int flags) {
  char link[64], path[2 * PATH_MAX];
  if (folder == AT_FDCWD || name[0] == '/') return flags & AT_REMOVEDIR ? rmdir(name) : unlink(name);
  sprintf(link, "/proc/self/fd/%d", folder);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0 || strlen(name) > NAME_MAX) return (int)syscall(SYS_unlinkat, folder, name, flags);
  sprintf(path + length, "/%s", name);
  return flags & AT_REMOVEDIR ? rmdir(path) : unlink(path);
}
