/** Names for numbers and byte strings that look alike, so that they cannot be swapped. */

declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** A position of a buffer, 0 .. K-1. */
export type Slot = Brand<number, 'Slot'>;
/** Milliseconds since the epoch, by some party's clock. */
export type Millis = Brand<number, 'Millis'>;
/** Name of a task: SHA-256 of its policy. */
export type TaskId = Brand<Uint8Array, 'TaskId'>;
/** Names one buffer or batch: 32 random bytes in `paper` mode, otherwise the hash of its content. */
export type Ctx = Brand<Uint8Array, 'Ctx'>;
/** u = SHA-256(device public key). */
export type UserId = Brand<Uint8Array, 'UserId'>;
/** g: 32 random bytes that name one upload of one user. */
export type JoinTag = Brand<Uint8Array, 'JoinTag'>;
/** a_k: the attribute of a position of one buffer. */
export type Attribute = Brand<Uint8Array, 'Attribute'>;

export const millis = (value: number): Millis => value as Millis;
