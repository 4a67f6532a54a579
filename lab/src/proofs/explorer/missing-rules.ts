/** Rules whose absence the explorer must show, each with a world in which it is missed. */
import type { SourcePatch } from '../patched-core.ts';
import type { ExploreOptions } from './explore.ts';
import type { BrokenRule } from './explored-world.ts';
import type { LogOptions } from './model-logs.ts';
import { councilOf, ONE_IS_GONE } from './worlds.ts';

interface MissingRule {
  /** Appears in the name of the test that fails without the rule, as `[R19]`. */
  readonly id?: string;
  readonly name: string;
  readonly world: ExploreOptions;
  readonly patches?: readonly SourcePatch[];
  /** The end of the expected counterexample. */
  readonly problem: RegExp;
}

/** Rules of the host: the environment breaks them. */
export const HOST_RULES: readonly (MissingRule & { readonly name: BrokenRule })[] = [
  {
    id: 'R19',
    name: 'server answers before it writes',
    world: { bufferSize: 2 },
    problem: /user 0 was acknowledged, and the server does not have it/,
  },
  {
    name: 'server loses its last record',
    world: { bufferSize: 2 },
    problem: /user 0 was acknowledged, and the server does not have it/,
  },
  {
    id: 'R20',
    name: 'server asks for close before it froze',
    world: { bufferSize: 2 },
    problem: /the authority closed slots 0,1, and the server has fixed nothing/,
  },
  {
    name: 'authority answers before it writes',
    world: { bufferSize: 2 },
    problem: /the server aborted a buffer that the authority did not abort/,
  },
  {
    name: 'authority starts without its witness',
    world: { bufferSize: 2 },
    problem: /the server aborted a buffer that the authority did not abort/,
  },
  {
    name: 'user forgets its last record',
    world: { bufferSize: 2 },
    problem: /user 0 signed two key requests in one buffer/,
  },
  {
    name: 'user forgets where its update went',
    world: { bufferSize: 2, buffers: 2, still: true },
    problem: /one update is in buffers 0 and 1/,
  },
];

const AUTHORITY = 'packages/protocol/src/authority';
const SERVER = 'packages/protocol/src/server';
const USER = 'packages/protocol/src/user';

/** Rules of the core: a patched copy lacks them. */
export const CORE_RULES: readonly MissingRule[] = [
  {
    name: 'either the self key or the edge key of a slot',
    world: { bufferSize: 2, still: true },
    patches: [
      {
        file: `${AUTHORITY}/close.ts`,
        find: "keys.push({ slot, role: entry === undefined ? 'edge' : 'self', key });",
        replace: `keys.push(
          position > 0
            ? { slot: 0 as Slot, role: 'edge', key: own.keys.edge(slot) }
            : { slot, role: entry === undefined ? 'edge' : 'self', key },
        );`,
      },
    ],
    problem: /self and edge keys of slot 0 were both released/,
  },
  {
    name: 'no close below the minimum',
    world: { bufferSize: 2, still: true },
    patches: [
      { file: `${AUTHORITY}/close.ts`, find: 'accepted.length < descriptor.minimum', replace: 'accepted.length < 1' },
      {
        file: `${SERVER}/close.ts`,
        find: 'accepted.length < buffer.descriptor.minimum',
        replace: 'accepted.length < 1',
      },
    ],
    problem: /closed with 1 slots, below the minimum/,
  },
  {
    name: 'a slot is given once',
    world: { bufferSize: 2, still: true },
    patches: [
      {
        file: `${SERVER}/deposit.ts`,
        find: 'slot: buffer.slots.length as Slot',
        replace: 'slot: Math.max(0, buffer.slots.length - 1) as Slot',
      },
    ],
    problem: /slot 0 was given to two deposits/,
  },
  {
    name: 'a closed buffer stays closed',
    world: { bufferSize: 2 },
    patches: [
      {
        file: `${AUTHORITY}/buffer.ts`,
        find: "const isDecided = buffer.status !== 'open' || buffer.voted !== undefined || buffer.version !== undefined;",
        replace: "const isDecided = buffer.status === 'aborted';",
      },
    ],
    problem: /the server is (granted|included), the authority aborted|and then another "aborted"/,
  },
  {
    name: 'an update goes to one buffer',
    world: { bufferSize: 2, buffers: 2, still: true },
    patches: [
      {
        file: `${USER}/ledger.ts`,
        find: 'const isSame = given === undefined ||',
        replace: 'const isSame = given !== null ||',
      },
    ],
    problem: /one update is in buffers 0 and 1/,
  },
  {
    name: 'the server aborts only with a signed outcome',
    world: { bufferSize: 2 },
    patches: [
      {
        file: `${SERVER}/close.ts`,
        find: "(isGranted(buffer) && outcome?.status === 'unknown')",
        replace: 'isGranted(buffer)',
      },
      {
        file: `${AUTHORITY}/buffer.ts`,
        find: "status: buffer?.status ?? 'unknown'",
        replace: "status: buffer?.status === 'closed' ? 'aborted' : (buffer?.status ?? 'unknown')",
      },
    ],
    problem: /the server aborted a buffer that the authority did not abort/,
  },
  {
    name: 'the state follows from its records',
    world: { bufferSize: 2, still: true },
    patches: [
      {
        file: `${SERVER}/accept.ts`,
        find: "records: [entry],\n    answer: { kind: 'accepted' },",
        replace: "records: [],\n    answer: { kind: 'accepted' },",
      },
    ],
    problem: /the server restored from its records differs from before/,
  },
  {
    name: 'an authority that voted does not abort',
    world: councilOf(2, 2),
    patches: [{ file: `${AUTHORITY}/buffer.ts`, find: 'buffer.voted !== undefined || ', replace: '' }],
    problem: /the buffer is undecided|is granted, and/,
  },
  {
    id: 'R21',
    name: 'an authority repeats its answer',
    world: { bufferSize: 2, still: true, crashes: true },
    patches: [
      {
        file: `${AUTHORITY}/close.ts`,
        find: "if (buffer.status === 'closed') return unchanged(buffer, { buffer });",
        replace: '',
      },
    ],
    problem: /is lost: the server is frozen, the authority closed/,
  },
  {
    id: 'R22',
    name: 'receipts replace missing records',
    world: ONE_IS_GONE,
    patches: [
      {
        file: `${AUTHORITY}/close.ts`,
        find: 'own + othersOf(descriptor, signer, receipt) >= descriptor.threshold &&',
        replace: 'own > 0 &&',
      },
    ],
    problem: /the buffer is undecided, and nothing more can happen/,
  },
  {
    id: 'R23',
    name: 't votes are enough',
    world: ONE_IS_GONE,
    patches: [
      {
        file: `${SERVER}/close.ts`,
        find: 'closed.length >= threshold',
        replace: 'closed.length >= buffer.descriptor.parts.length',
      },
    ],
    problem: /the buffer is undecided, and nothing more can happen/,
  },
];

