/** `basa client`: one device that takes part in a task, with a share of MNIST, its own data, or an update from a file. */

import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BasaClient, ClientEvents } from '@basa/client/node';
import type { Samples, Trainer } from '@basa/learning';
import type { Statistics, Training } from '@basa/protocol/policy';
import { loadOwnModel, shareOf, trainerOf } from '../flags/models.ts';
import { PLAIN_HTTP_FLAGS } from '../flags/services.ts';
import { FEWEST } from '../flags/task.ts';
import * as flag from '../shell/command.ts';
import {
  type Command,
  CommandError,
  type CommandInput,
  type CommandResult,
  command,
  contentOf,
  defined,
  EXIT_CODE,
  within,
} from '../shell/command.ts';
import { retrySentence } from '../shell/sentences.ts';

/** The number of devices that share MNIST. */
const MNIST_USERS = 1000;

const DATA_FLAGS = {
  model: flag.text({ value: 'file', help: 'module with your own model and data, such as model.ts', without: 'MNIST' }),
  user: flag.whole({ help: 'number of the share of the data that this device trains on', default: 0 }),
  users: flag.whole({
    help: 'number of shares into which the data are split',
    min: 1,
    without: `${MNIST_USERS} for MNIST, 1 with --model`,
  }),
  'equal-bits': flag.yes('get bit-identical results on every machine; slower on machines with relaxed SIMD'),
};

/** A trainer, and the examples, which are loaded once the task is known. */
async function deviceWork({
  flags,
  signal,
}: CommandInput<typeof DATA_FLAGS>): Promise<readonly [Trainer, () => Promise<Samples>]> {
  const { model: file, 'equal-bits': equalBits } = flags;
  const users = flags.users ?? (file === undefined ? MNIST_USERS : 1);
  const user = within(flags.user, 'user', { max: users - 1 });
  if (file === undefined) {
    const { trainerFor } = await import('@basa/client/node');
    const { logisticRegression } = await import('@basa/learning');
    return [await trainerFor(logisticRegression(), { equalBits }), () => mnistShare(user, users, signal)];
  }
  const own = await loadOwnModel(file);
  const trainer = await trainerOf(file, own, { equalBits });
  return [trainer, () => shareOf(file, own, { device: user, devices: users }, trainer)];
}

async function mnistShare(user: number, users: number, signal: AbortSignal): Promise<Samples> {
  const { loadMnist } = await import('../data/mnist.ts');
  const { partitionByDirichlet } = await import('@basa/learning');
  const { train } = await loadMnist({ signal });
  const { labels, classes } = train;
  const partition = partitionByDirichlet({ labels, classes, users, alpha: 0.5, seed: 1 });
  return { dataset: train, indices: partition.users[user] ?? new Uint32Array() };
}

/** Throws a sentence unless there is a number for each metric of the task, and for no other. Every client measures `clipped` itself. */
function metricValues(
  typed: readonly string[],
  asked: readonly Training.MetricRange[],
): Readonly<Record<string, number>> {
  const names = asked.map(({ name }) => name).filter((name) => name !== 'clipped');
  const values = Object.fromEntries(
    typed.map((one) => {
      const [, name = '', value = ''] = /^([^=]+)=(.+)$/.exec(one) ?? [];
      if (name === '' || !Number.isFinite(Number(value)))
        throw new CommandError(`--metric takes name=value with a finite number, got "${one}"`);
      if (names.length === 0) throw new CommandError(`the task asks for no metrics; remove --metric ${one}`);
      if (!names.includes(name))
        throw new CommandError(`the task has no metric "${name}"; it asks for ${names.join(', ')}`);
      return [name, Number(value)];
    }),
  );
  const missing = names.filter((name) => !Object.hasOwn(values, name)).map((name) => `--metric ${name}=<number>`);
  if (missing.length === 0) return values;
  throw new CommandError(`the task asks for ${names.join(', ')} with every update; add ${missing.join(' ')}`);
}

/** A task, or a token. */
const DIGITS = /^[0-9a-f]{64}$/;

