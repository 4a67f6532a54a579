/** The sizes that bound every list of every message. */

/** The largest number of positions in a buffer. */
export const MAX_SLOTS = 1024;
/** The largest number of sums that one version of the model is made of, and that it leaves out. */
export const MAX_SUMS = 64;
/** The largest number of uploads in a batch of the one-shot mode. */
export const MAX_BATCH = 10_000;
