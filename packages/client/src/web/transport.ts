/** HTTP over fetch, without cookies, cache or redirects. */
import type { Transport } from '../transport.ts';

export function createWebTransport(): Transport {
  return {
    async send({ method, url, headers, body, signal }) {
      const answer = await fetch(url, {
        method,
        headers,
        signal,
        credentials: 'omit',
        cache: 'no-store',
        redirect: 'error',
        referrerPolicy: 'no-referrer',
        ...(body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> }),
      });
      return {
        status: answer.status,
        header: (name) => answer.headers.get(name) ?? undefined,
        chunks: () => chunksOf(answer.body),
      };
    },
    close: async () => {},
  };
}

/** By a reader: not every browser iterates over streams. */
async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  try {
    for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader?.read())
      yield read.value;
  } finally {
    await reader?.cancel();
  }
}
