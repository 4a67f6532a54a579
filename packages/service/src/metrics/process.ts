/** Metrics that every process has: memory, processor time, the delay of its event loop, and the disk it writes to. */
import { statfs } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Metrics } from './metrics.ts';

const NANO = 1e-9;
const MICRO = 1e-6;
const RESOLUTION_MS = 20;

/** Returns a function that ends the watch over the event loop. */
export function watchProcess(metrics: Metrics, folder: string | undefined): () => void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  metrics.gauge('basa_event_loop_delay_seconds', () => {
    const late = (nanoseconds: number): number => Math.max(0, nanoseconds * NANO - RESOLUTION_MS / 1000);
    const [half, most, max] = [delays.percentile(50), delays.percentile(99), delays.max];
    delays.reset();
    return [
      [{ quantile: '0.5' }, late(half)],
      [{ quantile: '0.99' }, late(most)],
      [{ quantile: '1' }, late(max)],
    ];
  });
  metrics.gauge('process_resident_memory_bytes', () => [[{}, process.memoryUsage.rss()]]);
  metrics.gauge('process_heap_bytes', () => [[{}, process.memoryUsage().heapUsed]]);
  metrics.counted('process_cpu_seconds_total', () => {
    const { user, system } = process.cpuUsage();
    return [[{}, (user + system) * MICRO]];
  });
  const startedAt = Math.round(Date.now() / 1000 - process.uptime());
  metrics.gauge('process_start_time_seconds', () => [[{}, startedAt]]);
  if (folder !== undefined) watchDisk(metrics, folder);
  return () => delays.disable();
}

function watchDisk(metrics: Metrics, folder: string): void {
  metrics.gauge('basa_disk_free_bytes', async () => {
    const { bavail, bsize } = await statfs(folder);
    return [[{}, bavail * bsize]];
  });
  metrics.gauge('basa_disk_size_bytes', async () => {
    const { blocks, bsize } = await statfs(folder);
    return [[{}, blocks * bsize]];
  });
}
