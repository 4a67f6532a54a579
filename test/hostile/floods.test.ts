/** Floods: a sender of too many requests is told to wait, and for how long; the others are served. */

import { signingDevice } from '@basa/conformance/signing-device.ts';
import { SERVER_PATH } from '@basa/protocol/http';
import { nodeRandomBytes } from '@basa/runtime/node';
import {
  askSigned,
  enrolledDevices,
  heapGrowthOf,
  honestFleet,
  honestFleetGoesOn,
} from '@basa/testkit/services/fleet.ts';
import { TestServices } from '@basa/testkit/services/test-services.ts';
import { afterEach, describe, expect, it } from 'vitest';

let services: TestServices | undefined;
afterEach(() => services?.close());

const UNLIMITED = { burst: 1e6, perSecond: 1e6 };
const FLOOD = 150;
/** Less than a flood, however slowly a machine sends it. */
const LIMITED = { burst: 100, perSecond: 0.1 };

/** Asks that many times, some at once; gives the statuses, and the shortest wait that was asked for. */
async function flood(ask: (n: number) => Promise<Response>): Promise<{ statuses: Set<number>; waits: number[] }> {
  const statuses = new Set<number>();
  const waits: number[] = [];
  for (let n = 0; n < FLOOD; n += 50) {
    await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const response = await ask(n + i);
        statuses.add(response.status);
        const problem = (await response.json()) as { readonly retryAfterMs?: number };
        if (response.status !== 429) return;
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
        waits.push(problem.retryAfterMs ?? 0);
      }),
    );
  }
  return { statuses, waits };
}

describe('a flood', () => {
  it('of one device is limited only for that device', async () => {
    services = await TestServices.open({ server: { addressLimit: UNLIMITED, deviceLimit: LIMITED } });
    const opened = services;
    const fleet = await honestFleet(opened);
    const [eve] = await enrolledDevices(opened, 1);
    const { device } = eve as NonNullable<typeof eve>;
    const growth = await heapGrowthOf(async () => {
      const { statuses, waits } = await flood(() =>
        askSigned(opened, device, 'server', SERVER_PATH.admissions(opened.task), nodeRandomBytes(64)),
      );
      expect([...statuses].sort()).toEqual([400, 429]);
      expect(Math.min(...waits)).toBeGreaterThan(0);
      await honestFleetGoesOn(opened, fleet);
    });
    expect(growth).toBeLessThan(64);
  });

  it('of many devices that nobody enrolled is refused one by one, and costs no memory', async () => {
    services = await TestServices.open({ server: { addressLimit: UNLIMITED } });
    const opened = services;
    const fleet = await honestFleet(opened);
    const growth = await heapGrowthOf(async () => {
      const { statuses } = await flood(() =>
        askSigned(opened, signingDevice(), 'server', SERVER_PATH.admissions(opened.task), nodeRandomBytes(64)),
      );
      expect([...statuses]).toEqual([400]);
      await honestFleetGoesOn(opened, fleet);
    });
    expect(growth).toBeLessThan(64);
  });

  it('of keys that nobody enrolled does not push requests of enrolled devices out of memory', async () => {
    services = await TestServices.open({ server: { addressLimit: UNLIMITED, maxNonces: 8 } });
    const opened = services;
    const [honest] = await enrolledDevices(opened, 1);
    const { device, certificate } = honest as NonNullable<typeof honest>;
    const nonce = nodeRandomBytes(16);
    const path = SERVER_PATH.admissions(opened.task);
    const ask = (used?: Uint8Array) => askSigned(opened, device, 'server', path, certificate, used);
    expect((await ask(nonce)).status).toBe(200);
    await flood(() => askSigned(opened, signingDevice(), 'server', path, nodeRandomBytes(64)));
    expect(await (await ask(nonce)).json()).toMatchObject({ type: 'urn:basa:problem:replayed' });
    for (let n = 0; n < 20; n++) expect((await ask()).status).toBe(200);
  });

  it('from one address is limited before a signature is looked at, and passes', async () => {
    services = await TestServices.open({ server: { addressLimit: LIMITED } });
    const opened = services;
    const fleet = await honestFleet(opened);
    const { statuses, waits } = await flood(() => fetch(new URL(SERVER_PATH.about, opened.server.url)));
    expect([...statuses].sort()).toEqual([200, 429]);
    expect(Math.min(...waits)).toBeGreaterThan(0);
    // The same address: its devices wait as they are told, and come through.
    opened.elapse(1_000_000);
    await honestFleetGoesOn(opened, fleet);
  });
});
