/** Bundles both services and the programs of the trials and of the bench of the server: devices, and modules that watch or measure a process from inside. */
import { fileURLToPath } from 'node:url';
import { type Bundle, bundleProcesses } from '@basa/testkit/processes/bundle.ts';

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

const PROGRAMS = {
  devices: pathOf('crash/devices.ts'),
  senders: pathOf('large/senders.ts'),
  'durable-moments': pathOf('crash/durable-moments.ts'),
  'clock-ahead': pathOf('crash/clock-ahead.ts'),
  discard: pathOf('../bench/server/discard.ts'),
  'load-process': pathOf('../bench/server/load-process.ts'),
} as const;

const WATCHERS = { sqlite: pathOf('crash/watched-sqlite.ts'), postgres: pathOf('crash/watched-postgres.ts') };

export type TrialBundle = Bundle<keyof typeof PROGRAMS>;

/** With `watched`, commits are durable moments as well. */
export function bundleTrial({ watched = false }: { readonly watched?: boolean } = {}): Promise<TrialBundle> {
  return bundleProcesses({ more: PROGRAMS, ...(watched && { watchers: WATCHERS }) });
}