const FLAGS = {
  server: flag.needed({ value: 'url', help: 'address of the server', variable: 'BASA_SERVER' }),
  authority: flag.needed({
    value: 'url',
    help: 'address of the authority, or several separated by commas',
    variable: 'BASA_AUTHORITY',
  }),
  'authority-key': flag.pinned({
    help: 'public key of the authority, all 64 digits; for several authorities, one each, separated by commas',
    variable: 'BASA_AUTHORITY_KEY',
  }),
  task: flag.pinned({ help: 'the task, all 64 digits', variable: 'BASA_TASK' }, 1),
  predecessor: flag.parsed(
    {
      value: 'hex',
      help: 'the task that this one succeeds: a device of it keeps its folder, and what it gave and spent',
      variable: 'BASA_PREDECESSOR',
    },
    '64 hexadecimal digits',
    (given) => (DIGITS.test(given) ? given : undefined),
  ),
  identity: flag.needed({
    value: 'folder',
    help: 'folder for the key and the state of the device',
    variable: 'BASA_IDENTITY',
  }),
  enrol: flag.text({
    value: 'token',
    help: 'one-time token, needed only the first time, or the file of tokens of `basa keys make`: the device takes the line of its --user; no service sees it',
    variable: 'BASA_ENROLMENT_TOKEN',
  }),
  ...DATA_FLAGS,
  rounds: flag.whole({
    help: 'number of accepted updates',
    min: 1,
    default: 1,
  }),
  update: flag.text({
    value: 'file',
    help: 'contribute the update in this file (raw little-endian float32) instead of training',
    variable: 'BASA_UPDATE',
  }),
  report: flag.text({ value: 'file', help: 'report the values in this JSON file to a statistics task' }),
  metric: flag.texts({ value: 'name=value', help: 'with --update: the value of a metric that the task asks for' }),
  minimum: flag.whole({ help: 'take part only if a sum contains at least n updates', without: String(FEWEST) }),
  'max-staleness': flag.whole({ help: 'take part only if updates may be at most n versions behind', without: '15' }),
  'checked-sums': flag.yes('take part only if at least two authorities confirm every sum'),
  'device-noise': flag.yes('take part only if the devices add the noise, not an authority'),
  'no-noise': flag.yes(
    'take part in a task without noise, too: a server that chooses the model can read single examples',
  ),
  'max-epsilon': flag.positive({
    value: 'e',
    help: 'take part only in a private task whose total epsilon is at most e',
  }),
  delta: flag.parsed<number>(
    { value: 'x', help: 'delta for --max-epsilon; the delta of the task does not matter', without: '1e-6' },
    'a number between 0 and 1',
    (given) => (Number(given) > 0 && Number(given) < 1 ? Number(given) : undefined),
  ),
  'exit-on-error': flag.yes('end if a service does not answer at the start, instead of trying again'),
  ...PLAIN_HTTP_FLAGS,
};
type Input = CommandInput<typeof FLAGS>;

export const client: Command = command({
  name: 'client',
  summary: 'take part in a task as one device',
  flags: FLAGS,
  opening: 'connecting',
  run(input) {
    const { update, metric, report } = input.flags;
    if (report !== undefined) return sendReport(input, report);
    if (update === undefined && metric.length > 0)
      throw new CommandError(
        '--metric needs --update: a device that trains measures its metrics itself; remove --metric',
      );
    return update === undefined ? train(input) : offer(input, update);
  },
});

/** The report is read before anything is asked. */
async function sendReport(input: Input, file: string): Promise<CommandResult> {
  const { terminal, signal } = input;
  const values = await contentOf('--report', file, (text) => JSON.parse(String(text)) as Statistics.Report);
  const device = await connect(input);
  try {
    device.on('outside', ({ fields }) =>
      terminal.warn(`out of range, and counted at the nearest bound or as "other": ${fields.join(', ')}`),
    );
    device.on('privacy', (spent) => terminal.line(spentText(spent)));
    return await resultOf(terminal, await device.report(values, { signal }));
  } catch (error) {
    if (error instanceof TypeError) throw new CommandError(`--report ${file}: ${error.message}`);
    throw error;
  } finally {
    await device.close();
  }
}

async function resultOf(
  terminal: Input['terminal'],
  result: Awaited<ReturnType<BasaClient['report']>>,
): Promise<CommandResult> {
  const { refusalText } = await import('@basa/protocol/http');
  terminal.line(result.kind === 'accepted' ? 'accepted' : `rejected: ${refusalText(result.reason, result.detail)}`);
  return { json: result, exitCode: result.kind === 'accepted' ? EXIT_CODE.fine : EXIT_CODE.failed };
}

/** Offers the update as if it was trained on the newest model. */
async function offer(input: Input, file: string): Promise<CommandResult> {
  const { terminal, signal } = input;
  const bytes = new Uint8Array(await readFile(file));
  if (bytes.length % 4 !== 0)
    throw new CommandError(
      `the size of ${file} is not a multiple of 4 bytes; give a file of little-endian float32 numbers`,
    );
  const device = await connect(input);
  try {
    const metrics = metricValues(input.flags.metric, device.policy.metrics);
    const { version } = await device.model({ signal });
    const result = await device.contribute(new Float32Array(bytes.buffer), { trainedOn: version, metrics, signal });
    return await resultOf(terminal, result);
  } finally {
    await device.close();
  }
}

