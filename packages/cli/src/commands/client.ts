/** `basa client`: one device that takes part in a task, with a share of MNIST, data of one's own, or an update from a file. */
import { readFile } from 'node:fs/promises';
import type { BasaClient, ClientEvents, RunSummary } from '@basa/client/node';
import {
  type Command,
  CommandError,
  type CommandInput,
  type CommandResult,
  EXIT_CODE,
  needed,
  numberFlag,
  pinnedFlag,
  pinnedFlags,
  textFlag,
  textFlags,
} from '../command.ts';
import { deviceWork, MNIST_USERS } from '../device-work.ts';
import { short } from '../names.ts';
import { privacyFloor } from '../private-flags.ts';
import { retrySentence } from '../sentences.ts';
import { allowsPlainHttp, PLAIN_HTTP_FLAGS, PLAIN_HTTP_USAGE } from './connection.ts';

export const client: Command = {
  name: 'client',
  summary: 'takes part in a task as one device',
  usage: `  --identity <folder>  where the device keeps its key and state (BASA_IDENTITY)
  --enrol <token>      a one-time token, for the first time (BASA_ENROLMENT_TOKEN)
  --model <file>       a model and data of your own: model.ts (MNIST's)
  --user <n>           whose share of the data it trains on (0)
  --users <n>          of how many (${MNIST_USERS} of MNIST, 1 with --model)
  --rounds <n>         contributions to make (1)
  --equal-bits         train to the same bits on every machine: slower where the engine has relaxed SIMD
  --update <file>      contribute this update instead, raw little-endian float32 (BASA_UPDATE)
  --server <url>       the server (BASA_SERVER)
  --authority <url>    the authority; several with commas between them (BASA_AUTHORITY)
  --authority-key <h>  its public key, pinned: all 64 digits; one for each address (BASA_AUTHORITY_KEY)
  --task <hex>         the task, pinned: all 64 digits (BASA_TASK)
  --minimum <n>        take part only where a sum holds at least n updates (2)
  --max-staleness <n>  take part only where updates may be at most n versions behind (15)
  --unsafe-mixed-versions  take part also if a sum mixes versions of the model: its server can then single out an update
  --max-epsilon <e>    take part only in a private task whose whole budget is at most e
  --delta <x>          what that epsilon is reckoned for, whatever the task names (1e-6)
${PLAIN_HTTP_USAGE}`,
  flags: {
    ...textFlags('identity', 'enrol', 'model', 'user', 'users', 'rounds'),
    'unsafe-mixed-versions': { type: 'boolean', default: false },
    'equal-bits': { type: 'boolean', default: false },
    ...textFlags(
      'update',
      'server',
      'authority',
      'authority-key',
      'task',
      'minimum',
      'max-staleness',
      'max-epsilon',
      'delta',
    ),
    ...PLAIN_HTTP_FLAGS,
  },
  opening: 'connecting',
  run(input) {
    const file = textFlag(input, 'update') ?? input.environment['BASA_UPDATE'];
    return file === undefined ? train(input) : offer(input, file);
  },
};

/** The update is offered as one that was trained on the newest model. */
async function offer(input: CommandInput, file: string): Promise<CommandResult> {
  const { terminal, signal } = input;
  const bytes = new Uint8Array(await readFile(file));
  if (bytes.length % 4 !== 0) throw new CommandError(`${file} is not a file of float32`);
  const device = await connect(input);
  try {
    const { version } = await device.model({ signal });
    const result = await device.contribute(new Float32Array(bytes.buffer), { trainedOn: version, signal });
    terminal.line(result.kind === 'accepted' ? `accepted in slot ${result.slot}` : `rejected: ${result.reason}`);
    return { json: result, exitCode: result.kind === 'accepted' ? EXIT_CODE.fine : EXIT_CODE.failed };
  } finally {
    await device.close();
  }
}

async function train(input: CommandInput): Promise<CommandResult> {
  const { terminal, signal } = input;
  const rounds = numberFlag(input, 'rounds', { min: 1, fallback: 1 });
  const { toHex } = await import('@basa/masking');
  const { trainer, samples } = await deviceWork(input);
  const device = await connect(input);
  try {
    if (device.policy.dimension !== trainer.model.dimension)
      throw new CommandError(
        `the task has ${device.policy.dimension} parameters, ${trainer.model.name} has ${trainer.model.dimension}; train the task's own network with --model <file>`,
      );
    device.on('trained', ({ version, loss }) =>
      terminal.line(`trained on version ${version}, loss ${loss.toFixed(3)}`),
    );
    device.on('accepted', ({ ctx, slot }) => terminal.line(`accepted: slot ${slot} of buffer ${short(ctx)}`));
    device.on('rejected', ({ reason }) => terminal.line(`rejected: ${reason}`));
    device.on('privacy', (spent) => terminal.line(spentText(spent)));
    device.on('retry', (notice) => terminal.line(retrySentence(notice)));
    const summary = await device.run(trainer, await samples(), { rounds, signal });
    terminal.line(`${summary.accepted} accepted, ${summary.rejected} rejected${await whyEnded(summary.ended)}`);
    const { privacy } = device;
    return {
      json: { deviceKey: toHex(device.deviceKey), ...summary, ...(privacy !== undefined && { privacy }) },
      exitCode: summary.accepted > 0 ? 0 : 1,
    };
  } finally {
    await device.close();
  }
}

function spentText({ inclusions, participations, epsilon, epsilonBudget }: ClientEvents['privacy']): string {
  return `privacy: ${inclusions} of ${participations} participations, epsilon ${epsilon.toFixed(2)} of ${epsilonBudget.toFixed(2)}`;
}

/** Nothing where all rounds were made, as asked. */
async function whyEnded(ended: RunSummary['ended']): Promise<string> {
  if (ended === 'rounds') return '';
  const { problemDocument } = await import('@basa/protocol');
  return `; ended: ${problemDocument(ended).title}`;
}

async function connect(input: CommandInput): Promise<BasaClient> {
  const { BasaClient: Clients, DEFAULT_FLOOR } = await import('@basa/client/node');
  const token = textFlag(input, 'enrol') ?? input.environment['BASA_ENROLMENT_TOKEN'];
  const pieceBytes = Number(input.environment['BASA_PIECE_BYTES'] ?? 0);
  const privacy = privacyFloor(input);
  return Clients.connect({
    server: needed(input, 'server', 'BASA_SERVER'),
    authority: needed(input, 'authority', 'BASA_AUTHORITY'),
    authorityKey: pinnedFlags(input, 'authority-key', 'BASA_AUTHORITY_KEY').join(','),
    task: pinnedFlag(input, 'task', 'BASA_TASK'),
    identity: needed(input, 'identity', 'BASA_IDENTITY'),
    signal: input.signal,
    floor: {
      minimum: numberFlag(input, 'minimum', { fallback: DEFAULT_FLOOR.minimum }),
      maxStaleness: numberFlag(input, 'max-staleness', { fallback: DEFAULT_FLOOR.maxStaleness }),
      unsafeMixedVersions: input.values['unsafe-mixed-versions'] === true,
      ...(privacy !== undefined && { privacy }),
    },
    unsafeAllowPlainHttp: allowsPlainHttp(input),
    ...(token !== undefined && { token }),
    ...(pieceBytes > 0 && { pieceBytes }),
  });
}
