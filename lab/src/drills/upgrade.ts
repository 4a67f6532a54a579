/**
 * A rolling upgrade: three nodes on PostgreSQL and their authority, with devices at work. The tables are migrated while nodes of the version
 * before run; then each node is stopped in order and started with the new version. At the end everything goes back to the version before.
 */
import { join } from 'node:path';
import { EMBEDDED_DATABASE } from '@basa/authority/internal/store/store.ts';
import { SERVER_DATABASE } from '@basa/server/internal/store/schema.ts';
import { migrateFolder, migratePostgres } from '@basa/service';
import type { Verdict } from '../trials/crash/verdict.ts';
import type { TrialInput } from '../trials/program.ts';
import { Drill } from './drill.ts';
import { bundleNextVersion, NEXT_AUTHORITY, NEXT_SERVER } from './next-version.ts';
import { RefusedUploads } from './refused-uploads.ts';

export interface UpgradeReport extends Verdict {
  readonly formats: string;
  /** While nodes were upgraded: requests with a piece of an upload that a node did not take, and the longest time until another one did. */
  readonly refusedUploads: number;
  readonly longestRefusalMs: number;
}

const NODES = 3;
const LEASE_MS = 10_000;

export async function runUpgrade(input: TrialInput): Promise<UpgradeReport> {
  const uploads = new RefusedUploads();
  const server = { leaseMs: LEASE_MS };
  const options = { ...input, server, nodes: NODES, onExchange: uploads.note.bind(uploads) };
  const report = await Drill.run(options, async (drill) => {
    const formats = await upgrade(drill);
    const refused = uploads.report;
    await goBack(drill);
    return { formats, ...refused };
  });
  const { longestRefusalMs, problems } = report;
  if (longestRefusalMs <= LEASE_MS) return report;
  const late = `an upload was refused for ${longestRefusalMs} ms, longer than the lease of ${LEASE_MS} ms`;
  return { ...report, problems: [...problems, late] };
}

async function upgrade(drill: Drill): Promise<string> {
  const { basa } = drill;
  const next = await bundleNextVersion();
  const tried = await migratePostgres(drill.databaseUrl, NEXT_SERVER, { isDryRun: true });
  drill.say(`dry run: format ${tried.from} -> ${tried.to}`);
  const { from, to } = await migratePostgres(drill.databaseUrl, NEXT_SERVER);
  drill.say(`migrated while ${NODES} nodes run: format ${from} -> ${to}`);
  await drill.versions(1);
  basa.change({ bundle: next });
  for (const name of [...basa.servers, ...basa.authorities]) {
    await drill.restart(name);
    drill.say(`${name} runs the next version`);
    await drill.versions(1);
  }
  return `${tried.from} -> ${to} -> ${from}`;
}

/** All nodes stop together, because the next version does not run on tables of the previous version. */
async function goBack(drill: Drill): Promise<void> {
  const { basa } = drill;
  const all = [...basa.servers, ...basa.authorities];
  for (const name of all) await basa.stop(name);
  await migratePostgres(drill.databaseUrl, NEXT_SERVER, { to: SERVER_DATABASE.migrations.length });
  migrateFolder(join(basa.folder, 'authority'), NEXT_AUTHORITY, { to: EMBEDDED_DATABASE.migrations.length });
  basa.change({ bundle: drill.bundle });
  for (const name of [...all].reverse()) await basa.start(name);
  drill.say('all of them run the version before again');
  await drill.versions(1);
}
