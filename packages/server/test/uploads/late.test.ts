/** A server that is far behind still takes uploads: the training behind them must not be lost. */
import { createService, Type } from '@basa/service';
import { expect, it, onTestFinished } from 'vitest';
import { mountPieces } from '../../src/routes/shots.ts';

it('uploads are taken by a server that is late, and nothing else that is sent with PUT', async () => {
  const ports = { audience: new Uint8Array(32), clock: Date.now, lateMs: () => 60_000 };
  const service = await createService({ title: 'test', ...ports });
  onTestFinished(() => service.close());
  const judge = () => Promise.reject(new Error('the test signs no upload'));
  mountPieces(service, { path: '/v1/upload', params: Type.Object({}), summary: 'an upload', judge });
  service.app.put('/v1/other', async () => ({}));
  const statusOf = async (url: string) => (await service.app.inject({ method: 'PUT', url })).statusCode;
  expect([await statusOf('/v1/upload'), await statusOf('/v1/other')]).toEqual([401, 503]);
});
