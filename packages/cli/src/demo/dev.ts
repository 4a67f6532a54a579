/** `basa dev`: server, authorities, an MNIST task and a small fleet, that stay up until Ctrl-C. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fittingFor } from '../flags/fitting.ts';
import { MOST_UPDATES, VERSION_FLAGS, versionSettings } from '../flags/modes.ts';
import { MAX_AUTHORITIES, thresholdFlag } from '../flags/threshold.ts';
import { type Command, CommandError, command } from '../shell/command.ts';
import { text, texts, whole } from '../shell/flag.ts';
import { newFolder } from '../shell/new-folder.ts';
import { counted } from '../shell/terminal.ts';
import type { Fleet as DeviceFleet } from './fleet.ts';

/** The page that joins uses one for each new device, so that opening it is enough. */
const PAGE_TOKENS = 200;
const TOKEN_MS = 24 * 3_600_000;
const DEVICES = 9;
/** The K of the paper's experiments. */
const MOST_FITTING = 10;

export const dev: Command = command({
  name: 'dev',
  summary: 'run a server, an authority and a small fleet for your own clients',
  flags: {
    folder: text({
      value: 'path',
      help: 'folder for data and logs; the next start continues with them',
      default: '.basa-dev',
    }),
    devices: whole({ help: 'number of devices in the fleet; 0 for none', max: 1000, without: '9, or twice --buffer' }),
    buffer: whole({
      help: 'buffer size K: the number of updates in a sum',
      min: 2,
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
  },
  opening: 'Loading MNIST, then starting the authority and the server (a few seconds)',
  async run({ flags, terminal, signal }) {
    const { authorities, buffer, folder, nodes, threshold } = flags;
    const devices = flags.devices ?? (buffer === undefined ? DEVICES : 2 * buffer);
    const sizes =
      buffer === undefined ? fittingFor(devices === 0 ? DEVICES : devices, MOST_FITTING) : { bufferSize: buffer };
    const version = versionSettings(flags);
    const corsOrigins = originsOf(flags.cors);
    const { loadMnist } = await import('@basa/datasets');
    const { createDemoTask, fleetWork } = await import('./demo-task.ts');
    const { Fleet } = await import('./fleet.ts');
    const { startLocalServices } = await import('../local/local-services.ts');
    const { joinLink, offerTokens, watchLink, writeShares } = await import('../local/pages.ts');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { train, test } = await loadMnist({ signal });
    await writeShares(folder, train);
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
    let fleet: DeviceFleet | undefined;
    try {
      const { task } = await createDemoTask(
        services,
        {
          name: 'dev',
          mode: 'one-shot',
          ...sizes,
          version,
          ...(threshold !== undefined && { threshold }),
          seed: 1,
          stop: {},
        },
        test,
      );
      if (devices > 0) {
        const work = await fleetWork(
          services,
          { mode: 'one-shot', devices, dropShare: 0, folder: join(folder, String(Date.now())), seed: 1 },
          task,
          train,
        );
        fleet = new Fleet(work, 1);
      }
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
        terminal.line(`Join from a browser tab: ${joinLink(serverUrl, { task, authorityKey, token: tabToken })}\n`);
      }
      const kept = authorities === 1 ? 'the authority are' : `${authorities} authorities are`;
      const servers = nodes === undefined ? 'The server' : counted(nodes, 'server node');
      terminal.line(`${servers} and ${kept} running.`);
      terminal.line('This party holds the tokens of every side: use it to try things out, not with data of others.');
      terminal.line('In another terminal, type:\n');
      for (const [name, value] of Object.entries(variables)) terminal.line(`export ${name}=${value}`);
      for (const [n, origin] of corsOrigins.entries())
        terminal.line(`\nYour page: ${origin}/#token=${pageTokens[n] ?? ''}`);
      terminal.line(
        `\n\`basa client --identity ${newFolder('my-device')} --user 7 --rounds 3\` takes part as one more device.`,
      );
      terminal.line('`basa task show --follow` shows the task and each new version.\n\nCtrl-C stops everything.');
      await until(signal, () => fleet?.check());
      const secrets = {
        BASA_OPERATOR_TOKEN: undefined,
        BASA_AUTHORITY_TOKEN: undefined,
        BASA_ENROLMENT_TOKEN: undefined,
      };
      return { json: { ...variables, ...secrets, stopped: true } };
    } finally {
      await fleet?.stop();
      await services.stop();
    }
  },
});

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
