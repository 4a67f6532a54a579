/** Gives other entries of this package access to a client's internals, in turn with its other calls. Not for applications. */
export const INSIDE: unique symbol = Symbol('inside of a client');
