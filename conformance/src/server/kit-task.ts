/** The shared parts of the checks of a server: its probes, a task of the kit, and devices in it whose every request is seen. */
import { BasaClient, inMemoryStoreForTests } from '@basa/client/node';
import type { AuthorityOperator, ServerOperator } from '@basa/client/operator';
import { type Signer, toHex } from '@basa/masking';
import { AUTHORITY_PATH, agreedOn, type Certificate, certificateCodec, type TaskPolicy } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import { updateOf } from '../exact-updates.ts';
import type { Report } from '../report.ts';
import { type Answer, type Asked, ServiceProxy } from '../service-proxy.ts';
import { isStep, type Step } from '../steps.ts';
import type { Probe } from './probe.ts';

export interface KitTask {
  readonly server: Probe;
  /** In the order of the policy. */
  readonly authorities: readonly Probe[];
  /** The first of them, which is the only one of most tasks. */
  readonly authority: Probe;
  readonly operators: { readonly server: ServerOperator; readonly authority: AuthorityOperator };
  /** Of the first. */
  readonly authorityKey: Uint8Array;
  readonly task: string;
  readonly policy: TaskPolicy;
  readonly report: Report;
  readonly signal: AbortSignal;
  token(): Promise<string>;
}

/** A certificate with as many signatures as are needed: all sign the words of the first. */
export async function certificateFor(
  { authorities, policy, task, token }: KitTask,
  signer: Signer,
): Promise<Uint8Array> {
  const given: Certificate[] = [];
  const own = await token();
  for (const authority of authorities) {
    const like = given[0] && { issuedAt: given[0].issuedAt, notAfter: given[0].notAfter };
    const body = JSON.stringify({ token: own, ...(like && { like }) });
    const told = await authority.signed('POST', AUTHORITY_PATH.enrolments(task), { signer, body });
    given.push(certificateCodec.decode(told.body));
  }
  const certificate = agreedOn(certificateCodec, policy, given);
  if (certificate === undefined) throw new Error('the authorities sign certificates that say different things');
  return certificateCodec.encode(certificate);
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

  static async enrolled(kit: KitTask): Promise<KitDevice> {
    const signer = createNodeSigner(nodeRandomBytes(32));
    const server = await ServiceProxy.before(() => kit.server.url);
    const authorities = await Promise.all(kit.authorities.map(({ url }) => ServiceProxy.before(() => url)));
    const client = await BasaClient.connect({
      server: server.url,
      authority: authorities.map(({ url }) => url).join(','),
      authorityKey: kit.policy.authorities.map(toHex).join(','),
      task: kit.task,
      token: await kit.token(),
      identity: inMemoryStoreForTests(signer),
      retry: AT_ONCE,
      signal: kit.signal,
    });
    return new KitDevice(signer, client, [server, ...authorities]);
  }

  /** Returns its request at this step, and the answer. */
  said(step: Step): { readonly asked: Asked; readonly answer: Answer } {
    return this.#found(step).said;
  }

  /** Returns the index of the authority that answered it first. */
  authorityOf(step: Step): number {
    return this.#found(step).proxy - 1;
  }

  #found(step: Step) {
    const passed = this.#proxies.flatMap((each, proxy) => each.passed.map((said) => ({ said, proxy })));
    const found = passed.find(({ said }) => isStep(step, said.asked));
    if (found === undefined) throw new Error(`a device of the kit did not come to its ${step}`);
    return found;
  }

  /** Everything up to its upload, which is kept back. */
  async holdUpload(participant: number, policy: TaskPolicy): Promise<Asked> {
    for (const proxy of this.#proxies) {
      proxy.onAsk = (asked) => {
        if (!(isStep('upload', asked) || isStep('shot', asked))) return undefined;
        this.#held ??= asked;
        return 'cut';
      };
    }
    const { version } = await this.client.model();
    await this.client.contribute(updateOf(participant, policy), { trainedOn: version }).catch(() => undefined);
    for (const proxy of this.#proxies) proxy.behave();
    if (this.#held === undefined) throw new Error('a device of the kit did not come to its upload');
    return this.#held;
  }

  async close(): Promise<void> {
    await this.client.close();
    await Promise.all(this.#proxies.map((proxy) => proxy.close()));
  }
}
