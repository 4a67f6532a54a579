/** `basa dev`: server, authorities, an MNIST task and a small fleet, that stay up until Ctrl-C. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { FEWEST, fittingFor } from '../flags/fitting.ts';
import { MOST_UPDATES, VERSION_FLAGS, versionSettings } from '../flags/modes.ts';
import { MAX_AUTHORITIES, thresholdFlag } from '../flags/threshold.ts';
import type { LocalServices } from '../local/local-services.ts';
import { type Command, CommandError, type CommandInput, command } from '../shell/command.ts';
import { text, texts, whole, yes } from '../shell/flag.ts';
import { newFolder } from '../shell/new-folder.ts';
import { counted } from '../shell/terminal.ts';

/** The page that joins uses one for each new device, so that opening it is enough. */
const PAGE_TOKENS = 200;
const TOKEN_MS = 24 * 3_600_000;
const DEVICES = 9;
/** The K of the paper's experiments. */
const MOST_FITTING = 10;

const REPORTERS = 40;
const WINDOW_MS = 10_000;
/** A day of them. */
const WINDOWS = 8640;

const FLAGS = {
  statistics: yes(
    'gather statistics instead of training a model: the devices report numbers and choices every 10 seconds',
  ),
  folder: text({
    value: 'path',
    help: 'folder for data and logs; the next start continues with them',
    default: '.basa-dev',
  }),
  devices: whole({
    help: 'number of devices in the fleet; 0 for none',
    max: 1000,
    without: '9, or twice --buffer; 40 with --statistics',
  }),
  buffer: whole({
    help: 'buffer size K: the number of updates in a sum',
    min: FEWEST,
    max: MOST_UPDATES['one-shot'],
    without: 'half of the devices, at most 10',
  }),
  ...VERSION_FLAGS,
  nodes: whole({
    help: 'run n server nodes behind a load balancer, with a local PostgreSQL',
    min: 1,
    max: 16,
    without: 'one server with SQLite',
  }),
  'server-port': whole({ help: 'port of the server', max: 65_535, default: 7800 }),
  'authority-port': whole({
    help: 'port of the authority; further authorities use the next ports',
    max: 65_535,
    default: 7801,
  }),
  authorities: whole({ help: 'number of authorities for the task', min: 1, max: MAX_AUTHORITIES, default: 1 }),
  threshold: thresholdFlag,
  cors: texts({
    value: 'origin',
    help: 'allow web pages from this origin to take part, for example http://localhost:8000',
  }),
};
type Input = CommandInput<typeof FLAGS>;

export const dev: Command = command({
  name: 'dev',
  summary: 'run a server, an authority and a small fleet for your own clients',
  flags: FLAGS,
  opening: 'Starting the authority and the server (a few seconds)',
  async run(input) {
    const { flags, terminal, signal } = input;
    const { authorities, folder, nodes } = flags;
    const corsOrigins = originsOf(flags.cors);
    const open = flags.statistics ? statistics(input) : await training(input);
    const { startLocalServices } = await import('../local/local-services.ts');
    const { joinLink, offerTokens, watchLink } = await import('../local/pages.ts');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const services = await startLocalServices({
      folder,
      signal,
      corsOrigins,
      handsOutTokens: true,
      serverPort: flags['server-port'],
      authorityPort: flags['authority-port'],
      authorities,
      ...(nodes !== undefined && { nodes }),
    });
    let party: Party | undefined;
    try {
      party = await open(services);
      const { task } = party;
      const count = 2 + corsOrigins.length;
      const tokens = await services.authority.tokens(task, count + PAGE_TOKENS, Date.now() + TOKEN_MS);
      const [token = '', tabToken = '', ...pageTokens] = tokens.slice(0, count);
      const handedOut = tokens.slice(count);
      const { tokenForAll } = await import('@basa/client/operator');
      const variables = {
        BASA_SERVER: services.serverUrl,
        BASA_AUTHORITY: services.authorityUrl,
        BASA_AUTHORITY_KEY: services.authorityKey,
        BASA_TASK: task,
        BASA_OPERATOR_TOKEN: services.operatorToken,
        BASA_AUTHORITY_TOKEN: tokenForAll(services.authorityUrl, services.operatorToken),
        BASA_ENROLMENT_TOKEN: token,
      };
      if (services.hasPages) {
        const { serverUrl, authorityKey } = services;
        await offerTokens(folder, task, handedOut);
        terminal.line(`Watch it: ${watchLink(serverUrl, { task, authorityKey })}`);
        if (!flags.statistics)
          terminal.line(`Join from a browser tab: ${joinLink(serverUrl, { task, authorityKey, token: tabToken })}`);
        terminal.line();
      }
      const kept = authorities === 1 ? 'the authority are' : `${authorities} authorities are`;
      const servers = nodes === undefined ? 'The server' : counted(nodes, 'server node');
      terminal.line(`${servers} and ${kept} running.`);
      terminal.line('This party holds the tokens of every side: use it to try things out, not with data of others.');
      terminal.line('In another terminal, type:\n');
      for (const [name, value] of Object.entries(variables)) terminal.line(`export ${name}=${value}`);
      for (const [n, origin] of corsOrigins.entries())
        terminal.line(`\nYour page: ${origin}/#token=${pageTokens[n] ?? ''}`);
      terminal.line(`\n\`basa client --identity ${newFolder('my-device')} ${party.takePart}`);
      terminal.line(`${party.show}\n\nCtrl-C stops everything.`);
      await until(signal, () => party?.check());
      const secrets = {
        BASA_OPERATOR_TOKEN: undefined,
        BASA_AUTHORITY_TOKEN: undefined,
        BASA_ENROLMENT_TOKEN: undefined,
      };
      return { json: { ...variables, ...secrets, stopped: true } };
    } finally {
      await party?.stop();
      await services.stop();
    }
  },
});

