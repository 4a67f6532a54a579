/** Samples of the processes over time, if the system provides them: memory, open files, bytes on disk. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';

export interface Sample {
  readonly buffers: number;
  readonly serverMegabytes: number;
  readonly authorityMegabytes: number;
  readonly serverFiles: number;
  readonly diskMegabytes: number;
  readonly bodies: number;
  readonly latencyMs: number;
  /** The number of earlier starts of each process. */
  readonly serverLife: number;
  readonly authorityLife: number;
}

export interface Lives {
  readonly server: number;
  readonly authority: number;
}

export function sampleOf(
  { children, folder }: TestProcesses,
  lives: Lives,
  buffers: number,
  latencies: number[],
): Sample {
  const [server = 0, authority = 0] = [children.get('server')?.pid, children.get('authority')?.pid];
  const sorted = latencies.splice(0).sort((a, b) => a - b);
  return {
    buffers,
    serverMegabytes: residentBytes(server) / 2 ** 20,
    authorityMegabytes: residentBytes(authority) / 2 ** 20,
    serverFiles: openFiles(server),
    diskMegabytes: filesBelow(folder).reduce((sum, path) => sum + sizeOf(path), 0) / 2 ** 20,
    bodies: filesBelow(join(folder, 'server', 'blobs')).filter((path) => !path.includes('models')).length,
    latencyMs: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
    serverLife: lives.server,
    authorityLife: lives.authority,
  };
}

/** Resident bytes of a process, or NaN if the system does not report them. */
export function residentBytes(pid: number): number {
  try {
    const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) * 1024;
  } catch {
    return Number.NaN;
  }
}

function openFiles(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return Number.NaN;
  }
}

/** Files come and go while they are looked at. */
function filesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    });
  } catch {
    return [];
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}
