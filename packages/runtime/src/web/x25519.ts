/** X25519 of WebCrypto, which is several times as fast as a library in JavaScript and runs off the main thread. */
import { equalBytes } from '@basa/masking';
import { webSuite } from './suite.ts';

const KEY_BYTES = 32;
/** PKCS #8 (RFC 8410) of 32 secret bytes: all of it but the bytes. */
const PKCS8_HEAD = Uint8Array.of(0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x6e, 4, 0x22, 4, 0x20);

const BASE_POINT = Uint8Array.from({ length: KEY_BYTES }, (_, i) => (i === 0 ? 9 : 0));

interface WebX25519Key {
  readonly publicKey: Uint8Array;
  agree(publicKey: Uint8Array): Promise<Uint8Array | undefined>;
}

export interface WebX25519 {
  key(secretKey: Uint8Array): Promise<WebX25519Key>;
}

/** Returns undefined if the browser has no X25519, or if its results differ from those of the library. */
export async function createWebX25519(): Promise<WebX25519 | undefined> {
  try {
    const [secret, peer] = [new Uint8Array(KEY_BYTES).fill(1), new Uint8Array(KEY_BYTES).fill(7)];
    const own = await keyOf(secret);
    const expected = webSuite.x25519(secret);
    const shared = await own.agree(peer);
    const isSame =
      equalBytes(own.publicKey, expected.publicKey) &&
      equalBytes(shared ?? new Uint8Array(), expected.agree(peer) ?? Uint8Array.of(0)) &&
      (await own.agree(new Uint8Array(KEY_BYTES))) === undefined;
    return isSame ? { key: keyOf } : undefined;
  } catch {
    return undefined;
  }
}

async function keyOf(secretKey: Uint8Array): Promise<WebX25519Key> {
  const document = new Uint8Array(PKCS8_HEAD.length + KEY_BYTES);
  document.set(PKCS8_HEAD);
  document.set(secretKey, PKCS8_HEAD.length);
  const key = await crypto.subtle.importKey('pkcs8', document, 'X25519', false, ['deriveBits']);
  document.fill(0);
  const agree = async (publicKey: Uint8Array): Promise<Uint8Array | undefined> => {
    try {
      const peer = await crypto.subtle.importKey('raw', Uint8Array.from(publicKey), 'X25519', false, []);
      const bits = await crypto.subtle.deriveBits({ name: 'X25519', public: peer }, key, 8 * KEY_BYTES);
      const shared = new Uint8Array(bits);
      // Browsers differ in whether they reject the result of a key of small order.
      return shared.some((byte) => byte !== 0) ? shared : undefined;
    } catch {
      return undefined;
    }
  };
  // The public key by its definition: the base point is u = 9. An export would write the secret into a string.
  const publicKey = await agree(BASE_POINT);
  if (publicKey === undefined) throw new Error('WebCrypto does not compute X25519');
  return { publicKey, agree };
}
