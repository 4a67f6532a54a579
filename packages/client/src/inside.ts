/** How other entries of this package work with a client's own parts, in turn with its other calls. Not for applications. */
export const INSIDE: unique symbol = Symbol('inside of a client');
