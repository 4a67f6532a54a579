/** Hints of a service beside its answers: waits, offsets and times. Out of range, none of them throws or spins. */
import { allSamples } from '@basa/learning';
import { HEADER } from '@basa/protocol/http';
import { isLoopback } from '@basa/protocol/internal/http/network.ts';
import { problemDocument } from '@basa/protocol/internal/http/problems.ts';
import { ONE_SHOT_DEFAULTS } from '@basa/protocol/policy';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { BasaClient as NodeClients } from '../src/node/index.ts';
import { sleep } from '../src/outside.ts';
import { BasaClient as WebClients } from '../src/web/index.ts';
import { connectTo, deltaOf, memoryStore, optionsFor } from './support/connect.ts';
import type { Answered, Asked, ServicesOptions } from './support/services.ts';
import { accepted, startClient, startServices } from './support/setup.ts';
import { tinyDataset, tinyModel } from './support/tiny.ts';

afterEach(() => void vi.useRealTimers());

let trained = 0;
const trainer = { model: tinyModel, train: () => ({ delta: deltaOf(1000 + trained++), loss: 1, samples: 1 }) };

const json = (text: string, headers: Record<string, string> = {}, status = 200): Answered => ({
  status,
  headers,
  body: Buffer.from(text),
});
/** A problem whose document says this of `retryAfterMs`, which no JSON writer would. */
const busy = (wait: string, headers: Record<string, string> = {}): Answered =>
  json(
    JSON.stringify(problemDocument('no-place')).replace(/}$/, wait === '' ? '}' : `,"retryAfterMs":${wait}}`),
    headers,
    429,
  );

describe('a wait', () => {
  it.each([2 ** 31, 2 ** 40, Number.MAX_VALUE, Number.POSITIVE_INFINITY])(
    'of %d ms does not end immediately, and ends with its signal',
    async (ms) => {
      vi.useFakeTimers();
      const leaving = new AbortController();
      const ended = vi.fn();
      const waiting = sleep(ms, leaving.signal).then(ended);
      await vi.advanceTimersByTimeAsync(3_600_000);
      expect(ended).not.toHaveBeenCalled();
      leaving.abort(new Error('over'));
      await expect(waiting).rejects.toThrow('over');
    },
  );

  it.each([Number.NaN, -1, Number.NEGATIVE_INFINITY])('of %d ms is skipped', async (ms) => {
    vi.useFakeTimers();
    const ended = vi.fn();
    const waiting = sleep(ms, new AbortController().signal).then(ended);
    await vi.advanceTimersByTimeAsync(1);
    expect(ended).toHaveBeenCalled();
    await waiting;
  });

  it.each([
    ['1e300', {}, 3_600_000],
    ['1e999', {}, 3_600_000],
    ['4294967296', {}, 3_600_000],
    ['-1', {}, undefined],
    ['"soon"', {}, undefined],
    ['null', {}, undefined],
    ['', { 'retry-after': '1e300' }, 3_600_000],
    ['', { 'retry-after': '-5' }, undefined],
    ['', { 'retry-after': 'Wed, 21 Oct 2065 07:28:00 GMT' }, undefined],
    ['250', {}, 250],
  ])('that a service asks for with %s %o is an hour at most', async (wait, headers, expected) => {
    const services = await startServices();
    const client = await startClient(services);
    services.mischief = { before: ({ path }) => (path.endsWith('/admissions') ? busy(wait, headers) : undefined) };
    const told = await client.admission();
    expect(told).toMatchObject({ kind: 'rejected', reason: 'no-place' });
    expect('retryAfterMs' in told ? told.retryAfterMs : undefined).toBe(expected);
  });
});

