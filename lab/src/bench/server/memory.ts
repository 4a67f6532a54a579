/** Measures the memory of a server for uploads that are under way and have half of their bytes there. */
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentBytes } from '../../trials/soak/samples.ts';
import type { HeldRequest } from './held-devices.ts';
import { loadHttp } from './load.ts';

const SETTLE_MS = 500;
const BEFORE = 2;

/**
 * Resident bytes that one more concurrent upload costs; every upload is ended afterwards. The first ones go before: the thread that hashes, and memory
 * that every upload uses again, are there once.
 */
export async function bytesPerUpload(pid: number, all: readonly HeldRequest[]): Promise<number> {
  const uploads = all.slice(BEFORE);
  await loadHttp(all.slice(0, BEFORE), 1);
  const before = residentBytes(pid);
  const asking = uploads.map(({ method, url, headers, body }) => {
    const one = request(url, { method, headers: { ...headers, 'content-length': String(body.length) }, agent: false });
    const answered = new Promise<void>((resolve, reject) => {
      one.once('response', (answer) => answer.resume().once('end', resolve));
      one.once('error', reject);
    });
    one.write(body.subarray(0, body.length / 2));
    return { end: () => one.end(body.subarray(body.length / 2)), answered };
  });
  await sleep(SETTLE_MS);
  const during = residentBytes(pid);
  for (const { end } of asking) end();
  await Promise.all(asking.map(({ answered }) => answered));
  return Math.max(0, during - before) / uploads.length;
}
