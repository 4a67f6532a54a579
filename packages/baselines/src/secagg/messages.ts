/** The messages of SecAgg and SecAgg+, byte by byte. Users count from 0 in two bytes; a list is as long as its message. */
import { ByteWriter, DecodeError, Secret } from '@basa/masking';
import { listOf, MAX_ENTRIES, TAG_BYTES } from '../pairwise.ts';

const KEY_BYTES = 32;
const SHARE_BYTES = 32;

export interface PublicKeys {
  readonly user: number;
  /** c^PK: for messages between users. */
  readonly channelKey: Uint8Array;
  /** s^PK: for the masks that two users have in common. */
  readonly maskKey: Uint8Array;
}

/** Shares of both secrets of one user, sealed to another; `peer` is the other end: receiver on the way up, sender down. */
export interface SealedShares {
  readonly peer: number;
  readonly sealed: Uint8Array;
}

/** A share of v's self seed if v survived, or of its mask key if it dropped; never both. */
export interface RevealedShare {
  readonly about: number;
  readonly of: 'self-seed' | 'mask-key';
  readonly share: Secret;
}

export function encodeKeys(list: readonly PublicKeys[]): Uint8Array {
  const writer = new ByteWriter();
  for (const { user, channelKey, maskKey } of list) writer.u16(user).bytes(channelKey).bytes(maskKey);
  return writer.finish();
}

export function decodeKeys(bytes: Uint8Array): PublicKeys[] {
  return listOf(bytes, 'keys', (reader) => ({
    user: reader.u16('user'),
    channelKey: reader.bytes('channel key', KEY_BYTES),
    maskKey: reader.bytes('mask key', KEY_BYTES),
  }));
}

export function encodeShares(list: readonly SealedShares[]): Uint8Array {
  const writer = new ByteWriter();
  for (const { peer, sealed } of list) writer.u16(peer).bytes(sealed);
  return writer.finish();
}

export function decodeShares(bytes: Uint8Array): SealedShares[] {
  return listOf(bytes, 'shares', (reader) => ({
    peer: reader.u16('peer'),
    sealed: reader.bytes('sealed shares', 2 * SHARE_BYTES + TAG_BYTES),
  }));
}

/** Encodes one bit for each user, lowest first, in as few bytes as possible. */
export function encodeUsers(users: readonly number[]): Uint8Array {
  const bits = new Uint8Array(Math.floor(Math.max(-1, ...users) / 8) + 1);
  for (const user of users) bits[user >> 3] = (bits[user >> 3] as number) | (1 << (user & 7));
  return bits;
}

export function decodeUsers(bytes: Uint8Array): number[] {
  if (8 * bytes.length > MAX_ENTRIES) throw new DecodeError('users', 'too long');
  if (bytes.at(-1) === 0) throw new DecodeError('users', 'more bytes than it takes');
  return Array.from({ length: 8 * bytes.length }, (_, user) => user).filter(
    (user) => (((bytes[user >> 3] as number) >> (user & 7)) & 1) === 1,
  );
}

export function encodeAnswer(answer: readonly RevealedShare[]): Uint8Array {
  const writer = new ByteWriter();
  for (const { about, of, share } of answer) {
    writer
      .u16(about)
      .u8(of === 'self-seed' ? 0 : 1)
      .bytes(share.reveal());
  }
  return writer.finish();
}

export function decodeAnswer(bytes: Uint8Array): RevealedShare[] {
  return listOf(bytes, 'answer', (reader) => {
    const about = reader.u16('about');
    const kind = reader.u8('kind of share');
    if (kind > 1) throw new DecodeError('kind of share', `${kind} is neither 0 nor 1`);
    const share = new Secret(reader.bytes('share', SHARE_BYTES).slice());
    return { about, of: kind === 0 ? 'self-seed' : 'mask-key', share };
  });
}
