/** The areas that are mutated, each with its tests: the rules of the protocol's parties, their messages, and decisions of services and devices. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';

export interface Area {
  readonly name: string;
  /** Paths from the root. */
  readonly files: readonly string[];
  readonly tests: readonly string[];
  /** Decoders advance with each call: see `mutantsOf`. */
  readonly readsOn: boolean;
}

const PROTOCOL = 'packages/protocol';
const SCENARIOS = ['cheats', 'reproductions'].map((name) => `lab/test/proofs/${name}.test.ts`);
/** Codecs contain no rule of the parties, real sealing takes too long for them, and paper mode has its own cores. */
const NOT_OF_PARTIES = ['codec', 'real-sealing', 'paper'];
/** Many of their steps wait for a clock or for another process. */
const SLOW = ['faults', 'idle-places', 'long-requests', 'nodes.long'];
const SEALING = ['codec', 'hybrid-sealing', 'kem-key', 'sealing', 'shamir', 'slot-key-list', 'slot-keys'];

export function areas(): readonly Area[] {
  const tests = testsIn(`${PROTOCOL}/test`);
  return [
    {
      name: 'parties',
      files: ['admission', 'authority', 'server', 'user'].flatMap((name) => listed(`${PROTOCOL}/src/${name}`)),
      tests: [...tests.filter((test) => !NOT_OF_PARTIES.some((name) => test.includes(`/${name}`))), ...SCENARIOS],
      readsOn: false,
    },
    {
      name: 'messages',
      files: [...listed(`${PROTOCOL}/src/wire`), ...SEALING.map((name) => `packages/masking/src/${name}.ts`)],
      tests: [
        ...tests,
        ...['codec', 'shamir', 'secret'].map((name) => `packages/masking/test/${name}.test.ts`),
        ...['hybrid-sealing', 'kem', 'slot-keys'].map((name) => `packages/runtime/test/${name}.test.ts`),
        'test/slot-key-vectors.test.ts',
        'test/vectors.test.ts',
        ...SCENARIOS,
      ],
      readsOn: true,
    },
    {
      name: 'services',
      files: [
        ...[
          'keys/shot-secrets',
          'log/shot-rules',
          'steps/inspect-uploads',
          'steps/release-sums',
          'steps/shot-epochs',
        ].map((name) => `packages/authority/src/${name}.ts`),
        ...['admission', 'shots'].flatMap((name) => listed(`packages/server/src/${name}`)),
        'packages/server/src/tasks/terms.ts',
        ...['standings', 'terms'].map((name) => `packages/client/src/session/${name}.ts`),
      ],
      tests: [
        ...testsIn('packages/authority/test/one-shot'),
        ...['admission', 'shots', 'tasks'].flatMap((name) => testsIn(`packages/server/test/${name}`)),
        'packages/server/test/store/store.test.ts',
        ...['standings', 'terms'].map((name) => `packages/client/test/${name}.test.ts`),
      ].filter((test) => !SLOW.some((name) => test.endsWith(`/${name}.test.ts`))),
      readsOn: true,
    },
  ];
}

function testsIn(folder: string): readonly string[] {
  return listed(folder).filter((name) => name.endsWith('.test.ts'));
}

function listed(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => `${folder}/${name}`);
}
