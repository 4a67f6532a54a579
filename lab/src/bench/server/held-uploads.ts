/** Uploads of devices of the SDK, held back at the last moment, so that all can be sent at the same time and measured. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '@basa/client/internal/connect.ts';
import { type BasaClient, inMemoryStoreForTests, nodeOutside } from '@basa/client/node';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';

export interface HeldRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const UPLOAD = /\/shots\/[0-9a-f]{64}$/;
const RETRY = { attempts: 1, firstWaitMs: 1, longestWaitMs: 1, timeoutMs: 600_000 };

/** New devices, each with one upload. */
export async function heldUploads(processes: TestProcesses, count: number): Promise<readonly HeldRequest[]> {
  const tokens = await processes.authority.tokens(processes.task, count, Date.now() + 86_400_000);
  const held: HeldRequest[] = [];
  for (const token of tokens) held.push(await heldUpload(processes, token, held.length));
  return held;
}

async function heldUpload(processes: TestProcesses, token: string, n: number): Promise<HeldRequest> {
  let held: HeldRequest | undefined;
  const real = nodeOutside();
  const transport: typeof real.transport = {
    close: () => real.transport.close(),
    send: async (request) => {
      if (!(UPLOAD.test(request.url) && request.body !== undefined)) return real.transport.send(request);
      held = { ...request, body: request.body.slice() };
      throw new Error('held back');
    },
  };
  const client = await connect({ ...real, transport }, inMemoryStoreForTests(createNodeSigner(nodeRandomBytes(32))), {
    ...processes.services,
    token,
    retry: RETRY,
    floor: { minimum: 2, noNoise: true },
    pieceBytes: 2 ** 30,
  });
  try {
    const delta = new Float32Array(processes.policy.dimension);
    delta[0] = 1 / (n + 2);
    await contribute(client, delta).catch((error: unknown) => {
      if (held === undefined) throw error;
    });
  } finally {
    await client.close();
  }
  if (held === undefined) throw new Error('a device did not come to its upload');
  return held;
}

/** While the batch of the round before waits to be opened, the server has no place, and says when to come back. */
async function contribute(client: BasaClient, delta: Float32Array): Promise<void> {
  for (;;) {
    const { version } = await client.model();
    const result = await client.contribute(delta, { trainedOn: version });
    if (result.kind === 'accepted') return;
    if (result.retryAfterMs === undefined) throw new Error(`a device was rejected: ${result.reason}`);
    await sleep(result.retryAfterMs);
  }
}
