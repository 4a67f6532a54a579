/** Senders that hold on to what they do not use: connections, bodies, seats. */
import { toHex } from '@basa/masking';
import { ctxOf, drawnBufferCodec, SERVER_PATH } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import {
  askSigned,
  bytesOf,
  enrolledDevices,
  heapGrowthOf,
  honestFleet,
  honestFleetGoesOn,
  rawConnection,
} from '@basa/testkit/services/fleet.ts';
import { headersFor, holdUpload, send } from '@basa/testkit/services/held-upload.ts';
import { TestServices, until } from '@basa/testkit/services/test-services.ts';
import { afterEach, describe, expect, it } from 'vitest';

let services: TestServices | undefined;
afterEach(() => services?.close());

const CONNECTIONS = 100;

describe('slow senders', () => {
  it('that never end their heads or bodies are cut off, and others still get in', async () => {
    services = await TestServices.open({ server: { requestTimeoutMs: 2000 } });
    const { server } = services;
    const fleet = await honestFleet(services);
    const growth = await heapGrowthOf(async () => {
      const heads = await Promise.all(Array.from({ length: CONNECTIONS }, () => rawConnection(server.url)));
      for (const { write } of heads) write('GET /v1/server HTTP/1.1\r\nHost: x\r\nX-Slow: ');
      const bodies = await Promise.all(Array.from({ length: CONNECTIONS }, () => rawConnection(server.url)));
      for (const { write } of bodies)
        write('POST /v1/tasks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{');
      await honestFleetGoesOn(services as TestServices, fleet);
      await Promise.all([...heads, ...bodies].map(({ ended }) => ended));
    });
    expect(growth).toBeLessThan(64);
    await honestFleetGoesOn(services, fleet, 4);
  });

  it('of an upload hold one file each, lose it when they are cut off, and may come back', async () => {
    services = await TestServices.open({ server: { requestTimeoutMs: 2000 } });
    const upload = await holdUpload(services, 1);
    const headers = headersFor(services, upload, { body: upload.body });
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const slow = await rawConnection(services.server.url);
    slow.write(
      `PUT ${upload.target} HTTP/1.1\r\nHost: x\r\nContent-Length: ${upload.body.length}\r\n${lines.join('')}\r\n`,
    );
    slow.write(upload.body.subarray(0, 1));
    expect((await slow.ended).text).not.toContain('"accepted":true');
    expect(await send(services, upload)).toMatchObject({ status: 200, answer: { accepted: true } });
  });
});

describe('seats that nobody uses', () => {
  it('cost a buffer for every few of them, lapse, and keep no honest device from sitting down', async () => {
    const seats = 150;
    const unlimited = { addressLimit: { burst: 1e6, perSecond: 1e6 } };
    // Places are flow control for the honest; here there are more of them than seats that are wasted.
    const specification = { admission: { places: 2 * seats } };
    // Mixed versions: what idle devices leave of a buffer is used by devices that train on a newer one.
    const policy = { versions: 'unsafeMixed' } as const;
    services = await TestServices.open({
      policy,
      server: { ...unlimited, seatMs: 1_000_000 },
      authority: unlimited,
      specification,
    });
    const opened = services;
    const taken = new Set<string>();
    const growth = await heapGrowthOf(async () => {
      const sit = async ({ device, seat }: Awaited<ReturnType<typeof enrolledDevices>>[number]) => {
        const asked = askSigned(opened, device, 'server', SERVER_PATH.seats(opened.task), seat);
        const { descriptor } = drawnBufferCodec.decode(await bytesOf(asked));
        taken.add(toHex(ctxOf(nodeSuite, descriptor)));
      };
      await Promise.all((await enrolledDevices(opened, seats)).map(sit));
    });
    expect(growth).toBeLessThan(64);
    expect(taken.size).toBe(seats / opened.policy.bufferSize);
    const fleet = await honestFleet(opened);
    await honestFleetGoesOn(opened, fleet);
    opened.elapse(1_000_000);
    await honestFleetGoesOn(opened, fleet, 4);
    // The seats they left are used; at most one buffer was drawn before it was needed.
    await until(async () => (await opened.taskState()).buffers <= taken.size);
  });
});