describe('run continues after', () => {
  const NO_TIME = json(JSON.stringify(problemDocument('overloaded', { retryAfterMs: 250 })), {}, 503);
  const upload = ({ path, method }: Asked): boolean => path.includes('/shots/') && method === 'PUT';
  it.each<[string, (asked: Asked) => Answered | undefined]>([
    [
      'an upload of less than nothing',
      (asked) => (upload(asked) ? json('{"received":-5,"accepted":false}') : undefined),
    ],
    [
      'an upload of more than there is',
      (asked) => (upload(asked) ? json('{"received":1e9,"accepted":false}') : undefined),
    ],
    ['half a byte', (asked) => (upload(asked) ? json('{"received":0.5,"accepted":false}') : undefined)],
    [
      'an offset beyond the end',
      (asked) =>
        upload(asked)
          ? json(JSON.stringify(problemDocument('offset-mismatch')), { [HEADER.uploadOffset]: '99999999' }, 409)
          : undefined,
    ],
    ['a place that is none', ({ path }) => (path.endsWith('/admissions') ? json('nonsense') : undefined)],
    ['a model of another length', ({ path }) => (path.includes('/models/') ? json('short') : undefined)],
    [
      'a model with a place that is none',
      ({ path }) => (path.endsWith('/admissions') ? json('{"endsInMs":1,"model":"00"}') : undefined),
    ],
    ...['/models/', '/admissions', '/shots/'].map((part): [string, (asked: Asked) => Answered | undefined] => [
      `a service without time for ${part}, which asks for a longer wait than one request has`,
      ({ path }) => (path.includes(part) ? NO_TIME : undefined),
    ]),
    [
      'a no that nobody knows',
      ({ path }) => (path.endsWith('/admissions') ? json('{"type":"x"}', {}, 418) : undefined),
    ],
  ])('%s', async (_, lie) => {
    const services = await startServices();
    const client = await startClient(services);
    let isTold = false;
    services.mischief = {
      before: (asked) => {
        if (isTold) return undefined;
        const answer = lie(asked);
        isTold = answer !== undefined;
        return answer;
      },
    };
    const summary = await client.run(trainer, allSamples(tinyDataset), { rounds: 1 });
    expect(summary).toMatchObject({ accepted: 1, ended: 'rounds' });
    expect(isTold).toBe(true);
  });
});

it.each([
  ['received', json('{"received":-5,"accepted":false}')],
  ['received', json('{"received":1e9,"accepted":false}')],
  ['offset', json(JSON.stringify(problemDocument('offset-mismatch')), { [HEADER.uploadOffset]: '99999999' }, 409)],
])('an upload does not go on from where it never was: %s', async (_, reply) => {
  const services = await startServices();
  const client = await startClient(services);
  services.mischief = { before: ({ path }) => (path.includes('/shots/') ? reply : undefined) };
  await expect(client.contribute(deltaOf(1), { trainedOn: 0 })).rejects.toMatchObject({ name: 'AnswerError' });
  expect(services.count('/shots/', 'PUT')).toBe(1);
});

describe('plain http', () => {
  const elsewhere = [
    'http://192.0.2.1:7800',
    'http://basa.example',
    'http://[2001:db8::1]:7800',
    'http://localhost.example',
  ];

  it.each(elsewhere)('to %s is refused before anything is sent', async (url) => {
    const services = await startServices();
    const refused = { name: 'RefusedError', reason: 'plain-http' };
    await expect(connectTo(services, { authority: url })).rejects.toMatchObject(refused);
    expect(services.asked).toEqual([]);
    await expect(connectTo(services, { server: url })).rejects.toMatchObject(refused);
    expect(services.asked.filter(({ host }) => host === 'server')).toEqual([]);
  });

  it('is allowed to this machine, or if the application allows it', async () => {
    for (const here of ['localhost', '127.0.0.1', '127.255.0.9', '::1', '[::1]'])
      expect([here, isLoopback(here)]).toEqual([here, true]);
    for (const there of ['127.0.0.1.example', 'localhost.example', 'x.localhost', '0.0.0.0', '[::2]', '1127.0.0.1']) {
      expect([there, isLoopback(there)]).toEqual([there, false]);
    }
    const services = await startServices();
    accepted(await (await startClient(services)).contribute(deltaOf(1), { trainedOn: 0 }));
    const retry = { attempts: 1, timeoutMs: 50 };
    await expect(
      connectTo(services, { authority: 'http://192.0.2.1:7800', unsafeAllowPlainHttp: true, retry }),
    ).rejects.toMatchObject({ name: 'UnreachableError' });
  });
});

