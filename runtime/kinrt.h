/* kinrt.h - control of the collection runtime, for programs that want it. */
#ifndef KINRT_H
#define KINRT_H
#ifdef __cplusplus
extern "C" {
#endif
__attribute__((visibility("default"))) void kinrt_start(void);
__attribute__((visibility("default"))) void kinrt_stop(void);
__attribute__((visibility("default"))) int kinrt_flush(void);
#ifdef __cplusplus
}
#endif
#endif