/** The task, and the devices in it. */
interface Party {
  readonly task: string;
  /** The end of a sentence that begins with `basa client --identity my-device`. */
  readonly takePart: string;
  readonly show: string;
  /** Throws if a device failed. */
  check(): void;
  stop(): Promise<void>;
}

/** Also writes the data for tabs that join, which the server reads when it starts. */
async function training({ flags, signal }: Input): Promise<(services: LocalServices) => Promise<Party>> {
  const { buffer, folder, threshold } = flags;
  const devices = flags.devices ?? (buffer === undefined ? DEVICES : 2 * buffer);
  const sizes =
    buffer === undefined ? fittingFor(devices === 0 ? DEVICES : devices, MOST_FITTING) : { bufferSize: buffer };
  const version = versionSettings(flags);
  const { loadMnist } = await import('@basa/datasets');
  const { createDemoTask, fleetWork } = await import('./demo-task.ts');
  const { Fleet } = await import('./fleet.ts');
  const { writeShares } = await import('../local/pages.ts');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { train, test } = await loadMnist({ signal });
  await writeShares(folder, train);
  const given = threshold === undefined ? {} : { threshold };
  const choice = { name: 'dev', mode: 'one-shot', ...sizes, version, ...given, seed: 1, stop: {} } as const;
  const fleetOf = async (services: LocalServices, task: string) => {
    const where = join(folder, String(Date.now()));
    const work = { mode: 'one-shot', devices, dropShare: 0, folder: where, seed: 1 } as const;
    return new Fleet(await fleetWork(services, work, task, train), 1);
  };
  return async (services) => {
    const { task } = await createDemoTask(services, choice, test);
    const fleet = devices > 0 ? await fleetOf(services, task) : undefined;
    return {
      task,
      takePart: '--user 7 --rounds 3` takes part as one more device.',
      show: '`basa task show --follow` shows the task and each new version.',
      check: () => fleet?.check(),
      stop: async () => fleet?.stop(),
    };
  };
}

function statistics({ flags, terminal }: Input): (services: LocalServices) => Promise<Party> {
  const { folder, threshold, devices = REPORTERS, buffer } = flags;
  return async (services) => {
    const { createReportingTask, Reporters } = await import('./reporters.ts');
    const { task, policy } = await createReportingTask(services, {
      ...{ name: 'dev statistics', devices, windowMs: WINDOW_MS, windows: WINDOWS },
      ...(buffer !== undefined && { bufferSize: buffer }),
      ...(threshold !== undefined && { threshold }),
    });
    const where = join(folder, String(Date.now()));
    const reporters = new Reporters({ folder: where, devices, windowMs: WINDOW_MS, seed: 1 });
    await reporters.start(services, task);
    terminal.line(
      `${counted(devices, 'device')} report every ${WINDOW_MS / 1000} s. A window needs ${policy.minimum} reports; the first result comes in about 20 s.`,
    );
    terminal.line(
      'Every report spends privacy: with data of people, take windows of hours or days, and plan few of them.',
    );
    return {
      task,
      takePart:
        '--report values.json` takes part as one more device, with {"battery": 80, "latencyMs": 40, "network": "wifi"} in the file.',
      show: '`basa task show` shows the results of the last windows.',
      check: () => reporters.check(),
      stop: () => reporters.stop(),
    };
  };
}

function originsOf(origins: readonly string[]): readonly string[] {
  for (const origin of origins)
    if (!URL.canParse(origin) || new URL(origin).origin !== origin)
      throw new CommandError(`--cors takes an origin such as http://localhost:8000, without a path, got "${origin}"`);
  return origins;
}

/** Waits until Ctrl-C, or until something fails. */
async function until(signal: AbortSignal, check: () => void): Promise<void> {
  while (!signal.aborted) {
    check();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, 500);
      function done(): void {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      }
      signal.addEventListener('abort', done);
    });
  }
}
