/** `npm run lab -- bench <name>`: runs one benchmark, and prints a table or a last line of JSON. */
import { type Command, CommandError, type CommandInput, command, yes } from '@basa/cli/internal/shell/command.ts';
import type { BenchResult } from '../bench/result.ts';

const FLAGS = {
  quick: yes('measure fewer sizes (protocols only)'),
};
type BenchOptions = CommandInput<typeof FLAGS>['flags'];

type Benchmark = (options: BenchOptions) => BenchResult | Promise<BenchResult>;

const ABOUT = {
  protocols:
    'computation and traffic of a user and of the server: BASA compared with plain, SecAgg, SecAgg+ and LightSecAgg',
  sealing: 'sealing and opening the parts of one upload, with and without ML-KEM',
} as const;

/** Each benchmark is loaded only when it runs. */
const LOAD: Readonly<Record<keyof typeof ABOUT, () => Promise<Benchmark>>> = {
  protocols: async () => (await import('../bench/protocols.ts')).benchProtocols,
  sealing: async () => (await import('../bench/sealing.ts')).benchSealing,
};

export const bench: Command = command({
  name: 'bench',
  summary: 'measure one part of the product, and compare it with a named limit or alternative',
  takes: ABOUT,
  flags: FLAGS,
  opening: 'measuring',
  async run(input) {
    const [name = ''] = input.positionals;
    if (!isBenchmark(name))
      throw new CommandError(`a benchmark is one of ${Object.keys(ABOUT).join(', ')}, got "${name}"`);
    const { text, json } = await (await LOAD[name]())(input.flags);
    input.terminal.line(text);
    return { json };
  },
});

function isBenchmark(name: string): name is keyof typeof ABOUT {
  return Object.hasOwn(ABOUT, name);
}
