/** Devices of the SDK whose uploads are held back, so that all can be sent at the same time and measured. */
import { setTimeout } from 'node:timers/promises';
import type { BasaClient } from '@basa/client/internal/basa-client.ts';
import { connect } from '@basa/client/internal/connect.ts';
import { inMemoryStoreForTests, nodeOutside } from '@basa/client/node';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import type { TestProcesses } from '@basa/testkit/processes/test-processes.ts';

export interface HeldRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const UPLOAD = /\/shots\/[0-9a-f]{64}$/;
const TRIES = 3;
const RETRY = { attempts: 1, firstWaitMs: 1, longestWaitMs: 1, timeoutMs: 600_000 };

export class HeldDevices {
  readonly #processes: TestProcesses;
  readonly #clients: BasaClient[] = [];
  readonly #held: HeldRequest[] = [];

  constructor(processes: TestProcesses) {
    this.#processes = processes;
  }

  async enrol(count: number): Promise<void> {
    const { processes } = { processes: this.#processes };
    const tokens = await processes.authority.tokens(processes.task, count, Date.now() + 86_400_000);
    for (const token of tokens) {
      const real = nodeOutside();
      const transport: typeof real.transport = {
        close: () => real.transport.close(),
        send: async (request) => {
          if (!(UPLOAD.test(request.url) && request.body !== undefined)) return real.transport.send(request);
          this.#held.push({ ...request, body: request.body.slice() });
          throw new Error('held back');
        },
      };
      this.#clients.push(
        await connect({ ...real, transport }, inMemoryStoreForTests(createNodeSigner(nodeRandomBytes(32))), {
          ...processes.services,
          token,
          retry: RETRY,
          floor: { minimum: 2, noNoise: true },
          pieceBytes: 2 ** 30,
        }),
      );
    }
  }

  /** Runs every device until it sends its upload. Returns these requests. */
  async uploads(): Promise<readonly HeldRequest[]> {
    this.#held.length = 0;
    const delta = new Float32Array(this.#processes.policy.dimension);
    for (const [n, client] of this.#clients.entries()) {
      delta[0] = 1 / (n + 2);
      await this.#goOn(client, delta);
    }
    return [...this.#held];
  }

  /**
   * A connection that was idle for too long may be closed: its request is sent again. While a batch of the previous round waits to be
   * opened, the server has no place, and says when to come back.
   */
  async #goOn(client: BasaClient, delta: Float32Array): Promise<void> {
    for (let failed = 0; failed < TRIES; ) {
      try {
        const end = await (client.isInterrupted ? client.resume() : this.#contribute(client, delta));
        if (!(end?.kind === 'rejected' && end.retryAfterMs !== undefined))
          throw new Error(`a device did not come so far: ${JSON.stringify(end)}`);
        await setTimeout(end.retryAfterMs);
      } catch (error) {
        if (/held back/.test(String((error as Error).cause ?? error))) return;
        failed += 1;
        if (failed === TRIES) throw error;
      }
    }
  }

  async #contribute(client: BasaClient, delta: Float32Array) {
    const { version } = await client.model();
    return client.contribute(delta, { trainedOn: version });
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.close();
  }
}
