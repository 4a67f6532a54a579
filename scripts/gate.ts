/** `npm run gate [-- <part>]`: everything but the tests that a change must pass, one part after the other, or one part. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { listOf } from '@basa/testkit/programs/named.ts';
import { FROM_SOURCE, ROOT } from '@basa/testkit/root.ts';

const bin = (name: string): string => join(ROOT, 'node_modules/.bin', name);
const here = (file: string): readonly string[] => [process.execPath, ...FROM_SOURCE, join(ROOT, 'scripts', file)];

interface Part {
  readonly about: string;
  readonly commands: readonly (readonly string[])[];
  /** True if it takes too long, or too much network, for every change. */
  readonly isApart?: boolean;
}

const PARTS: Readonly<Record<string, Part>> = {
  // Each thread of the compiler would check the declarations of libraries anew.
  types: { about: 'every source, test and program compiles', commands: [[bin('tsc'), '-b', '--singleThreaded']] },
  lint: { about: 'lint rules and format', commands: [[bin('biome'), 'ci', '--error-on-warnings', '.']] },
  unused: {
    about: 'no unused file, export or dependency',
    commands: [[bin('knip'), '--treat-config-hints-as-errors']],
  },
  sizes: {
    about: 'no room is larger than its number in lab/sizes.json',
    commands: [[process.execPath, ...FROM_SOURCE, join(ROOT, 'lab/src/main.ts'), 'sizes', '--check']],
  },
  vectors: {
    about: 'the vectors, with the client in Python and no code of ours; says so if Python has no cryptography or numpy',
    commands: [['python3', 'conformance/vectors/check.py']],
  },
  python: {
    about: 'the tests of the client in Python, if Python is there with cryptography and numpy; says so if not',
    commands: [here('check-python.ts')],
  },
  chart: {
    about:
      'the Helm chart and deploy/kubernetes, which is written from it; says so if Go is not there to render the chart',
    commands: [here('check-chart.ts')],
  },
  packages: {
    about: 'pack, lint the tarballs, install into an empty project, compile and run there',
    commands: [here('check-packages.ts')],
  },
  projects: {
    about:
      'every step that `basa new` prints, for every template, in and beside a clone and from packages (not in the gate)',
    commands: [here('check-projects.ts')],
    isApart: true,
  },
  image: {
    about:
      'the image of deploy/Dockerfile is built and both services start from it, if the machine can (not in the gate)',
    commands: [here('check-image.ts')],
    isApart: true,
  },
  nodes: {
    about:
      'the same on Node 20, 22, 24 and 26, fetched from the registry; -- nodes 22 for one of them (not in the gate)',
    commands: [here('check-nodes.ts')],
    isApart: true,
  },
};

const [name, ...words] = process.argv.slice(2);
const one = name === undefined ? undefined : PARTS[name];
if (name === '--help') {
  console.log(`Without a name, all but projects, image and nodes.\n\n${listOf('gate', PARTS)}`);
} else if (name !== undefined && one === undefined) {
  console.error(`"${name}" is not a part of the gate:\n\n${listOf('gate', PARTS)}`);
  process.exitCode = 2;
} else {
  process.exitCode = (await (one === undefined ? wholeGate() : partPasses(one, true))) ? 0 : 1;
}

/** All side by side, each with its output in one piece; only the packages wait: they need what the compiler wrote. */
async function wholeGate(): Promise<boolean> {
  const { types, packages, ...others } = PARTS;
  const parts = Object.values(others).filter(({ isApart }) => isApart !== true);
  const inTurn = async (): Promise<boolean> => {
    for (const part of [types, packages]) if (part === undefined || !(await partPasses(part, false))) return false;
    return true;
  };
  const all = await Promise.all([inTurn(), ...parts.map((part) => partPasses(part, false))]);
  return all.every((isGood) => isGood);
}

async function partPasses({ commands }: Part, isAlone: boolean): Promise<boolean> {
  for (const command of commands) if (!(await passes(command, isAlone))) return false;
  return true;
}

async function passes([program = '', ...options]: readonly string[], isAlone: boolean): Promise<boolean> {
  const child = spawn(program, [...options, ...words], {
    cwd: ROOT,
    // The compiler is a program in Go, which collects garbage less often with this.
    env: { GOGC: '400', ...process.env },
    stdio: isAlone ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  const said: Buffer[] = [];
  child.stdout?.on('data', (data: Buffer) => said.push(data));
  child.stderr?.on('data', (data: Buffer) => said.push(data));
  return new Promise((resolve) => {
    child.on('error', (error) => {
      const advice =
        'code' in error && error.code === 'ENOENT' ? 'install it, then run the command again' : error.message;
      console.error(`${program} does not start: ${advice}`);
      resolve(false);
    });
    child.on('close', (code) => {
      process.stdout.write(Buffer.concat(said));
      resolve(code === 0);
    });
  });
}
