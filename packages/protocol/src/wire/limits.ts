/** The sizes that bound every list of every message. */

/** The most positions of a buffer. */
export const MAX_SLOTS = 1024;
/** The most sums that one version of the model is made of, and the most that it leaves out. */
export const MAX_SUMS = 64;
/** The most uploads of a batch in the one-shot mode. */
export const MAX_BATCH = 10_000;
