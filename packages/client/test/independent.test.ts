/**
 * Nothing that leaves the SDK for an authority depends on an update: a device runs twice with the same coins and two updates, against the
 * same authority. What the server passes on of an upload counts as well: certificate, header and sealed parts.
 */
import { fromHex } from '@basa/masking';
import { millis } from '@basa/protocol';
import { HEADER } from '@basa/protocol/http';
import { Certificate, ShotHeader, ShotUpload, shotLayout } from '@basa/protocol/wire';
import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { afterEach, expect, it, vi } from 'vitest';
import { connect } from '../src/connect.ts';
import { inMemoryStoreForTests, nodeOutside } from '../src/node/index.ts';
import { deltaOf, optionsFor } from './support/connect.ts';
import { type Answered, isPiece, problem, type Services } from './support/services.ts';
import { startServices } from './support/setup.ts';

/** A stream of its own for every length: the draws that round an update have another than seeds, tags and nonces. */
function coins(): (length: number) => Uint8Array {
  const drawn = new Map<number, number>();
  return (length) => {
    const number = (drawn.get(length) ?? 0) + 1;
    drawn.set(length, number);
    const bytes = new Uint8Array(length);
    for (let at = 0; at < length; at += 32)
      bytes.set(
        nodeSuite.sha256(Uint8Array.of(length & 255, length >> 8, number, at & 255, at >> 8)).subarray(0, length - at),
        at,
      );
    return bytes;
  };
}

/** The services answer only the first run: the same coins give the same nonces. Everything that one run tells the authority, and its upload as the authority would see it; and the body. */
async function run(services: Services, told: Map<string, Answered>, now: number, update: Float32Array) {
  const { policy } = services.world;
  services.asked.length = 0;
  services.mischief = {
    before: (asked) => (isPiece(asked) ? problem('task-paused') : told.get(`${asked.method} ${asked.path}`)),
    after: (asked, answered) => {
      told.set(`${asked.method} ${asked.path}`, answered);
      return undefined;
    },
  };
  const outside = { ...nodeOutside(), randomBytes: coins(), now: () => millis(now) };
  const store = inMemoryStoreForTests(createNodeSigner(new Uint8Array(32).fill(7)));
  const { identity: _, ...options } = optionsFor(services, { token: services.tokens[0] as string });
  const client = await connect(outside, store, options);
  try {
    expect(await client.contribute(update, { trainedOn: 0 })).toMatchObject({ reason: 'task-paused', update: 'given' });
  } finally {
    await client.close();
  }
  const asked = services.asked.filter(({ host }) => host === 'authority');
  const put = services.asked.find(({ path, method }) => path.includes('/shots/') && method === 'PUT');
  const upload = ShotUpload.decode(fromHex(String(put?.headers[HEADER.upload])) ?? new Uint8Array());
  const { vectorBytes } = shotLayout(policy, upload.header.epochs);
  const body = put?.body ?? new Uint8Array();
  const shown = [Certificate.encode(upload.certificate), ShotHeader.encode(upload.header), body.slice(vectorBytes)];
  const toAuthority = asked.map(({ method, path, headers, body: sent }) => {
    const own = Object.entries(headers).filter(([name]) => name.startsWith('basa-') || name === HEADER.digest);
    return { method, path, headers: Object.fromEntries(own), sent };
  });
  return { toAuthority, shown, body };
}

afterEach(() => void vi.restoreAllMocks());

it('two updates of a device tell the authority the same bytes, and the server another body', async () => {
  const [services, now] = [await startServices(), Date.now()];
  vi.spyOn(Date, 'now').mockReturnValue(now); // of the services
  const told = new Map<string, Answered>();
  const [first, second] = [
    await run(services, told, now, deltaOf(1)),
    await run(
      services,
      told,
      now,
      deltaOf(2).map((value) => 3 * value),
    ),
  ];
  expect(first.toAuthority.length).toBeGreaterThan(1);
  expect(second.toAuthority).toEqual(first.toAuthority);
  expect(second.shown).toEqual(first.shown);
  expect(second.body).toHaveLength(first.body.length);
  expect(second.body).not.toEqual(first.body);
});
