/** The costs of an engine: sealing in one go and in its two parts, opening with a known key, issuing a key. */
import { abeSealing, createMclGroup, decodePublicKey, EncryptionPool, warmUpPairing } from '@basa/abe';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { type Sealings, sealingTrial } from '@basa/simulator';
import { abeSealings, slotKeySealings } from '../simulation/real-sealings.ts';
import type { SealingPrices } from './costs.ts';
import { type Sampled, type Sampling, sample } from './sampling.ts';

/** The number that the most careful measurement needs; a hasty one uses only a few of them. */
const MAX_PREPARED = 1000;
const MIN_PREPARED = 100;
/** More than a sealing caches. */
const KEYS = 40;
const NOTHING: Sampled = { ms: 0, spread: 0 };
const [SEED, ATTRIBUTE, CONTEXT] = [nodeRandomBytes(32), nodeRandomBytes(32), nodeRandomBytes(70)];

/** With a pool, like the client: everything that can be made ahead is made ahead. */
export async function abePrices(sampling: Sampling): Promise<SealingPrices> {
  const sealings = abeSealings();
  const group = await createMclGroup();
  warmUpPairing(group); // like a client: a cold process is several times slower
  const publicKey = decodePublicKey(sealings.issuer.publicKey, group);
  const tools = { group, suite: nodeSuite, randomBytes: nodeRandomBytes };
  const pool = new EncryptionPool(publicKey, tools);
  pool.buildTables();
  const pooled = abeSealing({ publicKey, pool, ...tools });
  const prepare = sample('cp-abe prepare', () => pool.prepare(1), sampling);
  pool.prepare(Math.min(MAX_PREPARED, Math.max(MIN_PREPARED, sampling.samples * sampling.tries * sampling.minMs)));
  const online = sample(
    'cp-abe online',
    () => {
      if (pool.size === 0) throw new Error('the pool ran dry');
      void pooled.seal(SEED, ATTRIBUTE, CONTEXT);
    },
    sampling,
  );
  pool.destroy();
  return { ...wholePrices('cp-abe', sealings, sampling), prepare, online };
}

/** This engine has no part that could be made ahead. */
export function slotKeyPrices(sampling: Sampling): SealingPrices {
  const whole = wholePrices('slot keys', slotKeySealings(), sampling);
  return { ...whole, prepare: NOTHING, online: whole.seal };
}

/** In a buffer with as many slots as there are keys to switch between. */
function wholePrices(name: string, sealings: Sealings, sampling: Sampling): Omit<SealingPrices, 'prepare' | 'online'> {
  const { sealedBytes, keyBytes, seal, open, openByNewKey, issue } = sealingTrial(sealings, KEYS, nodeRandomBytes);
  return {
    seal: sample(`${name} seal`, seal, sampling),
    open: sample(`${name} open`, open, sampling),
    openByNewKey: sample(`${name} open by another key`, openByNewKey, sampling),
    issue: sample(`${name} key`, issue, sampling),
    sealedBytes,
    keyBytes,
  };
}
