/** The lines of the log at the usual level: few, with repeats folded, and no stack of an expected fault. */
import type { Ctx, TaskId } from '@basa/protocol';
import { afterEach, expect, it, vi } from 'vitest';
import { ExpectedFault } from '../../src/index.ts';
import { serviceWith } from './test-service.ts';

afterEach(() => vi.useRealTimers());

async function logged() {
  const lines: string[] = [];
  const service = await serviceWith({ log: { level: 'info', stream: { write: (line) => void lines.push(line) } } });
  return { service, lines: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

it('requests that succeed write no line', async () => {
  const { service, lines } = await logged();
  for (let n = 0; n < 12; n++) expect((await service.app.inject('/v1/health')).statusCode).toBe(200);
  expect(lines()).toEqual([]);
});

it('refusals of one kind are one line a minute, which counts the others', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const { service, lines } = await logged();
  for (let n = 0; n < 5; n++) await service.app.inject('/v1/nothing');
  await service.app.inject('/v1/staff');
  const notFound = { msg: 'request refused', refused: 'not-found', statusCode: 404 };
  expect(lines()).toMatchObject([notFound, { refused: 'operator-token-missing', statusCode: 401 }]);
  vi.advanceTimersByTime(60_000);
  expect(lines().slice(2)).toMatchObject([{ ...notFound, repeats: 4 }]);
  vi.advanceTimersByTime(60_000);
  await service.app.inject('/v1/nothing');
  expect(lines().slice(3)).toMatchObject([notFound]);
});

it('repeats are not lost when the service ends', async () => {
  const { service, lines } = await logged();
  for (let n = 0; n < 3; n++)
    service.log.fault('an authority does not send its epoch', new ExpectedFault('it is down'));
  await service.close();
  expect(lines().map(({ repeats }) => repeats)).toEqual([undefined, 2]);
});

it('an expected fault is a sentence without a stack; another has its stack', async () => {
  const { service, lines } = await logged();
  service.log.fault('a tick failed', new ExpectedFault('the authority does not answer'));
  service.log.fault('a tick failed', new TypeError('a mistake'), 'error');
  const [expected, other] = lines();
  expect(expected).toMatchObject({ level: 40, msg: 'a tick failed', reason: 'the authority does not answer' });
  expect(JSON.stringify(expected)).not.toContain('stack');
  expect(other).toMatchObject({ level: 50, err: { message: 'a mistake', stack: expect.stringContaining('at ') } });
});

it('an event of a batch is told with its task; one of an upload only at the level debug', async () => {
  const { service, lines } = await logged();
  const ctx = new Uint8Array(32).fill(7) as Ctx;
  service.log.event({ kind: 'upload-accepted', ctx }, 'abcd1234');
  service.log.event({ kind: 'batch-included', ctx, version: 3 }, 'abcd1234');
  service.log.event({ kind: 'authority-fault', task: ctx as unknown as TaskId, authority: 2, subject: 'mask-sum' });
  expect(lines()).toMatchObject([
    { level: 30, msg: 'batch-included', task: 'abcd1234', event: { version: 3 }, trace_id: '07'.repeat(16) },
    { level: 40, msg: 'authority-fault', event: { authority: 2 } },
  ]);
});