const THREE_LOGS: LogOptions = { authorities: 3, threshold: 3, colluding: 0 };
const ONE_LOG: LogOptions = { authorities: 1, threshold: 1, colluding: 0 };
const TASK = `${AUTHORITY}/task.ts`;

/** Rules of the model log; a lying server asks each authority for another version. */
export const LOG_RULES: readonly (Omit<MissingRule, 'world'> & { readonly world: LogOptions })[] = [
  {
    id: 'R14',
    name: 'one hash for a version',
    world: { ...THREE_LOGS, batches: 1 },
    patches: [
      {
        file: TASK,
        find: 'const known = appendTo.logged ?? (task.signed?.version === append.version ? task.signed : undefined);',
        replace: 'const known = task.signed?.version === append.version ? undefined : appendTo.logged;',
      },
    ],
    problem: /one version has two entries that enough authorities signed/,
  },
  {
    id: 'R15',
    name: 'a version is made of a closed buffer',
    world: ONE_LOG,
    patches: [
      {
        file: TASK,
        find: "if (known === undefined) return isVoted ? undefined : refused('buffer-unknown');",
        replace: 'if (known === undefined) return undefined;',
      },
    ],
    problem: /a version was made of a sum that is not closed/,
  },
  {
    id: 'R16',
    name: 'a buffer makes one version',
    world: ONE_LOG,
    patches: [{ file: TASK, find: "if (known.version !== undefined) return refused('buffer-used');", replace: '' }],
    problem: /one sum made two versions/,
  },
  {
    id: 'R17',
    name: 'a version follows the newest one',
    world: { ...THREE_LOGS, models: 1, batches: 1 },
    patches: [
      {
        file: TASK,
        find: 'if (isPast || append.version !== (newest === undefined ? 0 : newest.version + 1))',
        replace: 'if (newest === undefined && append.version !== 0)',
      },
    ],
    problem: /one sum made two versions/,
  },
  {
    id: 'R18',
    name: 'only entries with t signatures are adopted',
    world: { ...THREE_LOGS, batches: 1 },
    patches: [
      {
        file: TASK,
        find: 'if (!equalBytes(entry.task, id) || !isEndorsed(suite, modelEntryCodec, policy, entry))',
        replace: 'if (!equalBytes(entry.task, id) || suite.sha256(entry.modelHash).length + policy.threshold === 0)',
      },
    ],
    problem: /two logs differ at version 1/,
  },
];

/** Small ones are explored to the end. */
export const LOG_WORLDS: readonly (LogOptions & { readonly isSmall: boolean })[] = [
  { ...ONE_LOG, isSmall: true },
  { ...THREE_LOGS, batches: 2, isSmall: true },
  { authorities: 4, threshold: 3, colluding: 1, isSmall: false },
];
