/** Attacks of the one-shot mode on the membership of batches: overlapping batches, too few devices, several models, too few votes. */
import type { Ctx } from '@basa/protocol';
import { COUNCIL, type Colluder, colluders, honestUploads, type ShotAttack, twoUploads } from './shot-scene.ts';

export const ATTACKS_ON_BATCHES: readonly ShotAttack[] = [
  {
    id: 'S2',
    schedule: 'one upload is in two batches',
    without: 'an upload that gets two votes of an authority',
    learned: ['x of U0 + x of U2', 'x of U1 - x of U2'],
    play(oracle) {
      const [a, b, c] = honestUploads(oracle, 3) as [Ctx, Ctx, Ctx];
      oracle.close([a, b]);
      oracle.close([a, c], 1);
    },
  },
  {
    id: 'S23',
    schedule: 'a batch has the same number as another batch that got votes',
    without: 'votes for the number of a batch instead of its uploads',
    learned: ['x of U0 + x of U2', 'x of U1 - x of U2'],
    /** The server chooses the number of a batch; a vote must be for its uploads. */
    play(oracle) {
      const [a, b, c] = honestUploads(oracle, 3) as [Ctx, Ctx, Ctx];
      oracle.close([a, b]);
      for (const keeper of oracle.honest) oracle.release(keeper, [a, c]);
    },
  },
  {
    id: 'S3',
    schedule: 'the server shows each authority a different batch, and asks for its release',
    without: 'a batch released without enough votes',
    learned: ['x of U0', 'x of U1', 'x of U2'],
    world: COUNCIL,
    play(oracle) {
      const [a, b, c] = honestUploads(oracle, 3) as [Ctx, Ctx, Ctx];
      const lists = [
        [a, b],
        [a, c],
        [b, c],
      ];
      for (const [n, keeper] of oracle.honest.entries()) oracle.vote(keeper, lists[n] as Ctx[], n);
      for (const keeper of oracle.honest) for (const [n, list] of lists.entries()) oracle.release(keeper, list, n);
    },
  },
  {
    id: 'S4',
    schedule: 'two of four authorities are enough',
    without: 'a threshold that one colluding authority defeats',
    learned: ['x of U0 + x of U2', 'x of U1 - x of U2'],
    isRefusedTask: true,
    world: { ...COUNCIL, council: { authorities: 4, threshold: 2 } },
    play(oracle) {
      const [a, b, c] = honestUploads(oracle, 3) as [Ctx, Ctx, Ctx];
      const [first, second] = oracle.honest;
      if (first) oracle.vote(first, [a, b]);
      if (second) oracle.vote(second, [a, c], 1);
      for (const keeper of oracle.honest) {
        oracle.release(keeper, [a, b]);
        oracle.release(keeper, [a, c], 1);
      }
    },
  },
  {
    id: 'S5',
    schedule: 'a batch has fewer devices than the policy requires',
    without: 'a batch with too few devices',
    learned: ['x of U0'],
    world: { minimum: 3 },
    play(oracle) {
      const [a] = honestUploads(oracle, 1) as [Ctx];
      const [eve] = colluders(oracle, 1) as readonly [Colluder];
      oracle.close([a]);
      oracle.close([a, eve.name], 1);
    },
  },
  {
    id: 'S6',
    schedule: 'one colluder fills a batch',
    without: 'one device twice in a batch',
    learned: ['x of U0', 'a device is in a batch twice'],
    world: { minimum: 3 },
    /** Two uploads of one colluder in a batch with the victim's. */
    play(oracle) {
      const [a] = honestUploads(oracle, 1) as [Ctx];
      const [first, second] = twoUploads(oracle);
      oracle.close([a, first, second]);
    },
  },
  {
    id: 'S7',
    schedule: 'a device gives two updates on one version',
    without: 'two updates of a device on one version',
    learned: ['two updates of one device on one version are in sums'],
    /** Nearly the same update, under another tag, in a second sum with other devices. */
    play(oracle) {
      const [a, b] = honestUploads(oracle, 2) as [Ctx, Ctx];
      const [first, second] = twoUploads(oracle);
      const isFirst = oracle.close([a, first]);
      const isSecond = oracle.close([b, second], 1);
      if (isFirst && isSecond) oracle.trace.broken.add('two updates of one device on one version are in sums');
    },
  },
  {
    id: 'S9',
    schedule: 'a batch has updates on two models',
    without: 'two models in one batch',
    learned: ['a batch has updates on two models'],
    play(oracle) {
      const [a, b, c] = honestUploads(oracle, 3) as [Ctx, Ctx, Ctx];
      oracle.close([a, b]);
      oracle.logVersion([a, b]);
      const [d] = honestUploads(oracle, 1) as [Ctx];
      oracle.close([c, d], 1);
    },
  },
];
