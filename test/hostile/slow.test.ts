/** Senders that hold on to what they do not use: connections, bodies, places. */
import { SERVER_PATH } from '@basa/protocol/http';
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
import { TestServices } from '@basa/testkit/services/test-services.ts';
import { afterEach, describe, expect, it } from 'vitest';

let services: TestServices | undefined;
afterEach(() => services?.close());

const CONNECTIONS = 50;

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

describe('places that nobody uses', () => {
  it('cost no memory, lapse, and keep no honest device from giving its update', async () => {
    const places = 60;
    const unlimited = { addressLimit: { burst: 1e6, perSecond: 1e6 } };
    services = await TestServices.open({
      server: unlimited,
      authority: unlimited,
      specification: { places },
    });
    const opened = services;
    const fleet = await honestFleet(opened);
    const growth = await heapGrowthOf(async () => {
      const idle = await enrolledDevices(opened, places);
      const path = SERVER_PATH.admissions(opened.task);
      const ask = ({ device, certificate }: (typeof idle)[number]) =>
        bytesOf(askSigned(opened, device, 'server', path, certificate));
      await Promise.all(idle.map(ask));
    });
    expect(growth).toBeLessThan(64);
    expect(await fleet[0]?.admission()).toMatchObject({ kind: 'rejected', reason: 'no-place' });
    await honestFleetGoesOn(opened, fleet);
    opened.elapse(opened.policy.uploadLeaseMs);
    expect(await fleet[0]?.admission()).toMatchObject({ kind: 'place' });
    await honestFleetGoesOn(opened, fleet, 4);
  });
});
