/**
 * Restores both services on other machines, twice. First a move: both services are stopped, backed up, and continue in other folders and on
 * other ports with the same devices. Then a loss: both are restored from backups that lack their last records, and work continues in a new
 * task that starts from the newest saved model.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { backupAuthority, restoreAuthority } from '@basa/authority';
import type { Role } from '@basa/cli/internal/local/service-process.ts';
import { toHex } from '@basa/masking';
import { backupServer, restoreServer } from '@basa/server';
import { Drill } from './drill.ts';

/**
 * The authority is restored first. A server that knows less than the authority continues. A server that knows a newer model does not.
 */
const SERVICES = {
  authority: { backup: backupAuthority, restore: restoreAuthority },
  server: { backup: backupServer, restore: restoreServer },
} as const;
const ROLES: readonly Role[] = ['authority', 'server'];

/**
 * The counts are those of both parts together. `awayMs`: from the stop of both services until a version was made at the new place.
 * `forgotten`: updates that were acknowledged after the backup.
 */
export async function runRestore(say: (line: string) => void) {
  say('a move');
  const moved = await Drill.run(say, move);
  say('a loss');
  const lost = await Drill.run(say, lose);
  const counts = (['acknowledged', 'included', 'lost', 'doubled', 'stuck'] as const).map((name) => [
    name,
    moved[name] + lost[name],
  ]);
  const problems = [...moved.problems, ...lost.problems, ...lost.wrong];
  return { awayMs: moved.awayMs, forgotten: lost.forgotten, ...Object.fromEntries(counts), problems };
}

async function move(drill: Drill): Promise<{ readonly awayMs: number }> {
  await drill.versions(2);
  const begun = Date.now();
  await drill.stopServices('stop');
  await backUp(drill, 'moved');
  await drill.stopDevices();
  await restore(drill, 'moved', 'copy');
  await drill.startDevices();
  await drill.versions(1);
  const awayMs = Date.now() - begun;
  drill.say(`both services go on elsewhere after ${awayMs} ms, with the devices that they had`);
  await drill.versions(1);
  return { awayMs };
}

async function lose(drill: Drill): Promise<{ readonly forgotten: number; readonly wrong: readonly string[] }> {
  const { basa, fleet } = drill;
  await drill.versions(2);
  await backUp(drill, 'kept');
  const known = fleet.acknowledged.length;
  await drill.versions(2);
  await drill.stopDevices();
  const before = await parametersOf(drill);
  await drill.stopServices('kill');
  const forgotten = fleet.acknowledged.length - known;
  await restore(drill, 'kept');
  const after = await parametersOf(drill);
  const wrong = after.flatMap((bytes, version) =>
    bytes === before[version] ? [] : [`version ${version} differs from the version before the loss`],
  );
  drill.say(`the backup has ${after.length - 1} of ${before.length - 1} versions; ${forgotten} updates came after it`);
  await basa.createTask('again', { initial: { parameters: after.at(-1) ?? '' } });
  await drill.newDevices('devices-again');
  await drill.startDevices();
  await drill.versions(2);
  drill.say('new devices go on with that model in a new task');
  return { forgotten, wrong };
}

async function backUp({ basa }: Drill, name: string): Promise<void> {
  for (const role of ROLES)
    await SERVICES[role].backup(basa.placesOf(role), join(basa.folder, `${role}-backup-${name}`));
}

/**
 * Moves the services to other folders and ports. No backup has the secrets of epochs: an authority that is moved with them takes a copy of its stopped folder along.
 */
async function restore({ basa }: Drill, name: string, authorityFrom: 'backup' | 'copy' = 'backup'): Promise<void> {
  const place = (role: Role) => ({ dataFolder: join(basa.folder, `${role}-${name}`), port: 0 });
  basa.change({ server: place('server'), authority: place('authority') });
  for (const role of ROLES) {
    if (role === 'authority' && authorityFrom === 'copy')
      cpSync(join(basa.folder, role), join(basa.folder, `${role}-${name}`), { recursive: true });
    else await SERVICES[role].restore(basa.placesOf(role), join(basa.folder, `${role}-backup-${name}`));
    await basa.start(role);
    // It keeps its new port when it is started again.
    basa.change({ [role]: { port: Number(new URL(basa.urls[role]).port) } });
  }
}

/** By version, in hexadecimal. */
async function parametersOf({ basa: { server, task } }: Drill): Promise<readonly string[]> {
  const versions = (await server.versions(task)).map(({ version }) => version).sort((a, b) => a - b);
  const all: string[] = [];
  for (const version of versions) {
    const { buffer, byteOffset, byteLength } = await server.parameters(task, version);
    all.push(toHex(new Uint8Array(buffer, byteOffset, byteLength)));
  }
  return all;
}
