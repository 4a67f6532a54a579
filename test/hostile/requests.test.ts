/** Requests that are not what they say: too long, cut off, compressed, said twice, or somebody else's. */
import { gzipSync } from 'node:zlib';
import { SERVER_PATH } from '@basa/protocol/http';
import { heapGrowthOf, honestFleet, honestFleetGoesOn, rawConnection } from '@basa/testkit/services/fleet.ts';
import { holdUpload, send } from '@basa/testkit/services/held-upload.ts';
import { TestServices } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let services: TestServices;
beforeAll(async () => {
  services = await TestServices.open();
});
afterAll(() => services.close());

describe('requests that contradict their headers', () => {
  it('with huge heads are refused, and the connection ends', async () => {
    const growth = await heapGrowthOf(async () => {
      for (let n = 0; n < 20; n++) {
        const connection = await rawConnection(services.server.url);
        connection.write(`GET /v1/server HTTP/1.1\r\nHost: x\r\nX-Huge: ${'x'.repeat(1 << 20)}\r\n\r\n`);
        expect([400, 0]).toContain((await connection.ended).status); // 0: it was cut off while it still sent
      }
    });
    expect(growth).toBeLessThan(64);
  });

  it.each([
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello'],
    ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a negative length', 'Content-Length: -1\r\n\r\n'],
    ['invalid chunks', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n'],
  ])('with %s are refused, and nothing behind them is read as a request', async (_, rest) => {
    const connection = await rawConnection(services.server.url);
    connection.write(`POST /v1/tasks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${rest}`);
    connection.write('GET /v1/server HTTP/1.1\r\nHost: x\r\n\r\n');
    const { status, text } = await connection.ended;
    expect(status).toBe(400);
    expect(text).not.toContain('authorityKey');
  });

  it('with compressed bodies are taken as the bytes they are: nothing is ever unpacked', async () => {
    const bomb = gzipSync(new Uint8Array(1 << 26));
    const growth = await heapGrowthOf(async () => {
      const response = await fetch(new URL(SERVER_PATH.tasks, services.server.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
        body: bomb,
      });
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
      const upload = await holdUpload(services, 1);
      const packed = gzipSync(upload.body);
      const told = await send(services, upload, { body: packed, headers: { 'content-encoding': 'gzip' } });
      expect(told.status).toBeGreaterThanOrEqual(400);
      expect(told.status).toBeLessThan(500);
      await upload.client.discard();
    });
    expect(growth).toBeLessThan(32);
  });

  it('do not disturb the honest fleet', async () => {
    const { version = 0 } = await services.taskState();
    const fleet = await honestFleet(services);
    await honestFleetGoesOn(services, fleet, 4);
    expect((await services.taskState()).version).toBe(version + 1);
  });
});
