/** What an engine costs: sealing in one go and in its two parts, opening with a key that is known, a key. */
import { abeSealing, createMclGroup, decodePublicKey, EncryptionPool, warmUpPairing } from '@basa/abe';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { Sealings } from '@basa/simulator';
import { abeSealings, identitySealings } from '../simulation/real-sealings.ts';
import type { SealingPrices } from './costs.ts';
import type { Sampled, Sampling } from './sampling.ts';
import { sample } from './sampling.ts';

/** More than a sealing keeps prepared. */
const KEYS = 40;
const NOTHING: Sampled = { ms: 0, spread: 0 };
const [SEED, ATTRIBUTE, CONTEXT] = [nodeRandomBytes(32), nodeRandomBytes(32), nodeRandomBytes(70)];

/** With a pool, as the client has one: what can be made ahead is made ahead. */
export async function abePrices(sampling: Sampling): Promise<SealingPrices> {
  const sealings = abeSealings();
  const group = await createMclGroup();
  warmUpPairing(group); // as a client does: a cold process is several times slower
  const publicKey = decodePublicKey(sealings.issuer.publicKey, group);
  const tools = { group, suite: nodeSuite, randomBytes: nodeRandomBytes };
  const pool = new EncryptionPool(publicKey, tools);
  pool.buildTables();
  const pooled = abeSealing({ publicKey, pool, ...tools });
  const prepare = sample('cp-abe prepare', () => pool.prepare(1), sampling);
  pool.prepare(1000);
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
export function identityPrices(sampling: Sampling): SealingPrices {
  const whole = wholePrices('identity', identitySealings(), sampling);
  return { ...whole, prepare: NOTHING, online: whole.seal };
}

function wholePrices(
  name: string,
  { sealing, issuer }: Sealings,
  sampling: Sampling,
): Omit<SealingPrices, 'prepare' | 'online'> {
  const key = issuer.issue(ATTRIBUTE);
  const sealed = sealing.seal(SEED, ATTRIBUTE, CONTEXT);
  const many = Array.from({ length: KEYS }, () => {
    const attribute = nodeRandomBytes(32);
    return { key: issuer.issue(attribute), sealed: sealing.seal(SEED, attribute, CONTEXT) };
  });
  let turn = 0;
  return {
    seal: sample(`${name} seal`, () => void sealing.seal(SEED, ATTRIBUTE, CONTEXT), sampling),
    open: sample(`${name} open`, () => void sealing.open(sealed, key, CONTEXT), sampling),
    openByNewKey: sample(
      `${name} open by another key`,
      () => {
        const next = many[turn++ % KEYS] as (typeof many)[number];
        void sealing.open(next.sealed, next.key, CONTEXT);
      },
      sampling,
    ),
    issue: sample(`${name} key`, () => void issuer.issue(ATTRIBUTE), sampling),
    sealedBytes: sealed.length,
    keyBytes: key.length,
  };
}