describe('the floor of an application', () => {
  const PRIVATE: ServicesOptions['policy'] = {
    privacy: { noiseMultiplier: 4, colluders: 0, budget: { delta: 1e-3, participations: 4 } },
  };

  const NOISY: ServicesOptions['policy'] = { oneShot: { ...ONE_SHOT_DEFAULTS, authorityNoise: true } };

  it.each([
    [
      { minimum: 3 },
      {},
      'a sum may contain only 2 updates of one version; this device demands at least 3 (floor: { minimum: 2 } does not)',
    ],
    [
      { minimum: 3 },
      { minimum: 3, oneShot: { ...ONE_SHOT_DEFAULTS, versionMinimum: 2 } },
      'only 2 updates of one version; this device demands at least 3',
    ],
    [{ noNoise: false }, {}, 'its sums have no noise'],
    [
      { privacy: { epsilon: 100, delta: 1e-6 } },
      { privacy: { noiseMultiplier: 0.9, colluders: 0, budget: undefined } },
      'the task only blurs sums',
    ],
    [{ maxStaleness: 9 }, {}, 'may be 10 versions behind; this device accepts at most 9'],
    [{}, { maxStaleness: 16 }, 'may be 16 versions behind; this device accepts at most 15'],
    [{ minimum: Number.NaN }, {}, 'at least NaN'],
    [
      { privacy: { epsilon: 100, delta: 1e-6 } },
      {},
      'the task adds no noise; this device demands epsilon of at most 100',
    ],
    // z = 4 and four inclusions are epsilon 2.4 at 10^-6, and more at a smaller delta than the policy's own.
    [{ privacy: { epsilon: 2.3, delta: 1e-6 } }, PRIVATE, 'the total epsilon is 2.4'],
    [{ privacy: { epsilon: 2.5, delta: 1e-9 } }, PRIVATE, 'at delta 1e-9; this device accepts at most 2.5'],
    [
      { privacy: { epsilon: 9, delta: 1e-6, colluders: 1 } },
      PRIVATE,
      'tolerates 0 colluding devices; this device demands 1',
    ],
    [{ privacy: { epsilon: Number.NaN, delta: 1e-6 } }, PRIVATE, 'at most NaN'],
    [{ privacy: { epsilon: 9, delta: 1 } }, PRIVATE, 'delta must be between 0 and 1, got 1'],
    [{ privacy: { epsilon: 9, delta: 0 } }, PRIVATE, 'delta must be between 0 and 1, got 0'],
    [{ privacy: { epsilon: 9, delta: Number.NaN } }, PRIVATE, 'delta must be between 0 and 1, got NaN'],
    [{ checkedSums: true }, {}, 'only one authority computes the sum of the masks'],
    [{ deviceNoise: true }, { ...PRIVATE, ...NOISY }, 'the authority adds the noise and could leave it out'],
  ])('%o refuses a policy below it before the device enrols', async (floor, policy, sentence) => {
    const services = await startServices({ policy });
    const refused = { reason: 'below-floor', message: expect.stringContaining(sentence) };
    await expect(connectTo(services, { floor })).rejects.toMatchObject(refused);
    expect(services.count('/enrolments')).toBe(0);
  });

  it('is a sum of at least three updates unless the application says otherwise', async () => {
    const services = await startServices();
    const stock = { ...optionsFor(services), floor: { noNoise: true } };
    for (const Clients of [NodeClients, WebClients])
      await expect(Clients.connect({ ...stock, identity: memoryStore() })).rejects.toMatchObject({
        reason: 'below-floor',
        message: expect.stringContaining('demands at least 3 (floor: { minimum: 2 } does not)'),
      });
    await startClient(services, { floor: { minimum: 2 } });
  });

  it('lets a policy pass that meets it', async () => {
    const services = await startServices({ policy: { minimum: 3, maxStaleness: 16 } });
    await startClient(services, { floor: { minimum: 3, maxStaleness: 16 } });
  });

  it('lets a private policy pass that meets it', async () => {
    const services = await startServices({ policy: PRIVATE });
    await startClient(services, { floor: { noNoise: false, privacy: { epsilon: 2.5, delta: 1e-6, colluders: 0 } } });
  });
});
