/** What the checks of a server share: both probes, a task of the kit's own, and devices in it whose every request is seen. */
import { BasaClient, inMemoryStoreForTests } from '@basa/client/node';
import type { AuthorityOperator, ServerOperator } from '@basa/client/operator';
import type { Signer } from '@basa/masking';
import type { TaskPolicy } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import { updateOf } from '../exact-updates.ts';
import type { Report } from '../report.ts';
import type { Answer, Asked } from '../service-proxy.ts';
import { ServiceProxy } from '../service-proxy.ts';
import type { Step } from '../steps.ts';
import { isStep } from '../steps.ts';
import type { Probe } from './probe.ts';

export interface KitTask {
  readonly server: Probe;
  readonly authority: Probe;
  readonly operators: { readonly server: ServerOperator; readonly authority: AuthorityOperator };
  readonly authorityKey: Uint8Array;
  readonly task: string;
  readonly policy: TaskPolicy;
  readonly report: Report;
  readonly signal: AbortSignal;
  token(): Promise<string>;
}

/** No waits: what the kit cuts off it wants to know at once. */
const AT_ONCE = { attempts: 1 };

/** A real client, with the key it signs with and what it and the services said. */
export class KitDevice {
  readonly signer: Signer;
  readonly client: BasaClient;
  readonly #proxies: readonly ServiceProxy[];
  #held: Asked | undefined;

  private constructor(signer: Signer, client: BasaClient, proxies: readonly ServiceProxy[]) {
    this.signer = signer;
    this.client = client;
    this.#proxies = proxies;
  }

  static async enrolled(kit: KitTask, authorityKey: string): Promise<KitDevice> {
    const signer = createNodeSigner(nodeRandomBytes(32));
    const server = await ServiceProxy.before(() => kit.server.url);
    const authority = await ServiceProxy.before(() => kit.authority.url);
    const client = await BasaClient.connect({
      server: server.url,
      authority: authority.url,
      authorityKey,
      task: kit.task,
      token: await kit.token(),
      identity: inMemoryStoreForTests(signer),
      retry: AT_ONCE,
      signal: kit.signal,
    });
    return new KitDevice(signer, client, [server, authority]);
  }

  /** What it asked at this step, and what it was answered. */
  said(step: Step): { readonly asked: Asked; readonly answer: Answer } {
    const passed = this.#proxies.flatMap((proxy) => proxy.passed);
    const found = passed.find(({ asked }) => isStep(step, asked));
    if (found === undefined) throw new Error(`a device of the kit did not come to its ${step}`);
    return found;
  }

  /** Everything up to its upload, which is kept back. */
  async holdUpload(participant: number, policy: TaskPolicy): Promise<Asked> {
    for (const proxy of this.#proxies) {
      proxy.onAsk = (asked) => {
        if (!isStep('upload', asked)) return undefined;
        this.#held ??= asked;
        return 'cut';
      };
    }
    await this.client.contribute(updateOf(participant, policy), { trainedOn: 0 }).catch(() => undefined);
    for (const proxy of this.#proxies) proxy.behave();
    if (this.#held === undefined) throw new Error('a device of the kit did not come to its upload');
    return this.#held;
  }

  async close(): Promise<void> {
    await this.client.close();
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
  }
}
