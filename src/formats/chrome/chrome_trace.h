/* chrome_trace.h - how the traces begin that kin writes: they have slices, and no samples. */
#ifndef FORMATS_CHROME_CHROME_TRACE_H
#define FORMATS_CHROME_CHROME_TRACE_H

#define CHROME_TRACE_HEAD "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["

#endif
