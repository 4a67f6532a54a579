/** Attacks of the one-shot mode on seeds that are sealed to X25519 and ML-KEM-768: opened years later, or sealed to an invalid key. */
import {
  ascii,
  combineSecrets,
  concatBytes,
  type HybridBinding,
  type HybridHolder,
  KEM_CIPHERTEXT_BYTES,
  type Kem,
  toHex,
} from '@basa/masking';
import { type Ctx, distinctEpochs, epochSecretOf, heldParts, partBinding } from '@basa/protocol';
import type { ShotOracle } from './shot-oracle.ts';
import { COUNCIL, canGive, HYBRID, honestUploads, type ShotAttack, withLyingStandings } from './shot-scene.ts';

export const ATTACKS_ON_SEALING: readonly ShotAttack[] = [
  {
    id: 'S25',
    schedule: 'an attacker records uploads and breaks X25519 later',
    without: 'randomness of ML-KEM that does not come from the seed',
    learned: ['x of U0', 'x of U1'],
    world: HYBRID,
    /** The one authority keeps its ML-KEM key; the secret behind its X25519 key is computed from the public key. */
    play(oracle) {
      for (const name of honestUploads(oracle, 2)) oracle.trace.knows(toHex(candidateSeed(oracle, name)));
    },
  },
  {
    id: 'S26',
    schedule: 'an authority publishes an invalid ML-KEM key',
    without: 'ML-KEM keys that are not checked',
    learned: ['an honest device cannot seal its seeds'],
    world: { ...COUNCIL, ...HYBRID },
    play(oracle) {
      const shown = withLyingStandings(oracle, ({ epoch }) => ({ epoch: { ...epoch, kemKey: USELESS } }));
      if (!canGive(oracle, shown)) oracle.trace.broken.add('an honest device cannot seal its seeds');
    },
  },
];

/** The result of opening the recorded copy if the randomness of ML-KEM can be derived without the seed. */
function candidateSeed(oracle: ShotOracle, name: Ctx): Uint8Array {
  const { suite } = oracle.world.environment.tools;
  const { binding, sealed } = recorded(oracle, name);
  const [part] = binding.holders as readonly [HybridHolder];
  const [keeper] = oracle.honest;
  const root = keeper?.secrets.get(toHex(part.publicKey)) as Uint8Array;
  const broken = suite.x25519(epochSecretOf(suite, 'x25519', root).agreement);
  const ephemeralKey = sealed.subarray(0, 32);
  const ciphertext = sealed.subarray(32, 32 + KEM_CIPHERTEXT_BYTES);
  const { salt, context } = binding;
  const [kem, kemKey, a] = [suite.kem as Kem, part.kemKey as Uint8Array, Uint8Array.of(part.authority)];
  const info = concatBytes(ascii('kem'), context, a, part.statement);
  const randomness = suite.hkdf({ secret: new Uint8Array(32), salt, info, length: 32 });
  const { shared } = kem.encapsulate(kemKey, randomness);
  const agreed = broken.agree(ephemeralKey) as Uint8Array;
  const secret = combineSecrets(kem, { shared, agreed, ephemeralKey, publicKey: part.publicKey });
  const names = concatBytes(ascii('pad'), a, suite.sha256(ciphertext), suite.sha256(kemKey), context);
  const pad = suite.hkdf({ secret, salt, info: names, length: 32 });
  return sealed.slice(-32).map((byte, i) => byte ^ (pad[i] as number));
}

/** The sealed part of an upload with one authority, and the context that it is bound to. */
function recorded(oracle: ShotOracle, name: Ctx): { readonly binding: HybridBinding; readonly sealed: Uint8Array } {
  const { environment, policy, shots } = oracle.world;
  const { header } = oracle.stored(name).upload;
  const [held] = heldParts(policy, header.epochs);
  if (held === undefined) throw new Error('an upload has parts');
  const binding = partBinding(environment.tools.suite, header, held, distinctEpochs(shots.view, [header]));
  return { binding, sealed: shots.shown(oracle.stored(name)).sealed };
}

/** A key with coefficients beyond the prime. All implementations of ML-KEM refuse it, but with different errors. */
const USELESS = new Uint8Array(1184).fill(0xff);
