/* chrome_trace.h - the start of the traces that kin writes: they have slices, and no samples. */
#ifndef FORMATS_CHROME_CHROME_TRACE_H
#define FORMATS_CHROME_CHROME_TRACE_H

#define CHROME_TRACE_HEAD "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["

#endif
