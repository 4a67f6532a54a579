/** What a server takes from an authority, however it answers: a lying one fills no memory and leads nowhere else. */
import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { expect, it } from 'vitest';
import { AuthorityLink, AuthorityRefusal, AuthorityUnreachable } from '../../src/authority/authority-link.ts';

const signer = createNodeSigner(new Uint8Array(32).fill(1));

function linkWith(fetch: typeof globalThis.fetch): AuthorityLink {
  return new AuthorityLink({
    url: 'http://authority.test',
    publicKey: signer.publicKey,
    ports: { suite: nodeSuite, signer },
    timeoutMs: 60_000,
    fetch,
    head: undefined,
    keepHead: async () => {},
  });
}

const endless = (onPart: () => void): ReadableStream<Uint8Array> =>
  new ReadableStream({
    pull(controller) {
      onPart();
      controller.enqueue(new Uint8Array(64 * 1024));
    },
  });

it.each([200, 400])('stops reading an answer that goes on and on, with status %d', async (status) => {
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
