/** `basa <command>`: finds the command, reads its flags, and turns what happens into words and an exit code. */
import { parseArgs } from 'node:util';
import type { Command, CommandInput } from './command.ts';
import { CommandError, EXIT_CODE } from './command.ts';
import { COMMANDS } from './commands/all.ts';
import type { OutStream } from './terminal.ts';
import { createTerminal } from './terminal.ts';

const COMMON_FLAGS = {
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** Ctrl-C, an orderly end, and a terminal that was closed. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Where the words go. */
export interface Streams {
  readonly stdout: OutStream;
  readonly stderr: OutStream;
}

/** Resolves with the exit code. */
export async function runCli(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  { stdout, stderr }: Streams = process,
): Promise<number> {
  const isJson = ownArgs(args).includes('--json');
  const fail = (sentence: string, code: number): number => {
    stderr.write(`basa: ${sentence}\n`);
    if (isJson) stdout.write(`${JSON.stringify({ error: sentence, exitCode: code })}\n`);
    return code;
  };
  const found = findCommand(args);
  if (found === undefined) {
    const words = args
      .filter((arg) => !arg.startsWith('-'))
      .slice(0, 2)
      .join(' ');
    if (words === '') {
      stdout.write(`${overview()}\n`);
      return args.some((arg) => arg === '--help' || arg === '-h') ? EXIT_CODE.fine : EXIT_CODE.usage;
    }
    return fail(`there is no command "${words}"${nearest(words)}; \`basa --help\` lists them`, EXIT_CODE.usage);
  }
  const { command, rest } = found;
  const stopping = new AbortController();
  const stop = (): void => stopping.abort(new CommandError('interrupted', EXIT_CODE.interrupted));
  for (const name of STOP_SIGNALS) process.once(name, stop);
  try {
    const { values, positionals } = readFlags(command, rest);
    if (values['help']) {
      stdout.write(`${helpOf(command)}\n`);
      return EXIT_CODE.fine;
    }
    const terminal = createTerminal(isJson ? stderr : stdout);
    const input: CommandInput = { values, positionals, environment, terminal, signal: stopping.signal };
    const { json, exitCode = EXIT_CODE.fine } = await command.run(input);
    terminal.clearStatus();
    if (isJson) stdout.write(`${JSON.stringify(json)}\n`);
    return exitCode;
  } catch (error) {
    const known = sentenceOf(error, command);
    if (known === undefined) throw error;
    return fail(known.sentence, known.code);
  } finally {
    for (const name of STOP_SIGNALS) process.off(name, stop);
  }
}

/** What comes before `--` is ours; the rest is the command line of somebody else. */
function ownArgs(args: readonly string[]): readonly string[] {
  return args.slice(0, args.includes('--') ? args.indexOf('--') : undefined);
}

function findCommand(args: readonly string[]): { command: Command; rest: readonly string[] } | undefined {
  for (const words of [2, 1]) {
    const name = args.slice(0, words).join(' ');
    const command = COMMANDS.find((candidate) => candidate.name === name);
    if (command !== undefined) return { command, rest: args.slice(words) };
  }
  return undefined;
}

function readFlags(command: Command, args: readonly string[]) {
  const { positionals = 0 } = command;
  const options = { ...command.flags, ...COMMON_FLAGS };
  const read = parseArgs({ args: [...args], allowPositionals: positionals > 0, options });
  if (read.positionals.length > positionals)
    throw new CommandError(
      `"${read.positionals[positionals]}" is one argument too many; see \`basa ${command.name} --help\``,
    );
  return { values: read.values as CommandInput['values'], positionals: read.positionals };
}

const SERVICE_ERRORS: ReadonlySet<string> = new Set([
  'ProblemError',
  'UnreachableError',
  'RefusedError',
  'CertificateError',
  'AnswerError',
]);
const USER_ERRORS: ReadonlySet<string> = new Set(['StoreError', 'DataError', 'SettingsError']);

/** Faults of the program are not caught: they end with their stack. */
function sentenceOf(error: unknown, command: Command): { sentence: string; code: number } | undefined {
  if (error instanceof CommandError) return { sentence: error.message, code: error.exitCode };
  const { code } = error as { readonly code?: unknown };
  if (typeof code === 'string' && code.startsWith('ERR_PARSE_ARGS'))
    return {
      sentence: `${(error as Error).message.split('\n')[0]}; see \`basa ${command.name} --help\``,
      code: EXIT_CODE.usage,
    };
  // By name: the SDK and the data loaders are only loaded by the commands that use them.
  const { name, message } = error as Error;
  if (name === 'StartError') return { sentence: message, code: (error as { exitCode: number } & Error).exitCode };
  if (SERVICE_ERRORS.has(name)) return { sentence: message, code: EXIT_CODE.refused };
  if (USER_ERRORS.has(name)) return { sentence: message, code: EXIT_CODE.usage };
  return undefined;
}

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  return [
    'basa: secure aggregation for asynchronous federated learning',
    '',
    ...COMMANDS.map(({ name, summary }) => `  basa ${name.padEnd(width)}  ${summary}`),
    '',
    'Every command takes --help, and --json: standard output then ends with one line that is one JSON object.',
  ].join('\n');
}

function helpOf({ name, summary, usage }: Command): string {
  const common = [
    '  --json               end standard output with one line that is one JSON object',
    '  --help               this text',
  ];
  return [`basa ${name}: ${summary}`, '', usage, ...common].join('\n');
}

/** The command a typo probably meant. */
function nearest(words: string): string {
  const [first] = COMMANDS.map(({ name }) => ({ name, distance: editDistance(words, name) })).sort(
    (a, b) => a.distance - b.distance,
  );
  return first !== undefined && first.distance <= 2 ? ` (did you mean "${first.name}"?)` : '';
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, n) => n);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
