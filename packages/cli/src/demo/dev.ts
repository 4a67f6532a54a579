/** `basa dev`: a server, authorities, a task and a small fleet, that stay up until Ctrl-C. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as task from '../flags/task.ts';
import type { LocalServices } from '../local/local-services.ts';
import * as flag from '../shell/command.ts';
import { type Command, CommandError, type CommandInput, command, defined } from '../shell/command.ts';
import { newFolder } from '../shell/process.ts';
import { counted } from '../shell/terminal.ts';

/** The page that joins uses one for each new device, so that opening it is enough. */
const PAGE_TOKENS = 200;
const TOKEN_MS = 24 * 3_600_000;
const DEVICES = 9;
const REPORTERS = 40;
const WINDOW_MS = 10_000;
/** The K of the paper's experiments. */
const MOST_FITTING = 10;
const LOOK_MS = 500;

const FLAGS = {
  statistics: flag.yes(
    'gather statistics instead of training a model: the devices report numbers and choices every 10 seconds',
  ),
  folder: flag.text({
    value: 'path',
    help: 'folder for data and logs; the next start continues with them',
    default: '.basa-dev',
  }),
  devices: flag.whole({
    help: 'number of devices in the fleet; 0 for none',
    max: 1000,
    without: '9, or twice --buffer; 40 with --statistics',
  }),
  buffer: flag.whole({ ...task.bufferFlag, min: task.FEWEST, without: 'half of the devices, at most 10' }),
  'server-port': flag.whole({ help: 'port of the server', max: 65_535, default: 7800 }),
  'authority-port': flag.whole({
    help: 'port of the authority; further authorities use the next ports',
    max: 65_535,
    default: 7801,
  }),
  authorities: task.authoritiesFlag,
  threshold: task.thresholdFlag,
  cors: flag.texts({
    value: 'origin',
    help: 'allow web pages from this origin to take part, for example http://localhost:8000',
  }),
};
type Input = CommandInput<typeof FLAGS>;

/** The devices of the fleet, and what is told about their task. */
interface Party {
  readonly fleet: { readonly created: { readonly task: string }; check(): void; stop(): Promise<void> };
  /** The end of a sentence that begins with `basa client --identity my-device`. */
  readonly takePart: string;
  readonly show: string;
}

export const dev: Command = command({
  name: 'dev',
  summary: 'run a server, an authority and a small fleet for your own clients',
  flags: FLAGS,
  opening: 'Starting the authority and the server (a few seconds)',
  async run(input) {
    const { flags, signal } = input;
    const corsOrigins = originsOf(flags.cors);
    const { startLocalServices } = await import('../local/local-services.ts');
    const open = flags.statistics ? statistics(input) : await training(input);
    const services = await startLocalServices({
      ...{ folder: flags.folder, signal, corsOrigins, authorities: flags.authorities },
      handsOutTokens: true,
      serverPort: flags['server-port'],
      authorityPort: flags['authority-port'],
    });
    let party: Party | undefined;
    try {
      party = await open(services);
      const variables = await welcome(input, services, party);
      while (!signal.aborted) {
        party.fleet.check();
        await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
      }
      const { BASA_SERVER, BASA_AUTHORITY, BASA_AUTHORITY_KEY, BASA_TASK } = variables;
      return { json: { BASA_SERVER, BASA_AUTHORITY, BASA_AUTHORITY_KEY, BASA_TASK, stopped: true } };
    } finally {
      await party?.fleet.stop();
      await services.stop();
    }
  },
});

