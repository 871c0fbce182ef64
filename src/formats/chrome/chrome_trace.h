/* chrome_trace.h - the first bytes of traces that kin writes, which have slices and no samples. */
#ifndef FORMATS_CHROME_CHROME_TRACE_H
#define FORMATS_CHROME_CHROME_TRACE_H

#define CHROME_TRACE_HEAD "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["

#endif
