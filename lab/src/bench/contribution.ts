/** One contribution of a device by part, measured by the clock: the same SDK in Node and in a page. */
import { connect } from '@basa/client/internal/connect.ts';
import type { DeviceStore, Outside } from '@basa/client/web';
import { crc32 } from '@basa/masking';

export type ConnectOptions = Parameters<typeof connect>[2];

/** `rest` has the copies, the sealing of the seeds, the packing and the signatures. */
export const PARTS = ['model hash', 'rounding', 'masks', 'checksums', 'store', 'rest', 'network'] as const;
type Part = (typeof PARTS)[number];
export type Contributed = Readonly<Record<Part, number>>;

/** Connects a new device, fetches the model, and gives one update. `idle` is called before the part that is measured. */
export async function contributeByPart(
  outside: Outside,
  store: DeviceStore,
  options: ConnectOptions,
  dimension: number,
  idle: () => Promise<void>,
): Promise<Contributed> {
  const ms = new Map<Part, number>();
  const add = (part: Part, began: number): void => {
    ms.set(part, (ms.get(part) ?? 0) + performance.now() - began);
  };
  const timed =
    <Given extends readonly unknown[], Result>(part: Part, work: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      const began = performance.now();
      return work(...given).finally(() => add(part, began));
    };
  const checksum = outside.crc32 ?? crc32;
  const client = await connect(
    {
      ...outside,
      digest: timed('model hash', outside.digest),
      mask: timed('masks', async (...given) => outside.mask(...given)),
      crc32(bytes, before) {
        const began = performance.now();
        const sum = checksum(bytes, before);
        add('checksums', began);
        return sum;
      },
      transport: {
        ...outside.transport,
        send: timed('network', async (request) => {
          const answer = await outside.transport.send(request);
          const body: Uint8Array[] = [];
          for await (const chunk of answer.chunks()) body.push(chunk.slice());
          return { ...answer, chunks: () => chunksOf(body) };
        }),
      },
    },
    {
      ...store,
      append: timed('store', store.append),
      replace: timed('store', store.replace),
      dropBody: timed('store', store.dropBody),
    },
    options,
  );
  try {
    const delta = Float32Array.from({ length: dimension }, (_, n) => Math.sin(n) / 1000);
    await idle();
    ms.clear();
    const began = performance.now();
    const { version } = await client.model();
    const trained = performance.now();
    client.on('quantized', () => add('rounding', trained));
    const given = await client.contribute(delta, { trainedOn: version });
    if (given.kind !== 'accepted') throw new Error(`the update of the benchmark was refused: ${given.reason}`);
    const all = performance.now() - began;
    const known = [...ms.values()].reduce((sum, one) => sum + one, 0);
    ms.set('rest', all - known);
    return Object.fromEntries(PARTS.map((part) => [part, ms.get(part) ?? 0])) as Contributed;
  } finally {
    await client.close();
  }
}

async function* chunksOf(body: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* body;
}
