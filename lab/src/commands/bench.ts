/** `npm run lab -- bench <name>`: runs one benchmark, and prints a table or a last line of JSON. */
import { type Command, CommandError, command, yes } from '@basa/cli/internal/shell/command.ts';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import type { BenchOptions, BenchResult } from '../bench/result.ts';

type Benchmark = (options: BenchOptions) => BenchResult | Promise<BenchResult>;

const ABOUT = {
  batches: 'cost of one batch of K = 1,000 and K = 10,000 for a user, the server and the authority',
  browser: 'masking in a Chromium worker, compared with Node',
  masking: 'expanding and adding masks, compared with openssl speed on the same bytes',
  protocols:
    'computation and traffic of a user and of the server: BASA compared with plain, SecAgg, SecAgg+ and LightSecAgg',
  python: 'one contribution of a Python device, compared with a Node device',
  sealing: 'sealing and opening the parts of one upload, with and without ML-KEM',
  server: 'durable uploads, compared with a node:http server that discards the data; also the steps of a batch',
  training: 'training samples per second of the four models, compared with the matrix product of the same kernel',
} as const;

/** Each benchmark is loaded only when it runs. */
const LOAD: Readonly<Record<keyof typeof ABOUT, () => Promise<Benchmark>>> = {
  batches: async () => (await import('../bench/batches.ts')).benchBatches,
  browser: async () => (await import('../bench/browser.ts')).benchBrowser,
  masking: async () => (await import('../bench/masking.ts')).benchMasking,
  protocols: async () => (await import('../bench/protocols.ts')).benchProtocols,
  python: async () => (await import('../bench/python.ts')).benchPython,
  sealing: async () => (await import('../bench/sealing.ts')).benchSealing,
  server: async () => (await import('../bench/server.ts')).benchServer,
  training: async () => (await import('../bench/training.ts')).benchTraining,
};

export const bench: Command = command({
  name: 'bench',
  summary: 'measure one part of the product, and compare it with a named limit or alternative',
  takes: ABOUT,
  flags: { quick: yes('measure fewer sizes and rounds: to see that it works (sealing is always the same)') },
  opening: 'measuring',
  async run(input) {
    const [name = ''] = input.positionals;
    if (!isBenchmark(name))
      throw new CommandError(`a benchmark is one of ${Object.keys(ABOUT).join(', ')}, got "${name}"`);
    try {
      const { text, json } = await (await LOAD[name]())(input.flags);
      input.terminal.line(text);
      return { json };
    } catch (error) {
      throw error instanceof MissingError ? new CommandError(error.message) : error;
    }
  },
});

function isBenchmark(name: string): name is keyof typeof ABOUT {
  return Object.hasOwn(ABOUT, name);
}
