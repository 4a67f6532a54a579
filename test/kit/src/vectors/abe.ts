/** Test vectors of CP-ABE: every byte of a case, with the randomness that fixes it. */
import {
  abeSealing,
  createMclGroup,
  encodeAttributeKey,
  encodeCiphertext,
  encodeMasterKey,
  encodePublicKey,
  encrypt,
  type Group,
  keyGen,
  parsePolicy,
  prfKeyRandomness,
  setup,
} from '@basa/abe';
import { ascii, ByteWriter, concatBytes, type RandomBytes, toHex } from '@basa/masking';
import { nodeSuite as suite } from '@basa/runtime/node';
import { type AbeNegative, abeNegatives } from './abe-negatives.ts';

export interface AbeVectors {
  readonly about: string;
  readonly hash: readonly { readonly attribute: string; readonly point: string }[];
  readonly setup: { readonly randomness: string; readonly publicKey: string; readonly masterKey: string };
  readonly prfKey: string;
  readonly keys: readonly { readonly attributes: readonly string[]; readonly key: string }[];
  readonly ciphertexts: readonly {
    readonly policy: string;
    readonly context: string;
    readonly plaintext: string;
    readonly randomness: string;
    readonly ciphertext: string;
    /** For each of the keys, true if it opens it. */
    readonly opens: readonly boolean[];
  }[];
  readonly seeds: readonly SealedSeed[];
  readonly negatives: readonly AbeNegative[];
}

interface SealedSeed {
  readonly attribute: string;
  readonly key: string;
  readonly context: string;
  readonly seed: string;
  readonly randomness: string;
  readonly sealed: string;
}

const SETS = [['doctor', 'cardiology'], ['a', 'b', 'doctor'], ['c']];
const POLICIES: readonly (readonly [policy: string, opens: readonly boolean[]])[] = [
  ['doctor', [true, true, false]],
  ['doctor and (cardiology or 2 of (a, b, c))', [true, true, false]],
  ['c or (doctor and a)', [false, true, true]],
];

/** The same for every group backend. */
export async function abeVectors(backend?: Group): Promise<AbeVectors> {
  const group = backend ?? (await createMclGroup());
  const { publicKey, masterKey, ...pair } = recorded('setup', (randomBytes) => setup({ group, randomBytes }));
  const prfKey = suite.sha256(ascii('prf key'));
  const randomness = prfKeyRandomness({ prfKey, suite });
  const keyOf = (attributes: readonly (string | Uint8Array)[]) =>
    keyGen({ masterKey, attributes, randomness }, { group });
  const keys = SETS.map((attributes) => ({ attributes, key: toHex(encodeAttributeKey(keyOf(attributes), group)) }));
  const ciphertexts = POLICIES.map(([policy, opens]) => {
    const [context, plaintext] = [ascii(`context of ${policy}`), ascii('attack at dawn')];
    const { encapsulation, sealed, ...run } = recorded(policy, (randomBytes) =>
      encrypt({ publicKey, policy: parsePolicy(policy), plaintext, context }, { group, suite, randomBytes }),
    );
    const ciphertext = toHex(encodeCiphertext({ encapsulation, sealed }, group));
    return { policy, context: toHex(context), plaintext: toHex(plaintext), ...run, ciphertext, opens };
  });
  const seeds = ['edge', 'self'].map((name) =>
    sealedSeed(
      name,
      (attribute) => encodeAttributeKey(keyOf([attribute]), group),
      (randomBytes) => abeSealing({ publicKey, group, suite, randomBytes }),
    ),
  );
  const publicBytes = encodePublicKey(publicKey, group);
  const masterBytes = encodeMasterKey(masterKey, group);
  const first = { key: keys[0]?.key ?? '', ciphertext: ciphertexts[0]?.ciphertext ?? '', seed: seeds[0] as SealedSeed };
  return {
    about: 'CP-ABE (BSW07) on BLS12-381; all bytes in hex; `npm run write -- vectors` writes it',
    hash: ['', 'a', 'doctor'].map((name) => ({
      attribute: toHex(ascii(name)),
      point: toHex(group.g1.encode(group.hashToG1(ascii(name)))),
    })),
    setup: { ...pair, publicKey: toHex(publicBytes), masterKey: toHex(masterBytes) },
    prfKey: toHex(prfKey),
    keys,
    ciphertexts,
    seeds,
    negatives: abeNegatives({ publicKey: toHex(publicBytes), masterKey: toHex(masterBytes), ...first }, group),
  };
}

function sealedSeed(
  name: string,
  keyOf: (attribute: Uint8Array) => Uint8Array,
  sealingOf: (randomBytes: RandomBytes) => ReturnType<typeof abeSealing>,
): SealedSeed {
  const [attribute, context, seed] = ['attribute', 'context', 'seed'].map((part) =>
    suite.sha256(ascii(`${part} ${name}`)),
  ) as [Uint8Array, Uint8Array, Uint8Array];
  const { sealed, randomness } = recorded(name, (randomBytes) => ({
    sealed: sealingOf(randomBytes).seal(seed, attribute, context),
  }));
  return {
    attribute: toHex(attribute),
    key: toHex(keyOf(attribute)),
    context: toHex(context),
    seed: toHex(seed),
    randomness,
    sealed: toHex(sealed),
  };
}

/** Runs with randomness derived from a name, and adds the drawn bytes, one after the other. */
function recorded<Result extends object>(
  name: string,
  run: (randomBytes: RandomBytes) => Result,
): Result & { readonly randomness: string } {
  const drawn: string[] = [];
  const result = run((length) => {
    const info = concatBytes(ascii(name), new ByteWriter().u32(drawn.length).finish());
    const bytes = suite.hkdf({ secret: ascii('abe vectors'), salt: new Uint8Array(0), info, length });
    drawn.push(toHex(bytes));
    return bytes;
  });
  return { ...result, randomness: drawn.join('') };
}
