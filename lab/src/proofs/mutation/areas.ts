/** The areas that are mutated, each with its tests: the rules of the protocol's parties, and their messages. */
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
const SEALING = ['codec', 'hybrid-sealing', 'kem-key', 'sealing', 'shamir', 'slot-key-list', 'slot-keys'];

export function areas(): readonly Area[] {
  const tests = listed(`${PROTOCOL}/test`).filter((name) => name.endsWith('.test.ts'));
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
  ];
}

function listed(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => `${folder}/${name}`);
}
