/** `npm run gate [-- <part>]`: everything but the tests that a change must pass, one part after the other, or one part. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listOf } from '@basa/testkit/programs/named.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name: string): string => join(root, 'node_modules/.bin', name);
const here = (file: string): readonly string[] => [process.execPath, '--import', 'tsx', join(root, 'scripts', file)];

interface Part {
  readonly about: string;
  readonly commands: readonly (readonly string[])[];
  /** True where it takes too long, or too much network, for every change. */
  readonly isApart?: boolean;
}

const PARTS: Readonly<Record<string, Part>> = {
  types: { about: 'every source, test and program compiles', commands: [[bin('tsc'), '-b']] },
  lint: { about: 'lint rules and format', commands: [[bin('biome'), 'ci', '--error-on-warnings', '.']] },
  unused: {
    about: 'no unused file, export or dependency',
    commands: [[bin('knip'), '--treat-config-hints-as-errors']],
  },
  vectors: {
    about: "the vectors, with Python's standard library and openssl, sharing no code with us",
    commands: ['check', 'check_slot_keys', 'check_protocol', 'check_baselines'].map((name) => [
      'python3',
      `vectors/${name}.py`,
    ]),
  },
  packages: {
    about: 'pack, lint the tarballs, install into an empty project, compile and run there',
    commands: [here('check-packages.ts')],
  },
  nodes: {
    about: 'the same on Node 20, 22 and 24, fetched from the registry; -- nodes 22 for one of them (not in the gate)',
    commands: [here('check-nodes.ts')],
    isApart: true,
  },
};

const [name, ...words] = process.argv.slice(2);
const one = name === undefined ? undefined : PARTS[name];
if (name === '--help') {
  console.log(`Without a name, all but nodes.\n\n${listOf('gate', PARTS)}`);
} else if (name !== undefined && one === undefined) {
  console.error(`"${name}" is not a part of the gate:\n\n${listOf('gate', PARTS)}`);
  process.exitCode = 2;
} else {
  const parts = one === undefined ? Object.values(PARTS).filter(({ isApart }) => isApart !== true) : [one];
  process.exitCode = parts.flatMap(({ commands }) => commands).every((command) => passes(command)) ? 0 : 1;
}

function passes([program = '', ...options]: readonly string[]): boolean {
  const { status, error } = spawnSync(program, [...options, ...words], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (error !== undefined) console.error(`${program} does not start: ${error.message}`);
  return status === 0;
}
