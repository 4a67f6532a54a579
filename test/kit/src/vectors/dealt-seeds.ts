/** Seeds dealt to several authorities as vectors: each opens with every set of the threshold size; and seeds that no set opens. */
import { ascii, SLOT_KEY_BYTES, type SlotBinding, slotSecret, toHex } from '@basa/masking';
import { nodeSuite as suite } from '@basa/runtime/node';
import { padFor, sealedSeed } from '../core/slot-seals.ts';

interface DealtPart {
  /** Its index among all authorities of the task. */
  readonly authority: number;
  /** The secret of the key that the seed is sealed to. */
  readonly secret: string;
  readonly key: string;
}

/** A seed that any `threshold` of the parts open, with their secrets or with their pads. */
export interface DealtSeed {
  readonly threshold: number;
  readonly ctx: string;
  readonly context: string;
  readonly parts: readonly (DealtPart & { readonly share: string; readonly pad: string })[];
  readonly seed: string;
  readonly sealed: string;
}

/** No set of `threshold` parts opens it. */
export interface RefusedDealt {
  readonly why: string;
  readonly threshold: number;
  readonly ctx: string;
  readonly context: string;
  readonly parts: readonly DealtPart[];
  readonly sealed: string;
}

/** The place of the seeds: the buffer, and their purpose in it. */
export interface DealtFor {
  readonly ctx: Uint8Array;
  readonly slot: number;
  readonly context: Uint8Array;
}

const SHARE_BYTES = 32;

/** With parts of these authorities. */
export function dealtSeed(where: DealtFor, authorities: readonly number[], threshold: number): DealtSeed {
  const { binding, secrets } = boundTo(where, authorities, threshold);
  const seed = named(`seed for ${threshold} of ${authorities}`);
  const sealed = sealedSeed(suite, seed, binding);
  const parts = binding.parts.map(({ authority, publicKey }, place) => {
    const secret = secrets[place] as Uint8Array;
    const pad = padFor(suite, sealed, secret, binding, place) as Uint8Array;
    const share = xor(pad, shareOf(sealed, place));
    return { authority, secret: toHex(secret), key: toHex(publicKey), share: toHex(share), pad: toHex(pad) };
  });
  const { ctx, context } = where;
  return { threshold, ctx: toHex(ctx), context: toHex(context), parts, seed: toHex(seed), sealed: toHex(sealed) };
}

/** Of 3 of 4: every way in which one part, or one byte that all parts share, is spoilt. */
export function refusedDealt(where: DealtFor): readonly RefusedDealt[] {
  const authorities = [0, 1, 2, 3];
  const { threshold, ctx, context, parts, sealed, seed } = dealtSeed(where, authorities, 3);
  const good = bytes(sealed);
  const refused = (why: string, changed: Uint8Array, change: Partial<RefusedDealt> = {}): RefusedDealt => ({
    why,
    threshold,
    ctx,
    context,
    parts: parts.map(({ authority, secret, key }) => ({ authority, secret, key })),
    sealed: toHex(changed),
    ...change,
  });
  const withShare = (place: number, share: Uint8Array): Uint8Array => {
    const changed = good.slice();
    changed.set(share, SLOT_KEY_BYTES + SHARE_BYTES * place);
    return changed;
  };
  const flipped = (share: Uint8Array): Uint8Array => share.map((byte, n) => (n === 31 ? byte ^ 1 : byte));
  const { binding } = boundTo(where, authorities, 2);
  const ofTwo = sealedSeed(suite, bytes(seed), binding);
  const { binding: ofThree } = boundTo(where, [0, 1, 2], 3);
  return [
    ...authorities.map((place) =>
      refused(`the share of authority ${place} spoilt`, withShare(place, flipped(shareOf(good, place)))),
    ),
    refused('the share of authority 1 for that of authority 0', withShare(0, shareOf(good, 1))),
    refused(
      'R spoilt',
      good.map((byte, n) => (n === 0 ? byte ^ 1 : byte)),
    ),
    refused('dealt so that two are enough', ofTwo),
    refused('a share short', good.subarray(0, -SHARE_BYTES)),
    refused('sealed to three of the four', sealedSeed(suite, bytes(seed), ofThree)),
    refused('opened in another buffer', good, { ctx: toHex(named('another buffer')) }),
    refused('opened for another use', good, { context: toHex(named('another use')) }),
    refused('opened under other indices', good, {
      parts: parts.map(({ authority, secret, key }) => ({ authority: authority + 1, secret, key })),
    }),
    refused('opened with more needed than it was dealt for', good, { threshold: 4 }),
  ];
}

function boundTo(
  { ctx, slot, context }: DealtFor,
  authorities: readonly number[],
  threshold: number,
): { readonly binding: SlotBinding; readonly secrets: readonly Uint8Array[] } {
  const secrets = authorities.map((authority) =>
    slotSecret(
      suite,
      { master: named(`master ${authority}`), task: named('task'), offer: named(`offer ${authority}`).slice(0, 16) },
      slot,
    ),
  );
  const parts = authorities.map((authority, place) => ({
    authority,
    publicKey: suite.x25519(secrets[place] as Uint8Array).publicKey,
  }));
  return { binding: { parts, threshold, salt: ctx, context }, secrets };
}

function shareOf(sealed: Uint8Array, place: number): Uint8Array {
  const start = SLOT_KEY_BYTES + SHARE_BYTES * place;
  return sealed.subarray(start, start + SHARE_BYTES);
}

function xor(a: Uint8Array, b: Uint8Array): Uint8Array {
  return a.map((byte, n) => byte ^ (b[n] as number));
}

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}

function named(name: string): Uint8Array {
  return suite.sha256(ascii(`dealt seed vectors: ${name}`));
}
