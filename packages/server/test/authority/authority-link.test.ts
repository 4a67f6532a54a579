/** A server accepts only valid answers of an authority: a lying one cannot fill its memory or lead it elsewhere. */
import { toHex } from '@basa/masking';
import {
  HEADER,
  headCodec,
  inspectRequestCodec,
  isSigned,
  revocationsCodec,
  type TaskId,
  type UserId,
} from '@basa/protocol';
import { createNodeSigner, nodeSuite } from '@basa/runtime/node';
import { expect, it } from 'vitest';
import { AuthorityRefusal, AuthorityUnreachable } from '../../src/authority/authority-http.ts';
import { AuthorityLink } from '../../src/authority/authority-link.ts';

const signer = createNodeSigner(new Uint8Array(32).fill(1));

function linkWith(fetch: typeof globalThis.fetch, kept: Uint8Array[] = []): AuthorityLink {
  return new AuthorityLink({
    url: 'http://authority.test',
    publicKey: signer.publicKey,
    ports: { suite: nodeSuite, signer },
    timeoutMs: 60_000,
    fetch,
    head: undefined,
    keepHead: async (head) => void kept.push(head),
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

/** A head of the log, signed by this key. */
function headBy(by: typeof signer, change: { readonly sequence?: number; readonly branch?: number } = {}): Uint8Array {
  const { sequence = 5, branch = 1 } = change;
  const body = { branch: new Uint8Array(16).fill(branch), sequence, revocations: 0, hash: new Uint8Array(32) };
  return headCodec.encode({ ...body, signature: by.sign(headCodec.statement(body)) });
}

/** Asks once for each of these heads, and gives those that were kept. */
async function keptOf(heads: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
  const kept: Uint8Array[] = [];
  const left = [...heads];
  const link = linkWith(async () => {
    const head = left.shift();
    return new Response('', head === undefined ? {} : { headers: { [HEADER.head]: toHex(head) } });
  }, kept);
  for (const _ of heads) await link.look();
  return kept;
}

it('accepts no head without the signature of the authority, and does not store it', async () => {
  const stranger = createNodeSigner(new Uint8Array(32).fill(2));
  const changed = headBy(signer);
  changed[changed.length - 65] = (changed[changed.length - 65] ?? 0) ^ 1;
  for (const head of [headBy(stranger), changed]) {
    const kept: Uint8Array[] = [];
    const link = linkWith(async () => new Response('', { headers: { [HEADER.head]: toHex(head) } }), kept);
    await expect(link.look()).rejects.toThrow('a head that is not signed by the authority');
    expect([kept, link.head]).toEqual([[], undefined]);
  }
});

it('stores heads that are newer or of another life of the log, and no older heads', async () => {
  const [first, older, newer, other] = [
    headBy(signer),
    headBy(signer, { sequence: 4 }),
    headBy(signer, { sequence: 6 }),
    headBy(signer, { sequence: 1, branch: 2 }),
  ];
  expect(await keptOf([first, older, first, newer, older, other])).toEqual([first, newer, other]);
});

it('accepts only the requested revocations, signed by the authority', async () => {
  const stranger = createNodeSigner(new Uint8Array(32).fill(2));
  const [task, other] = [1, 2].map((n) => new Uint8Array(32).fill(n) as TaskId) as [TaskId, TaskId];
  const users = [new Uint8Array(32).fill(9) as UserId];
  const told = (change: { readonly task?: TaskId; readonly after?: number }, by = signer): Uint8Array => {
    const body = { task, branch: new Uint8Array(16), after: 3, upTo: 4, users, ...change };
    return revocationsCodec.encode({ ...body, signature: by.sign(revocationsCodec.statement(body)) });
  };
  const asked = (answer: Uint8Array) => linkWith(async () => new Response(answer.slice())).revocations({ task }, 3);
  expect((await asked(told({}))).users).toEqual(users);
  for (const answer of [told({}, stranger), told({ task: other }), told({ after: 2 })])
    await expect(asked(answer)).rejects.toThrow('a list of revocations that is not its own, or not the requested one');
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
  expect(isSigned(nodeSuite, inspectRequestCodec, inspectRequestCodec.decode(body), signer.publicKey)).toBe(true);
});
