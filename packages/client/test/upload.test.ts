/** A body of many pieces over a bad connection. */
import { HEADER } from '@basa/protocol/http';
import { describe, expect, it } from 'vitest';
import { UnreachableError } from '../src/node/index.ts';
import { deltaOf, memoryStore } from './support/connect.ts';

import { type Asked, bytes, isPiece, json } from './support/services.ts';
import { accepted, startClient, startServices } from './support/setup.ts';

describe('an upload', () => {
  it.each(['before', 'after'] as const)(
    'continues at the right position if a piece is lost %s it arrives',
    async (when) => {
      const services = await startServices();
      const client = await startClient(services, { pieceBytes: 50 });
      let pieces = 0;
      const fault = when === 'before' ? 'lost' : 'answer-lost';
      services.mischief = { before: (asked) => (isPiece(asked) && ++pieces === 2 ? fault : undefined) };
      accepted(await client.contribute(deltaOf(1), { trainedOn: 0 }));
      const offsets = services.asked.filter(isPiece).map(({ headers }) => headers[HEADER.uploadOffset]);
      expect(offsets).toEqual(['0', '50', '50', '100', '150', '200', '250']);
    },
  );

  it('that was interrupted sends only the missing bytes', async () => {
    const services = await startServices();
    const store = memoryStore();
    const client = await startClient(services, { pieceBytes: 50, identity: store });
    const controller = new AbortController();
    client.on('progress', ({ sent = 0 }) => sent >= 100 && controller.abort());
    await client.contribute(deltaOf(1), { trainedOn: 0, signal: controller.signal }).catch(() => undefined);
    const before = services.asked.filter(isPiece).length;
    const back = await startClient(services, { pieceBytes: 50, identity: store });
    accepted(await back.resume());
    const later = services.asked.filter(isPiece).slice(before);
    expect(later.map(({ headers }) => headers[HEADER.uploadOffset])).toEqual(['100', '150', '200', '250']);
  });

  it('whose last answer got lost is acknowledged without its body', async () => {
    const services = await startServices();
    const store = memoryStore();
    const client = await startClient(services, { identity: store, retry: { attempts: 1 } });
    services.mischief = { before: (asked) => (isPiece(asked) ? 'answer-lost' : undefined) };
    await expect(client.contribute(deltaOf(1), { trainedOn: 0 })).rejects.toThrow('resume()');
    services.mischief = {};
    accepted(await client.resume());
    expect(services.asked.filter(isPiece).at(-1)?.body).toBeUndefined();
  });

  it('gives up if the server never reports a position', async () => {
    const services = await startServices();
    const client = await startClient(services);
    const told = json({ received: 0, accepted: false });
    services.mischief = { after: (asked) => (isPiece(asked) ? told : undefined) };
    await expect(client.contribute(deltaOf(1), { trainedOn: 0 })).rejects.toThrow('does not get beyond byte 0');
  });

  it('gives up if the server keeps only one byte of each piece', async () => {
    const services = await startServices();
    const client = await startClient(services);
    const kept = ({ headers }: Asked) => Number(headers[HEADER.uploadOffset]) + 1;
    services.mischief = {
      before: (asked) => (isPiece(asked) ? json({ received: kept(asked), accepted: false }) : undefined),
    };
    await expect(client.contribute(deltaOf(1), { trainedOn: 0 })).rejects.toThrow('does not get beyond byte 32');
    expect(services.asked.filter(isPiece)).toHaveLength(33);
  });
});

describe('a model', () => {
  const isModel = ({ path }: Asked): boolean => /\/models\/\d/.test(path);

  it('continues from the position at which the connection broke', async () => {
    const services = await startServices();
    const client = await startClient(services);
    let cuts = 0;
    services.mischief = {
      after: (asked, reply) => (isModel(asked) && cuts++ < 2 ? { ...reply, cutAfter: 40 } : undefined),
    };
    expect((await client.model()).version).toBe(0);
    expect(services.asked.filter(isModel).map(({ headers }) => headers['range'])).toEqual([
      undefined,
      'bytes=40-',
      'bytes=80-',
    ]);
  });

  it('is given up if the server starts from the beginning each time', async () => {
    const services = await startServices();
    const client = await startClient(services);
    const whole = bytes(new Uint8Array((await client.model()).parameters.buffer));
    services.asked.length = 0;
    const again = await startClient(services, { retry: { attempts: 3, firstWaitMs: 1 } });
    services.mischief = { before: (asked) => (isModel(asked) ? { ...whole, cutAfter: 40 } : undefined) };
    await expect(again.model()).rejects.toBeInstanceOf(UnreachableError);
    expect(services.asked.filter(isModel)).toHaveLength(3);
  });

  it('is fetched once as long as no newer one is logged', async () => {
    const services = await startServices();
    const client = await startClient(services);
    expect(await client.model()).toBe(await client.model());
    expect(services.asked.filter(isModel)).toHaveLength(1);
  });
});
