/** Names for numbers and byte strings that look alike, so that they cannot be swapped. */

declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** A position of a buffer, 0 .. K-1. */
export type Slot = Brand<number, 'Slot'>;
/** Milliseconds since the epoch, by some party's clock. */
export type Millis = Brand<number, 'Millis'>;
/** Name of a task: SHA-256 of its policy. */
export type TaskId = Brand<Uint8Array, 'TaskId'>;
/** SHA-256 of a descriptor: names one buffer. */
export type Ctx = Brand<Uint8Array, 'Ctx'>;
/** u = SHA-256(device public key). */
export type UserId = Brand<Uint8Array, 'UserId'>;
/** g = H("join", ctx, u, n): names one user in one buffer without saying who. */
export type JoinTag = Brand<Uint8Array, 'JoinTag'>;
/** D: Merkle root over the sealed seeds of one deposit. */
export type DepositRoot = Brand<Uint8Array, 'DepositRoot'>;
/** V_l: hash chain over the deposits before slot l. */
export type View = Brand<Uint8Array, 'View'>;
/** r = H("registration", ctx, l, g, D, V_l): names one user in one slot with everything that it saw. */
export type Registration = Brand<Uint8Array, 'Registration'>;
/** An attribute: edge(l) or self(r) of one buffer. */
export type Attribute = Brand<Uint8Array, 'Attribute'>;

export const slotOf = (position: number): Slot => position as Slot;
export const millis = (value: number): Millis => value as Millis;
