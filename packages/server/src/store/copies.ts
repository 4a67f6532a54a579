/** How far a copy in memory of what is stored can be trusted. */

/** Returns the copy where nobody else can have changed what it was read from, else what `read` finds. */
export type UpToDate = <Copy>(copy: Copy, read: () => Promise<Copy>) => Promise<Copy>;
