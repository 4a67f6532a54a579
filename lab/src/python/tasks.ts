/** A Python device with Node devices in tasks that it must be stopped in: a private one with a budget, and statistics. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { until } from '@basa/conformance/until.ts';
import { RING_32, toHex } from '@basa/masking';
import { SERVER_PATH } from '@basa/protocol/http';
import { fieldsOf, statisticsNorm, statisticsWords } from '@basa/protocol/internal/wire/statistics.ts';
import type { TaskPolicy, WindowResult } from '@basa/protocol/policy';
import { oneHot, READER, TestServices } from '@basa/testkit/services/test-services.ts';
import { runPython } from './python.ts';

interface InTask {
  readonly services: TestServices;
  /** What the command says with these words: the device is the same each time. */
  device(words: readonly string[], variables?: Readonly<Record<string, string>>): Promise<string>;
}

async function inTask(policy: Partial<TaskPolicy>, check: (task: InTask) => Promise<boolean>): Promise<boolean> {
  const usual = { maxSkewMs: 300_000 };
  const services = await TestServices.open({ policy, server: usual, authority: usual });
  try {
    const settings = {
      BASA_SERVER: services.server.url,
      BASA_AUTHORITY: services.authority.url,
      BASA_AUTHORITY_KEY: toHex(services.authority.publicKey),
      BASA_TASK: services.task,
      BASA_IDENTITY: join(services.folder, 'python'),
      BASA_ENROLMENT_TOKEN: await services.token(),
    };
    return await check({
      services,
      device: (words, variables) =>
        runPython(['-m', 'basa', ...words], { ...settings, ...variables }).then(
          ({ stdout }) => stdout,
          ({ stderr }: { stderr: string }) => stderr,
        ),
    });
  } finally {
    await services.close();
    await rm(services.folder, { recursive: true, force: true });
  }
}

/**
 * Checks that a device with a budget of one contribution makes a version with the first, and refuses to send the second. Before that, the
 * same device requires a smaller epsilon than the task's value of about 5, and does not take part.
 */
export function stopsAtItsBudget(): Promise<boolean> {
  const privacy = { noiseMultiplier: 1, colluders: 0, budget: { delta: 1e-6, participations: 1 } };
  const policy = { bufferSize: 2, minimum: 2, dimension: 8, level: 8, clip: 1, privacy };
  return inTask(policy, async ({ services, device }) => {
    const contribute = async (place: number, maxEpsilon: string): Promise<string> => {
      const update = join(services.folder, `update-${place}`);
      await writeFile(update, new Uint8Array(oneHot(place).buffer));
      return device(['--max-epsilon', maxEpsilon], { BASA_UPDATE: update, BASA_MINIMUM: '2' });
    };
    const tooMuch = await contribute(0, '4');
    const first = await contribute(0, '6');
    const node = await services.client('node');
    const { version } = await node.model();
    const other = await node.contribute(oneHot(1), { trainedOn: version });
    await services.reached(1);
    const second = await contribute(2, '6');
    const isHeld = tooMuch.includes('below-floor') && second.includes('budget-spent');
    return isHeld && first.startsWith('accepted') && other.kind === 'accepted';
  });
}

/** Exact sums of three reports, and no second report of the same device. */
export function reportsTogether(): Promise<boolean> {
  const fields = fieldsOf({ screenMs: { low: 0, high: 1000, step: 10 }, country: { choices: ['at', 'de'] } });
  const statistics = { fields, windowMs: 2 ** 32 - 1, unsafeExact: true };
  const numbers = { dimension: statisticsWords(fields), clip: statisticsNorm(fields), level: 1, modulus: RING_32 };
  return inTask({ bufferSize: 3, minimum: 3, ...numbers, statistics }, async ({ services, device }) => {
    const file = join(services.folder, 'report.json');
    await writeFile(file, JSON.stringify({ screenMs: 600, country: 'nowhere' }));
    const below = await device(['--report', file]);
    const first = await device(['--report', file, '--no-noise']);
    const second = await device(['--report', file, '--no-noise']);
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
  });
}
