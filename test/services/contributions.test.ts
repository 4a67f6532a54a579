import { countsOf, oneHot, TestServices } from '@basa/testkit/services/test-services.ts';
import { afterEach, describe, expect, it } from 'vitest';

let services: TestServices | undefined;
afterEach(() => services?.close());

describe('contributions over HTTP', () => {
  it('may be interrupted before the first byte: the others make their mean without them', async () => {
    const opened = await TestServices.open({ specification: { stallMs: 60_000 } });
    services = opened;
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => opened.client(name)));
    const leaving = new AbortController();
    b?.on('progress', ({ step }) => {
      if (step === 'upload') leaving.abort();
    });
    await expect(b?.contribute(oneHot(1), { trainedOn: 0, signal: leaving.signal })).rejects.toThrow();
    await Promise.all([a?.contribute(oneHot(0), { trainedOn: 0 }), c?.contribute(oneHot(2), { trainedOn: 0 })]);
    opened.elapse(60_001);
    const model = await opened.reached(1);
    expect(Array.from(model, (value) => Math.round(value * 2))).toEqual([-1, 0, -1, 0, 0, 0, 0, 0]);
    // Its bytes wait on the device, and count in a later batch.
    expect(await b?.resume()).toMatchObject({ kind: 'accepted' });
  });

  it('of many devices at the same time fill batches side by side, and each counts once in one of them', async () => {
    const opened = await TestServices.open({ policy: { dimension: 12 } });
    services = opened;
    const names = Array.from({ length: 12 }, (_, n) => `device ${n}`);
    const devices = await Promise.all(names.map((name) => opened.client(name)));
    const results = await Promise.all(devices.map((device, n) => device.contribute(oneHot(n, 12), { trainedOn: 0 })));
    expect(results.map(({ kind }) => kind)).toEqual(names.map(() => 'accepted'));
    const last = await opened.reached(4);
    const fates = results.map((result) => opened.fate(result.kind === 'accepted' ? result.ctx : ''));
    expect(new Set((await Promise.all(fates)).map(({ ctx }) => ctx)).size).toBe(4);
    expect(countsOf(last, 3)).toEqual(names.map(() => 1));
  });
});
