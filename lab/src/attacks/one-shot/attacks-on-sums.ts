/** Attacks of the one-shot mode on sums of masks: a sum that an authority made up, and noise that the server removes. */
import { unpackVector } from '@basa/masking';
import {
  addAuthorityNoise,
  addMasksInPlace,
  inputElements,
  isRefused,
  maskSumCodec,
  type Refused,
  type TaskPolicy,
} from '@basa/protocol';
import type { ReleasedSums, ShotAuthority } from '@basa/simulator';
import { ShotOracle } from './shot-oracle.ts';
import { COUNCIL, honestUploads, PRIVACY, type ShotAttack } from './shot-scene.ts';

export const ATTACKS_ON_SUMS: readonly ShotAttack[] = [
  {
    id: 'S12',
    schedule: 'an authority signs a wrong sum of masks',
    without: 'a sum of masks that only one authority vouches for',
    learned: ['a wrong sum of masks was taken'],
    /** The server and three authorities are honest. The fourth authority adds one to a coordinate of every sum that it returns. */
    play({ world: { environment }, trace }) {
      const oracle = new ShotOracle(environment, { ...COUNCIL, dimension: 4, colluding: [] });
      const { shots, keepers } = oracle.world;
      honestUploads(oracle, 3);
      for (const keeper of keepers.slice(0, 1)) shiftSums(keeper);
      shots.inspect();
      const ctx = shots.form();
      const verdict = ctx && shots.close(ctx);
      if (verdict === undefined || isRefused(verdict) || verdict.kind !== 'good') return;
      // The server is honest here: it computes only its sum, so the trace of an unused world is judged.
      if (verdict.sum.join() !== '1,1,1,0') trace.broken.add('a wrong sum of masks was taken');
    },
  },
  {
    id: 'S18',
    schedule: 'the server removes the noise that the authority added',
    without: 'noise that the server can compute',
    learned: ['the server computes the noise'],
    world: { dimension: 64, level: 64, privacy: PRIVACY, authorityNoise: true },
    /** Asks twice, and with values the server can make up in place of the epoch's secret. */
    play(oracle) {
      const { policy, environment } = oracle.world;
      const { tools } = environment;
      const [keeper] = oracle.honest;
      const names = honestUploads(oracle, 3);
      if (keeper === undefined) throw new Error('no authority');
      const masks = new Uint32Array(inputElements(policy));
      keeper.onSum = (_, part, uploads) => {
        const copies = uploads.map(({ name, seed }) => ({ name, seed: seed.slice() }));
        addMasksInPlace(masks.fill(0), { suite: tools.suite, tools }, policy, part, copies);
      };
      oracle.vote(keeper, names);
      const [first, second] = [0, 1].map(() => releasedVector(oracle.release(keeper, names), policy));
      if (first === undefined || second === undefined) return;
      if (first.join() !== second.join()) oracle.trace.broken.add('the noise is drawn anew for every answer');
      const guessed = masks.slice();
      addAuthorityNoise(guessed, { suite: tools.suite, tools }, policy, new Uint8Array(32), oracle.ctxOf(names));
      if (guessed.join() === first.join()) oracle.trace.broken.add('the server computes the noise');
      if (masks.join() === first.join()) oracle.trace.broken.add('the sum has no noise');
    },
  },
];

function shiftSums(keeper: ShotAuthority): void {
  const release = keeper.release.bind(keeper);
  const { suite, signer } = keeper.base.ports;
  keeper.release = (bytes) => {
    const answer = release(bytes);
    if (isRefused(answer)) return answer;
    const vectors = answer.vectors.map(shifted);
    const sums = answer.answer.sums.map((sum, n) => {
      const vector = vectors[n];
      const body = { ...sum, hash: vector === undefined ? sum.hash : suite.sha256(vector) };
      return { ...body, signature: signer.sign(maskSumCodec.statement(body)) };
    });
    return { answer: { ...answer.answer, sums }, vectors } satisfies ReleasedSums;
  };
}

/** Subtracts one from the last coordinate, before the guard words, so that the server's sum has one more there. */
function shifted(packed: Uint8Array): Uint8Array {
  const wrong = packed.slice();
  const last = wrong.length - 20;
  wrong[last] = (wrong[last] as number) ^ 1;
  return wrong;
}

function releasedVector(answer: ReleasedSums | Refused, policy: TaskPolicy) {
  if (isRefused(answer)) return undefined;
  const [packed = new Uint8Array()] = answer.vectors;
  const unpacked = unpackVector(packed, inputElements(policy), policy.modulus);
  return unpacked.kind === 'vector' ? unpacked.vector : undefined;
}