/** Tells how to take part and to look at it, and returns the variables of the other terminal. */
async function welcome({ flags, terminal }: Input, services: LocalServices, party: Party) {
  const { authority, authorityKey, authorityUrl, operatorToken, serverUrl } = services;
  const { task } = party.fleet.created;
  const { joinLink, offerTokens, watchLink } = await import('../local/pages.ts');
  const { tokenForAll } = await import('@basa/client/operator');
  const tokens = await authority.tokens(task, 2 + flags.cors.length + PAGE_TOKENS, Date.now() + TOKEN_MS);
  const [token = '', tabToken = '', ...pageTokens] = tokens;
  const variables = {
    BASA_SERVER: serverUrl,
    BASA_AUTHORITY: authorityUrl,
    BASA_AUTHORITY_KEY: authorityKey,
    BASA_TASK: task,
    BASA_OPERATOR_TOKEN: operatorToken,
    BASA_AUTHORITY_TOKEN: tokenForAll(authorityUrl, operatorToken),
    BASA_ENROLMENT_TOKEN: token,
  };
  if (services.hasPages) {
    await offerTokens(flags.folder, task, pageTokens.slice(flags.cors.length));
    terminal.line(`Watch it: ${watchLink(serverUrl, { task, authorityKey })}`);
    if (!flags.statistics)
      terminal.line(`Join from a browser tab: ${joinLink(serverUrl, { task, authorityKey, token: tabToken })}`);
    terminal.line();
  }
  const kept = flags.authorities === 1 ? 'the authority are' : `${flags.authorities} authorities are`;
  terminal.line(`The server and ${kept} running.`);
  terminal.line('This party holds the tokens of every side: use it to try things out, not with data of others.');
  terminal.line('In another terminal, type:\n');
  for (const [name, value] of Object.entries(variables)) terminal.line(`export ${name}=${value}`);
  for (const [n, origin] of flags.cors.entries()) terminal.line(`\nYour page: ${origin}/#token=${pageTokens[n] ?? ''}`);
  terminal.line(`\n\`basa client --identity ${newFolder('my-device')} ${party.takePart}`);
  terminal.line(`${party.show}\n\nCtrl-C stops everything.`);
  return variables;
}

/** Also writes the data for tabs that join, which the server reads when it starts. */
async function training({ flags, signal, terminal }: Input): Promise<(services: LocalServices) => Promise<Party>> {
  const { buffer, folder, threshold } = flags;
  const devices = flags.devices ?? (buffer === undefined ? DEVICES : 2 * buffer);
  const { loadMnist } = await import('../data/mnist.ts');
  const { startFleet } = await import('./fleet.ts');
  const { writeShares } = await import('../local/pages.ts');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const data = await loadMnist({ signal });
  await writeShares(folder, data.train);
  return async (services) => {
    const where = join(folder, String(Date.now()));
    const settings = { ...batchesFor(devices, buffer), ...defined({ threshold }), devices, folder: where, threads: 1 };
    const fleet = await startFleet(services, { name: 'dev', mode: 'one-shot', seed: 1, ...settings }, data);
    const { minimum } = fleet.created.policy;
    if (devices < minimum)
      terminal.line(
        `A version needs ${counted(minimum, 'update')} of different devices, and this fleet has ${devices}: ${counted(minimum - devices, 'more device')} must take part.\n`,
      );
    return {
      fleet,
      takePart: '--user 7 --rounds 3` takes part as one more device.',
      show: '`basa task show --follow` shows the task and each new version.',
    };
  };
}

/** Batches that the fleet fills by itself, with a K that was asked for, too. An empty fleet leaves them to other devices. */
export function batchesFor(
  devices: number,
  buffer: number | undefined,
): Pick<task.Fitting, 'bufferSize' | 'minimum'> & Partial<task.Fitting> {
  const fitting = task.fittingFor(devices === 0 ? DEVICES : devices, MOST_FITTING);
  if (buffer === undefined) return fitting;
  return { bufferSize: buffer, minimum: task.fittingMinimum(devices === 0 ? buffer : Math.min(buffer, devices)) };
}

function statistics({ flags, terminal }: Input): (services: LocalServices) => Promise<Party> {
  const { folder, threshold, devices = REPORTERS, buffer } = flags;
  return async (services) => {
    const { startReporters } = await import('./reporters.ts');
    const settings = { name: 'dev statistics', devices, windowMs: WINDOW_MS, seed: 1, remembered: 0 };
    const where = join(folder, String(Date.now()));
    const asked = defined({ bufferSize: buffer, threshold });
    const fleet = await startReporters(services, { ...settings, ...asked, folder: where });
    terminal.line(
      `${counted(devices, 'device')} report every ${WINDOW_MS / 1000} s. A window needs ${fleet.created.policy.minimum} reports; the first result comes in about 20 s.`,
    );
    terminal.line(
      'Every report spends privacy: with data of people, take windows of hours or days, and plan few of them.',
    );
    return {
      fleet,
      takePart:
        '--report values.json` takes part as one more device, with {"battery": 80, "latencyMs": 40, "network": "wifi"} in the file.',
      show: '`basa task show` shows the results of the last windows.',
    };
  };
}

function originsOf(origins: readonly string[]): readonly string[] {
  for (const origin of origins)
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      throw new CommandError(`--cors takes an origin such as http://localhost:8000, without a path, got "${origin}"`);
  return origins;
}
