/** An attribute key on its way from the authority to one user: sealed to the user's ephemeral X25519 key. */
import { concatBytes, SEED_BYTES, type Suite } from '@basa/masking';
import { message } from './codec.ts';
import { fixed } from './fields.ts';
import { KIND } from './kinds.ts';

const infoLayout = message<{ requestDigest: Uint8Array; sender: Uint8Array; recipient: Uint8Array }>(
  KIND.keyEnvelope,
  'keyEnvelope',
  {
    requestDigest: fixed(32),
    sender: fixed(32),
    recipient: fixed(32),
  },
);

/** The key derived for one envelope seals once, so the nonce is zero. */
const NONCE = new Uint8Array(12);
const KEY_BYTES = 32;

interface Route {
  /** Binds the envelope to the request it answers. */
  readonly requestDigest: Uint8Array;
}

/** sender's public key || ChaCha20-Poly1305. The sender's secret must be fresh for the request, or derived from it. */
export function sealEnvelope(
  suite: Suite,
  {
    senderSecret,
    recipient,
    requestDigest,
    key,
  }: Route & { senderSecret: Uint8Array; recipient: Uint8Array; key: Uint8Array },
): Uint8Array | undefined {
  const pair = suite.x25519(senderSecret);
  const sender = pair.publicKey;
  const shared = pair.agree(recipient);
  if (shared === undefined) return undefined;
  const once = aead(suite, shared, { requestDigest, sender, recipient });
  const sealed = suite.seal({ ...once, plaintext: key });
  once.key.fill(0);
  return concatBytes(sender, sealed);
}

export function openEnvelope(
  suite: Suite,
  { recipientSecret, requestDigest, envelope }: Route & { recipientSecret: Uint8Array; envelope: Uint8Array },
): Uint8Array | undefined {
  const sender = envelope.subarray(0, SEED_BYTES);
  const pair = suite.x25519(recipientSecret);
  const shared = pair.agree(sender);
  if (shared === undefined) return undefined;
  const recipient = pair.publicKey;
  const once = aead(suite, shared, { requestDigest, sender, recipient });
  const key = suite.open({ ...once, ciphertext: envelope.subarray(SEED_BYTES) });
  once.key.fill(0);
  return key;
}

function aead(
  suite: Suite,
  shared: Uint8Array,
  names: { requestDigest: Uint8Array; sender: Uint8Array; recipient: Uint8Array },
) {
  const associatedData = infoLayout.encode(names);
  const key = suite.hkdf({ secret: shared, salt: names.requestDigest, info: associatedData, length: KEY_BYTES });
  shared.fill(0);
  return { key, nonce: NONCE, associatedData };
}