async function train(input: Input): Promise<CommandResult> {
  const { terminal, signal } = input;
  const { toHex } = await import('@basa/masking');
  const { gatheringText, refusalText } = await import('@basa/protocol/http');
  const [trainer, samples] = await deviceWork(input);
  const device = await connect(input);
  try {
    if (device.policy.dimension !== trainer.model.dimension)
      throw new CommandError(
        `the model of the task has ${device.policy.dimension} parameters, but ${trainer.model.name} has ${trainer.model.dimension}; give the model of the task with --model <file>`,
      );
    device.on('trained', ({ version, loss }) =>
      terminal.line(`trained on version ${version}, loss ${loss.toFixed(3)}`),
    );
    device.on('accepted', () => terminal.line('accepted'));
    device.on('rejected', ({ reason, detail }) =>
      terminal.line(reason === 'version-over' ? LATE : `rejected: ${refusalText(reason, detail)}`),
    );
    device.on('quantized', ({ norm, clip }) => {
      if (norm > 2 * clip)
        terminal.line(`the update was shortened to the clip of the task, ${clip}: its norm was ${norm.toPrecision(3)}`);
    });
    device.on('waiting', (gathering) => terminal.line(gatheringText(gathering)));
    device.on('privacy', (spent) => terminal.line(spentText(spent)));
    device.on('retry', (notice) => terminal.line(retrySentence(notice)));
    terminal.line(`the task has ${device.privacy.sentence}`);
    const data = await samples();
    const wait = tellOfWait(device, terminal);
    const summary = await device.run(trainer, data, { rounds: input.flags.rounds, signal }).finally(wait.end);
    const { accepted, rejected, ended } = summary;
    const why = ended === 'rounds' || ended === 'done' ? '' : `; ended: ${refusalText(ended)}`;
    terminal.line(`${accepted} accepted, ${rejected} rejected${why}`);
    // A device of a finished task has nothing left to do, even if its last update came too late.
    const isFine = accepted > 0 || ended === 'task-finished';
    return {
      json: { deviceKey: toHex(device.deviceKey), ...summary, privacy: device.privacy },
      exitCode: isFine ? EXIT_CODE.fine : EXIT_CODE.failed,
    };
  } finally {
    await device.close();
  }
}

/** `run` asks for a place without an event, so after a while this tells why nothing happens. */
function tellOfWait(device: BasaClient, { line }: Pick<Input['terminal'], 'line'>): { readonly end: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => clearTimeout(timer);
  const begin = (): void => {
    end();
    timer = setTimeout(() => line(WAITS), LONG_WAIT_MS);
  };
  for (const name of ['model', 'rejected', 'retry', 'waiting'] as const) device.on(name, end);
  device.on('accepted', begin);
  begin();
  return { end };
}

const LONG_WAIT_MS = 5000;
const WAITS =
  'waiting for a place: this device has contributed to the newest version, or other devices have all places; it continues by itself';

function spentText({ inclusions, participations, epsilon, epsilonBudget }: ClientEvents['privacy']): string {
  return `privacy: ${inclusions} of ${participations} participations, epsilon ${epsilon.toFixed(2)} of ${epsilonBudget.toFixed(2)}`;
}

const LATE = 'other devices were faster and made a newer model; this device trains on that model next';

const DELTA = 1e-6;

/** A device that starts waits for its services like one that runs, except in scripts that ask for an end. */
async function connect(input: Input): Promise<BasaClient> {
  const { flags, signal, terminal } = input;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
    try {
      return await connectOnce(input);
    } catch (error) {
      const { code, happened } = error as Error & { readonly code?: string; readonly happened?: string };
      if (flags['exit-on-error'] || code !== 'unreachable' || signal.aborted) throw error;
      terminal.line(retrySentence({ service: 'run', attempt: 0, why: happened ?? (error as Error).message, waitMs }));
      await sleep(waitMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

/** A message does not repeat what may be a secret. */
async function tokenOf({ enrol, user }: Pick<Input['flags'], 'enrol' | 'user'>): Promise<string | undefined> {
  if (enrol === undefined || DIGITS.test(enrol)) return enrol;
  const lines = await readFile(enrol, 'utf8').catch(() => {
    throw new CommandError('--enrol takes 64 lower-case hexadecimal digits, or a file with a token in each line');
  });
  const token = lines.split('\n')[user]?.trim() ?? '';
  if (DIGITS.test(token)) return token;
  throw new CommandError(`line ${user + 1} of the file of --enrol is no token; choose another --user`);
}

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;

async function connectOnce({ flags, environment, signal }: Input): Promise<BasaClient> {
  const { BasaClient: Clients } = await import('@basa/client/node');
  const { server, authority, identity, predecessor, minimum } = flags;
  const token = await tokenOf(flags);
  const { 'max-staleness': maxStaleness, 'max-epsilon': epsilon, delta } = flags;
  if (delta !== undefined && epsilon === undefined)
    throw new CommandError('--delta needs --max-epsilon; add it, or remove --delta');
  const pieceBytes = Number(environment['BASA_PIECE_BYTES'] ?? 0);
  const privacy = epsilon === undefined ? undefined : { epsilon, delta: delta ?? DELTA };
  return Clients.connect({
    ...{ server, authority, identity, signal },
    task: flags.task.join(),
    authorityKey: flags['authority-key'].join(),
    floor: {
      ...defined({ minimum, maxStaleness, privacy }),
      checkedSums: flags['checked-sums'],
      deviceNoise: flags['device-noise'],
      noNoise: flags['no-noise'],
    },
    unsafeAllowPlainHttp: flags['unsafe-plain-http'],
    ...defined({ token, predecessor, pieceBytes: pieceBytes > 0 ? pieceBytes : undefined }),
  });
}
