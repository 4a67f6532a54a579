/** A server accepts only valid answers of an authority: a lying one cannot fill its memory or lead it elsewhere. */
import { toHex } from '@basa/masking';
import type { TaskId, UserId } from '@basa/protocol';
import { HEADER } from '@basa/protocol/http';
import { Revocations, signRevocations } from '@basa/protocol/internal/wire/devices.ts';
import { InspectRequest, isSigned } from '@basa/protocol/wire';
import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { expect, it } from 'vitest';
import { AuthorityRefusal, AuthorityUnreachable } from '../../src/authority/authority-http.ts';
import { AuthorityLink } from '../../src/authority/authority-link.ts';

const signer = createNodeSigner(new Uint8Array(32).fill(1));

function linkWith(fetch: typeof globalThis.fetch): AuthorityLink {
  return new AuthorityLink({
    url: 'http://authority.test',
    publicKey: signer.publicKey,
    ports: { suite: nodeSuite, signer },
    timeoutMs: 60_000,
    fetch,
  });
}

const endless = (onPart: () => void): ReadableStream<Uint8Array> =>
  new ReadableStream({
    pull(controller) {
      onPart();
      controller.enqueue(new Uint8Array(64 * 1024));
    },
  });

it.each([200, 400])('stops reading an endless answer with status %d', async (status) => {
  let parts = 0;
  const link = linkWith(
    async () =>
      new Response(
        endless(() => parts++),
        { status },
      ),
  );
  await expect(link.health()).rejects.toThrow(AuthorityUnreachable);
  expect(parts).toBeLessThan(80);
});

it('follows no redirection', async () => {
  const asked: (RequestInit | undefined)[] = [];
  await linkWith(async (_, init) => {
    asked.push(init);
    return new Response();
  }).health();
  expect(asked).toMatchObject([{ redirect: 'error' }]);
});

it.each(['', 'null', '[]', 'no JSON', '{"title":7}'])('takes the refusal %j for one without words', async (body) => {
  const link = linkWith(async () => new Response(body, { status: 403 }));
  await expect(link.health()).rejects.toThrow(AuthorityRefusal);
  await expect(link.health()).rejects.toThrow('the authority refused: 403');
});

it('accepts only revocations that the authority signed', async () => {
  const stranger = createNodeSigner(new Uint8Array(32).fill(2));
  const users = [new Uint8Array(32).fill(9) as UserId];
  const asked = (by: typeof signer) => {
    const answer = Revocations.encode(signRevocations({ signer: by }, users));
    return linkWith(async () => new Response(answer.slice())).revocations();
  };
  expect(await asked(signer)).toEqual(users);
  await expect(asked(stranger)).rejects.toThrow('a list of revocations that is not its own');
});

it('signs its words, and the headers of long bodies', async () => {
  const asked: RequestInit[] = [];
  const link = linkWith(async (_, init) => {
    asked.push(init ?? {});
    return new Response('', { status: 403 });
  });
  const request = { task: new Uint8Array(32) as TaskId, epochs: [], models: [], uploads: [] };
  await expect(link.inspect(request)).rejects.toThrow(AuthorityRefusal);
  const { headers, body } = asked[0] as { headers: Record<string, string>; body: Uint8Array };
  expect(headers[HEADER.device]).toBe(toHex(signer.publicKey));
  expect(isSigned(nodeSuite, InspectRequest, InspectRequest.decode(body), signer.publicKey)).toBe(true);
});
