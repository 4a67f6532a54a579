/** `npm run lab -- bench <name>`: one benchmark, as a table or ending with one line of JSON. */
import { type Command, CommandError, type CommandInput, command } from '@basa/cli/internal/shell/command.ts';
import { yes } from '@basa/cli/internal/shell/flag.ts';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import type { BenchResult } from '../bench/result.ts';

const FLAGS = {
  quick: yes('fewer sizes, for the buffers, the server and the protocols'),
  whole: yes('K = 1000 as well, for the buffers: a quarter of an hour of one core'),
};
type BenchOptions = CommandInput<typeof FLAGS>['flags'];

type Benchmark = (options: BenchOptions) => BenchResult | Promise<BenchResult>;

const ABOUT = {
  abe: 'attribute-based encryption, beside the bare operations of its library',
  browser: 'masking in a worker of Chromium, beside the same in Node',
  buffers: 'users, server and authority for buffers of K = 10 to 300, and a close beside its mask expansions',
  masking: 'expanding and adding masks, beside openssl speed on the same bytes',
  messages: 'bytes of every message of a user, by K and width',
  nodes: 'deposits and uploads at 1, 2 and 3 nodes on PostgreSQL, beside the embedded server',
  protocols: 'what a user and the server compute and send, BASA beside plain, SecAgg, SecAgg+ and LightSecAgg',
  python: 'a contribution of a device in Python, beside one of a Node device',
  sealing:
    'one seed sealed and opened with slot keys and with CP-ABE, and the parts of a one-shot upload with and without ML-KEM',
  server: 'durable uploads, beside node:http and bare TCP that discard; deposits, keys, closes',
  training: 'samples a second of the four models, beside the matrix product of the same kernel',
} as const;

/** Loaded when they are asked for. */
const LOAD: Readonly<Record<keyof typeof ABOUT, () => Promise<Benchmark>>> = {
  abe: async () => (await import('../bench/abe.ts')).benchAbe,
  browser: async () => (await import('../bench/browser.ts')).benchBrowser,
  buffers: async () => (await import('../bench/buffers.ts')).benchBuffers,
  masking: async () => (await import('../bench/masking.ts')).benchMasking,
  messages: async () => (await import('../bench/messages.ts')).benchMessages,
  nodes: async () => (await import('../bench/nodes.ts')).benchNodes,
  protocols: async () => (await import('../bench/protocols.ts')).benchProtocols,
  python: async () => (await import('../bench/python.ts')).benchPython,
  sealing: async () => (await import('../bench/sealing.ts')).benchSealing,
  server: async () => (await import('../bench/server.ts')).benchServer,
  training: async () => (await import('../bench/training.ts')).benchTraining,
};

export const bench: Command = command({
  name: 'bench',
  summary: 'measures one part of the product, beside a named limit or peer',
  takes: ABOUT,
  flags: FLAGS,
  opening: 'measuring',
  async run(input) {
    const [name = ''] = input.positionals;
    if (!isBenchmark(name))
      throw new CommandError(`a benchmark is one of ${Object.keys(ABOUT).join(', ')}, got "${name}"`);
    const { text, json } = await measured(await LOAD[name](), input.flags);
    input.terminal.line(text);
    return { json };
  },
});

function isBenchmark(name: string): name is keyof typeof ABOUT {
  return Object.hasOwn(ABOUT, name);
}

/** Reports a missing program like any other mistake of a command. */
async function measured(run: Benchmark, options: BenchOptions): Promise<BenchResult> {
  try {
    return await run(options);
  } catch (error) {
    throw error instanceof MissingError ? new CommandError(error.message) : error;
  }
}
