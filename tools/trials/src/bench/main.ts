/** `npm run bench -- <name> [--json]`: one benchmark, as a table or ending with one line of JSON. */
import { parseArgs } from 'node:util';
import { sayingWhatIsMissing } from '@basa/testkit/programs/missing.ts';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';
import type { BenchResult } from './result.ts';

const BENCHMARKS: Readonly<
  Record<
    string,
    {
      readonly about: string;
      readonly run: (options: { readonly quick: boolean; readonly whole: boolean }) => Promise<BenchResult>;
    }
  >
> = {
  abe: {
    about: 'attribute-based encryption, beside the bare operations of its library',
    run: async () => (await import('./abe.ts')).benchAbe(),
  },
  browser: {
    about: 'masking in a worker of Chromium, beside the same in Node',
    run: async () => (await import('./browser.ts')).benchBrowser(),
  },
  buffers: {
    about: 'users, server and authority for buffers of K = 10 to 300, and a close beside its mask expansions',
    run: async (options) => (await import('./buffers.ts')).benchBuffers(options),
  },
  masking: {
    about: 'expanding and adding masks, beside openssl speed on the same bytes',
    run: async () => (await import('./masking.ts')).benchMasking(),
  },
  messages: {
    about: 'bytes of every message of a user, by K and width',
    run: async () => (await import('./messages.ts')).benchMessages(),
  },
  nodes: {
    about: 'deposits and uploads at 1, 2 and 3 nodes on PostgreSQL, beside the embedded server',
    run: async () => (await import('./nodes.ts')).benchNodes(),
  },
  protocols: {
    about: 'what a user and the server compute and send, BASA beside plain, SecAgg, SecAgg+ and LightSecAgg',
    run: async (options) => (await import('./protocols.ts')).benchProtocols(options),
  },
  sealing: {
    about: 'one seed sealed and opened with slot keys and with CP-ABE, beside X25519 and pairings',
    run: async () => (await import('./sealing.ts')).benchSealing(),
  },
  server: {
    about: 'durable uploads, beside node:http and bare TCP that discard; deposits, keys, closes',
    run: async (options) => (await import('./server.ts')).benchServer(options),
  },
  training: {
    about: 'samples a second of the four models, beside the matrix product of the same kernel',
    run: async () => (await import('./training.ts')).benchTraining(),
  },
};

const USAGE = `npm run bench -- <name> [--quick] [--json]

${Object.entries(BENCHMARKS)
  .map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`)
  .join('\n')}

  --quick    fewer sizes, for the buffers, the server and the protocols
  --whole    K = 1000 as well, for the buffers: a quarter of an hour of one core
  --json     end standard output with one line that is one JSON object
  --help     this text`;

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      whole: { type: 'boolean', default: false },
      ...SWITCHES,
    },
  });
  await sayingWhatIsMissing(() => main(positionals, values));
} catch (error) {
  if (!(error instanceof TypeError && 'code' in error)) throw error;
  fail(error.message);
}

async function main(
  names: readonly string[],
  options: { readonly json: boolean; readonly quick: boolean; readonly whole: boolean; readonly help: boolean },
): Promise<void> {
  const [name, ...rest] = names;
  if (options.help || process.argv.length === 2) return console.log(USAGE);
  const benchmark = name === undefined ? undefined : BENCHMARKS[name];
  if (benchmark === undefined || rest.length > 0) {
    return fail(name === undefined ? 'which benchmark?' : `there is no benchmark "${names.join(' ')}"`);
  }
  const { text, json } = await benchmark.run(options);
  console.log(text);
  if (options.json) console.log(JSON.stringify(json));
}

function fail(problem: string): void {
  console.error(`${problem}\n\n${USAGE}`);
  process.exitCode = 2;
}
