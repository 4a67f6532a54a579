/** `basa dev`: server, authority, an MNIST task and a small fleet, that stay up until Ctrl-C. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from '../command.ts';
import { numberFlag, textFlag } from '../command.ts';
import type { Fleet as DeviceFleet } from '../demo/fleet.ts';

/** The page that joins takes one for each new device, so that opening it is enough. */
const PAGE_TOKENS = 200;
const TOKEN_MS = 24 * 3_600_000;

export const dev: Command = {
  name: 'dev',
  summary: 'server, authority and a small fleet that stay up: try your own client against them',
  usage: `  --folder <path>      data and logs; kept, and gone on with next time (.basa-dev)
  --devices <n>        devices of the fleet; 0 for none (9)
  --buffer <n>         K (10)
  --nodes <n>          so many server nodes on a PostgreSQL that is started here, behind a balancer (one, embedded)
  --server-port <n>    (7800)
  --authority-port <n> (7801)`,
  flags: {
    folder: { type: 'string' },
    devices: { type: 'string' },
    buffer: { type: 'string' },
    nodes: { type: 'string' },
    'server-port': { type: 'string' },
    'authority-port': { type: 'string' },
  },
  async run(input) {
    const { terminal, signal } = input;
    const { loadMnist } = await import('@basa/datasets');
    const { createDemoTask, fleetWork } = await import('../demo/demo-task.ts');
    const { Fleet } = await import('../demo/fleet.ts');
    const { startLocalServices } = await import('../local-services.ts');
    const { joinLink, offerTokens, watchLink, writeShares } = await import('../pages.ts');
    const folder = textFlag(input, 'folder') ?? '.basa-dev';
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const { train, test } = await loadMnist();
    await writeShares(folder, train);
    const services = await startLocalServices({
      folder,
      signal,
      handsOutTokens: true,
      serverPort: numberFlag(input, 'server-port', { most: 65_535, fallback: 7800 }),
      authorityPort: numberFlag(input, 'authority-port', { most: 65_535, fallback: 7801 }),
      ...(textFlag(input, 'nodes') !== undefined && {
        nodes: numberFlag(input, 'nodes', { least: 1, most: 16, fallback: 3 }),
      }),
    });
    let fleet: DeviceFleet | undefined;
    try {
      const bufferSize = numberFlag(input, 'buffer', { least: 2, most: 1024, fallback: 10 });
      const { task } = await createDemoTask(services, { name: 'dev', bufferSize, seed: 1, stop: {} }, test);
      const devices = numberFlag(input, 'devices', { most: 1000, fallback: bufferSize - 1 });
      if (devices > 0) {
        const work = await fleetWork(
          services,
          { devices, dropShare: 0, folder: join(folder, String(Date.now())), seed: 1 },
          task,
          train,
        );
        fleet = new Fleet(work, 1);
      }
      const tokens = await services.authority.tokens(task, 2 + PAGE_TOKENS, Date.now() + TOKEN_MS);
      const [token, tabToken = '', ...handedOut] = tokens;
      const variables = {
        BASA_SERVER: services.serverUrl,
        BASA_AUTHORITY: services.authorityUrl,
        BASA_AUTHORITY_KEY: services.authorityKey,
        BASA_TASK: task,
        BASA_OPERATOR_TOKEN: services.operatorToken,
        BASA_ENROLMENT_TOKEN: token ?? '',
      };
      if (services.hasPages) {
        const { serverUrl, authorityKey } = services;
        await offerTokens(folder, task, handedOut);
        terminal.line(`watch it: ${watchLink(serverUrl, { task, authorityKey })}`);
        terminal.line(`join from a tab: ${joinLink(serverUrl, { task, authorityKey, token: tabToken })}\n`);
      }
      terminal.line('server and authority are up; in another terminal:\n');
      for (const [name, value] of Object.entries(variables)) terminal.line(`export ${name}=${value}`);
      terminal.line('\nnpm run basa -- client --identity my-device --user 7 --rounds 3');
      terminal.line('npm run basa -- task show $BASA_TASK\n\nCtrl-C stops everything.');
      await until(signal, () => fleet?.check());
      return { json: { ...variables, BASA_OPERATOR_TOKEN: undefined, BASA_ENROLMENT_TOKEN: undefined, stopped: true } };
    } finally {
      await fleet?.stop();
      await services.stop();
    }
  },
};

/** Until Ctrl-C, or something fails. */
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
