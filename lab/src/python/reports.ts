/** A Python device in a statistics task: its report is summed with those of Node devices, and it gives no second one. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { until } from '@basa/conformance/until.ts';
import { RING_32, toHex } from '@basa/masking';
import { SERVER_PATH } from '@basa/protocol/http';
import { fieldsOf, statisticsNorm, statisticsWords } from '@basa/protocol/internal/wire/statistics.ts';
import type { WindowResult } from '@basa/protocol/policy';
import { READER, TestServices } from '@basa/testkit/services/test-services.ts';
import { runPython } from './python.ts';

const fields = fieldsOf({ screenMs: { low: 0, high: 1000, step: 10 }, country: { choices: ['at', 'de'] } });
const statistics = { fields, windowMs: 2 ** 32 - 1, unsafeExact: true };

/** Exact sums of three reports. */
export async function reportsTogether(): Promise<boolean> {
  const usual = { maxSkewMs: 300_000 };
  const numbers = { dimension: statisticsWords(fields), clip: statisticsNorm(fields), level: 1, modulus: RING_32 };
  const policy = { bufferSize: 3, minimum: 3, ...numbers, statistics };
  const services = await TestServices.open({ policy, server: usual, authority: usual });
  try {
    const file = join(services.folder, 'report.json');
    await writeFile(file, JSON.stringify({ screenMs: 600, country: 'nowhere' }));
    const settings = {
      BASA_SERVER: services.server.url,
      BASA_AUTHORITY: services.authority.url,
      BASA_AUTHORITY_KEY: toHex(services.authority.publicKey),
      BASA_TASK: services.task,
      BASA_IDENTITY: join(services.folder, 'python'),
      BASA_ENROLMENT_TOKEN: await services.token(),
    };
    const report = (...more: readonly string[]): Promise<string> => {
      const run = runPython(['-m', 'basa', '--report', file, ...more], settings);
      return run.then(({ stdout }) => stdout).catch(({ stderr }: { stderr: string }) => stderr);
    };
    const below = await report();
    const first = await report('--no-noise');
    const second = await report('--no-noise');
    for (const [n, country] of ['at', 'de'].entries())
      await (await services.client(`node-${n}`)).report({ screenMs: 150 * n, country });
    const windows = async (): Promise<readonly WindowResult[]> => {
      const answer = await fetch(new URL(SERVER_PATH.statistics(services.task), services.server.url), {
        headers: READER,
      });
      return ((await answer.json()) as { readonly windows: readonly WindowResult[] }).windows;
    };
    await until(async () => (await windows())[0]?.devices === 3);
    const isHeld = below.includes('its sums are exact') && second.includes('budget-spent');
    const buckets = ['at', 'de', 'other'].map((bucket) => ({ bucket, count: 1 }));
    const sums = [
      { kind: 'number', name: 'screenMs', mean: 250, error: 0 },
      { kind: 'histogram', name: 'country', error: 0, buckets },
    ];
    return isHeld && first.startsWith('accepted') && isDeepStrictEqual((await windows())[0]?.fields, sums);
  } finally {
    await services.close();
    await rm(services.folder, { recursive: true, force: true });
  }
}
