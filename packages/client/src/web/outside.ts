/** The environment of a client in a browser. */
import { applyMasksInPlaceAsync, plainVectorKernel } from '@basa/masking';
import { millis } from '@basa/protocol';
import { type Outside, sleep, type Transport } from '../outside.ts';

/** A redirection is an error, or `manual` if the caller refuses it by its status. */
export function createWebTransport(redirect: 'error' | 'manual' = 'error'): Transport {
  return {
    async send({ method, url, headers, body, signal }) {
      const answer = await fetch(url, {
        method,
        headers,
        signal,
        credentials: 'omit',
        cache: 'no-store',
        redirect,
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

export async function webOutside(): Promise<Outside> {
  const { createWasmVectorKernel, createWebKeystream, createWebX25519, webRandomBytes, webSuite, webSuiteWithKem } =
    await import('./cryptography.ts');
  const kernel = createWasmVectorKernel() ?? plainVectorKernel();
  const x25519 = await createWebX25519();
  const tools = { suite: webSuite, kernel, keystream: createWebKeystream() };
  return {
    suite: webSuite,
    digest: async (message) => new Uint8Array(await crypto.subtle.digest('SHA-256', message)),
    suiteWithKem: webSuiteWithKem,
    randomBytes: webRandomBytes,
    transport: createWebTransport(),
    ...(x25519 && { x25519 }),
    now: () => millis(Date.now()),
    stopwatch: () => performance.now(),
    sleep,
    kernel,
    mask: (vector, plan) => applyMasksInPlaceAsync(vector, plan, tools),
  };
}
