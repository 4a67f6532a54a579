/** Worlds of the one-shot mode that the explorer walks through, and rules whose absence it must show. */
import type { SourcePatch } from '../../patched-core.ts';
import type { ShotWorldOptions } from './world-options.ts';

interface ShotWorld {
  readonly name: string;
  readonly world: ShotWorldOptions;
  /** Every state of it is reached. */
  readonly isSmall: boolean;
}

const PAIRS = { bufferSize: 2, minimum: 2 };
const COUNCIL = { council: { authorities: 4, threshold: 3, tolerated: 1 } };
const RESTORED: ShotWorldOptions = { bufferSize: 3, minimum: 3, devices: 3, eves: 1, isLying: true, restores: true };

export const SHOT_WORLDS: readonly ShotWorld[] = [
  {
    name: 'one-shot: two devices, with a crash after any record',
    world: { ...PAIRS, devices: 2, crashes: true },
    isSmall: true,
  },
  {
    name: 'one-shot: a server that asks for any batch of three updates, with crashes',
    world: { ...PAIRS, devices: 3, isLying: true, crashes: true },
    isSmall: true,
  },
  {
    name: 'one-shot: a lying server with a colluding device, and an authority that is restored',
    world: RESTORED,
    isSmall: true,
  },
  {
    name: 'one-shot: two devices, epochs that end, and a crash after any record',
    world: { ...PAIRS, devices: 2, crashes: true, hours: true },
    isSmall: false,
  },
  {
    name: 'one-shot: two devices, epochs that end, and an authority that is restored',
    world: { ...PAIRS, devices: 2, restores: true, hours: true },
    isSmall: false,
  },
  {
    name: 'one-shot: a lying server with a colluding device, epochs that end, and an authority that is restored',
    world: { ...PAIRS, devices: 2, eves: 1, isLying: true, restores: true, hours: true },
    isSmall: false,
  },
  {
    name: 'one-shot: 3 of 4 authorities, one of which colludes with a server that lies differently to each of the others',
    world: { ...PAIRS, ...COUNCIL, devices: 3, isLying: true, colluding: [0] },
    isSmall: true,
  },
  {
    name: 'one-shot: 3 of 4 authorities, one of which is down, with a crash after any record',
    world: { ...PAIRS, ...COUNCIL, devices: 2, crashes: true, gone: [0] },
    isSmall: false,
  },
];

interface MissingShotRule {
  readonly name: string;
  readonly world: ShotWorldOptions;
  readonly patches: readonly SourcePatch[];
  /** The end of the expected counterexample. */
  readonly problem: RegExp;
}

const AUTHORITY = 'packages/protocol/src/authority';
const FEDERATION = 'packages/simulator/src/federation';
const LYING: ShotWorldOptions = { ...PAIRS, devices: 3, isLying: true };

export const SHOT_RULES: readonly MissingShotRule[] = [
  {
    name: 'an authority votes once for an upload',
    world: LYING,
    patches: [
      {
        file: `${AUTHORITY}/one-shot/judge.ts`,
        find: "return isElsewhere ? refused('upload-used') : undefined;",
        replace: 'return isElsewhere ? undefined : undefined;',
      },
    ],
    problem: /two final batches share an upload/,
  },
  {
    name: 'a batch has at least Kmin devices',
    world: LYING,
    patches: [
      {
        file: 'packages/protocol/src/wire/one-shot/batch-rules.ts',
        find: 'if (headers.length < minimum)',
        replace: 'if (headers.length < 1)',
      },
    ],
    problem: /the server computes update 0/,
  },
  {
    name: 'a vote names the uploads',
    world: LYING,
    patches: [
      {
        file: 'packages/protocol/src/wire/one-shot/batch.ts',
        find: 'return batchCodec.hash(suite, batch) as Ctx;',
        replace: 'return batchCodec.hash(suite, { ...batch, number: 0, uploads: [] }) as Ctx;',
      },
    ],
    problem: /the server computes/,
  },
  {
    name: 'a release needs t votes',
    world: { ...LYING, ...COUNCIL, devices: 2, colluding: [0] },
    patches: [
      {
        file: `${AUTHORITY}/one-shot/vote.ts`,
        find: 'if (good.length < threshold) return',
        replace: 'if (good.length < 0) return',
      },
    ],
    problem: /the server computes/,
  },
  {
    name: 'a restore ends every epoch',
    world: RESTORED,
    patches: [
      {
        file: `${AUTHORITY}/rollback.ts`,
        find: '...deadEpochs(state.epochs, state.epochs.all, now),',
        replace: '...deadEpochs(state.epochs, [], now),',
      },
    ],
    problem: /two final batches share an upload/,
  },
  {
    name: 'an authority repeats its vote',
    world: { ...PAIRS, devices: 2, crashes: true },
    patches: [
      {
        file: `${AUTHORITY}/one-shot/vote.ts`,
        find: 'if (known !== undefined) return unchanged(undefined, { vote: voteOf(at, ctx), held: undefined });',
        replace: "if (known !== undefined) return declined(undefined, refused('upload-used'));",
      },
    ],
    problem: /2 updates wait, and nothing more can happen/,
  },
  {
    name: 'an upload expires only after the vote window, and this is recorded',
    world: { ...LYING, devices: 2, hours: true },
    patches: [
      {
        file: `${AUTHORITY}/one-shot/outcome.ts`,
        find: 'at >= epoch.closes + (policy.oneShot?.voteMs ?? 0);',
        replace: 'at >= 0;',
      },
      { file: `${AUTHORITY}/one-shot/outcome.ts`, find: 'records: expires ? [record] : [],', replace: 'records: [],' },
    ],
    problem: /an update that was called expired is in a final batch/,
  },
  {
    name: 'the server writes before it acknowledges',
    world: { ...PAIRS, devices: 2 },
    patches: [
      {
        file: `${FEDERATION}/one-shot-server.ts`,
        find: "this.keep({ name, upload, body, verdict: 'waiting', voters: undefined });",
        replace: '',
      },
    ],
    problem: /device 0 was acknowledged, and the server does not have its upload/,
  },
];
