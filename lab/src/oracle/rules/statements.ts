/** Rules for what a statement of an authority or of a server must be to count. */
import type { Ctx } from '@basa/protocol';
import type { EpochBody } from '@basa/protocol/internal/wire/model.ts';
import { oneShotOf } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import type { Adversary } from '../adversary.ts';
import { otherModel, withEpochs } from '../shown-models.ts';
import { COUNCIL, type Rule } from './rule.ts';

const FORM = 'protocol/src/one-shot/rules.ts';
const EPOCH = 'protocol/src/wire/model.ts';
/** A key with coefficients beyond the prime. All implementations of ML-KEM refuse it, but with different errors. */
const USELESS = new Uint8Array(1184).fill(0xff);

export const STATEMENT_RULES: readonly Rule[] = [
  {
    id: 'useful-keys',
    attack: 'an authority publishes an X25519 key of low order',
    without: 'X25519 keys that are not checked',
    learned: ['an honest device cannot seal its seeds'],
    world: COUNCIL,
    play: (adversary) => uselessKey(adversary, { key: new Uint8Array(32) }),
    edits: [{ file: EPOCH, find: 'return isAgreementKey(key) && (', replace: 'return key.length > 0 && (' }],
  },
  {
    id: 'useful-hybrid-keys',
    attack: 'an authority publishes an invalid ML-KEM key',
    without: 'ML-KEM keys that are not checked',
    learned: ['an honest device cannot seal its seeds'],
    world: { ...COUNCIL, oneShot: { sealing: 'x25519+mlkem768' } },
    play: (adversary) => uselessKey(adversary, { kemKey: USELESS }),
    edits: [
      {
        file: EPOCH,
        find: 'kemKey !== undefined && isKemKey(kemKey)',
        replace: 'kemKey !== undefined && (isKemKey(kemKey) || kemKey.length > 0)',
      },
    ],
  },
  {
    id: 'signed-model',
    attack: 'somebody else than the server makes up a model',
    without: 'a model that the server did not sign',
    learned: ['a device trains on a model that the server did not sign'],
    async play(adversary) {
      await adversary.honestUploads(1);
      const { signer } = (await adversary.device(true)).store;
      adversary.shown = await otherModel(adversary.kept.at(-1) as Uint8Array, signer);
      if ((await adversary.give(await adversary.device())) !== undefined)
        adversary.trace.broken.add('a device trains on a model that the server did not sign');
    },
    edits: [
      {
        file: 'protocol/src/one-shot/device.ts',
        find: 'equalBytes(statement.task, task) && isSigned(suite, ModelStatement, statement, serverKey);',
        replace: 'equalBytes(statement.task, task);',
      },
    ],
  },
  {
    id: 'one-model',
    attack: 'a batch has updates on two models',
    without: 'two models in one batch',
    learned: ['x of U0 + x of U5'],
    async play(adversary) {
      const [behind] = (await adversary.honestUploads(2)) as [Ctx];
      await adversary.makeVersion();
      const [ahead] = (await adversary.honestUploads(1)) as [Ctx];
      await adversary.close([behind, ahead]);
    },
    edits: [
      { file: FORM, find: 'if (others.length > 0 && versionMinimum >= minimum)', replace: 'if (others.length < 0)' },
      { file: FORM, find: 'if (few.length > 0)', replace: 'if (few.length < 0)' },
    ],
  },
  {
    id: 'enough-on-a-model',
    attack: 'a batch that may mix models has a single update on one of them',
    without: 'models that fewer devices than the policy says are on',
    learned: ['x of U0 + x of U1 + x of U2 + x of U7'],
    world: { policy: { bufferSize: 4, minimum: 4 }, oneShot: { versionMinimum: 2, stepUpdates: 4 } },
    async play(adversary) {
      const behind = await adversary.honestUploads(3);
      await adversary.makeVersion();
      await adversary.close([...behind, ...(await adversary.honestUploads(1))]);
    },
    edits: [{ file: FORM, find: 'if (few.length > 0)', replace: 'if (few.length < 0)' }],
  },
  {
    id: 'known-councils',
    attack: 'two of four authorities are enough',
    without: 'a threshold that one colluding authority defeats',
    learned: ['an authority serves a task in which two overlapping batches get enough votes'],
    world: COUNCIL,
    async play({ honest, policy, trace, world }) {
      for (const { url } of honest)
        if (await world.isServed(url, { ...policy, threshold: 2 }))
          trace.broken.add('an authority serves a task in which two overlapping batches get enough votes');
    },
    edits: [
      {
        file: 'protocol/src/wire/one-shot-policy.ts',
        find: 'return councilSizeProblem(task, tolerated);',
        replace: 'return councilSizeProblem(task, tolerated) === undefined ? undefined : undefined;',
      },
    ],
  },
  {
    id: 'two-liars',
    attack: 'two of six authorities collude with the server, and four are needed',
    without: 'six authorities of which two may collude',
    learned: ['x of U0 + x of U2', 'x of U1 - x of U2'],
    world: { shape: { n: 6, t: 4, f: 1 }, colluding: [0, 1] },
    /** The liars vote for both batches, and two of the others for each. */
    async play(adversary) {
      const { honest, policy, world } = adversary;
      const oneShot = { ...oneShotOf(policy), tolerated: adversary.colluding.length };
      for (const { url } of honest) if (!(await world.isServed(url, { ...policy, oneShot }))) return;
      await adversary.anew({ oneShot });
      const [a, b, c] = (await adversary.honestUploads(3)) as [Ctx, Ctx, Ctx];
      for (const [n, party] of honest.entries()) await adversary.vote(party, n % 2 === 0 ? [a, b] : [a, c]);
      for (const party of honest) {
        await adversary.release(party, [a, b]);
        await adversary.release(party, [a, c]);
      }
    },
    edits: [{ file: 'protocol/src/wire/council.ts', find: '[6, 4, 1],', replace: '[6, 4, 1], [6, 4, 2],' }],
  },
];

/** With the other authorities there are enough, so an honest device leaves the liar out. */
async function uselessKey(adversary: Adversary, change: Partial<EpochBody>): Promise<void> {
  await adversary.honestUploads(1);
  const signerOf = (index: number) => adversary.colluding.find((party) => party.index === index)?.signer;
  adversary.shown = withEpochs(adversary.kept.at(-1) as Uint8Array, () => change, signerOf);
  const given = await adversary.give(await adversary.device()).catch(() => undefined);
  if (given === undefined) adversary.trace.broken.add('an honest device cannot seal its seeds');
}
