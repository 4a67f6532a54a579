/** Sends fuzzed requests to both services of a test: no answer may be a 500, and both must be alive afterwards. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { inMemoryStoreForTests } from '@basa/client/node';
import { HEADER } from '@basa/protocol/http';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import fc from 'fast-check';
import { oneHot, TestServices } from '../services/test-services.ts';
import { OPERATOR_TOKEN } from '../world/operator.ts';
import { type FuzzRequest, type FuzzSource, fuzzRequests } from './requests.ts';

export interface FuzzReport {
  readonly requests: number;
  /** The number of answers by status; 0 if the connection ended without an answer. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests that were answered by a 500, and those that ended a service. */
  readonly failures: readonly string[];
}

const AT_ONCE = 16;
const BATCH = 2000;
const UNLIMITED = { burst: 1e9, perSecond: 1e9 };
const LIMITS = { addressLimit: UNLIMITED, deviceLimit: UNLIMITED, maxNonces: 1e8 };

export async function fuzzHttp(requests: number, seed: number, onBatch = (_: number): void => {}): Promise<FuzzReport> {
  const paper = { unsafePaperMode: true };
  const services = await TestServices.open({
    policy: { bufferSize: 4 },
    server: { ...LIMITS, ...paper },
    authority: { ...LIMITS, ...paper, keyLimit: UNLIMITED },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const statuses: Record<string, number> = {};
  const failures: string[] = [];
  try {
    const sources = await sourcesOf(services);
    for (let done = 0; done < requests; done += BATCH) {
      const cases = sources.flatMap(({ url, source }, n) => {
        const numRuns = Math.ceil(Math.min(BATCH, requests - done) / sources.length);
        return fc.sample(fuzzRequests(source), { numRuns, seed: seed + done + n }).map((made) => ({ url, made }));
      });
      const workers = Array.from({ length: AT_ONCE }, async () => {
        for (let next = cases.pop(); next !== undefined; next = cases.pop()) {
          const asked = next.made();
          const status = await send(agent, next.url, asked);
          statuses[status] = (statuses[status] ?? 0) + 1;
          if (status === 500) failures.push(described(asked));
        }
      });
      await Promise.all(workers);
      for (const { url } of sources)
        if ((await fetch(`${url}/v1/health`)).status !== 200) failures.push(`${url} is not well`);
      onBatch(Math.min(done + BATCH, requests));
    }
    return { requests, statuses, failures };
  } finally {
    agent.destroy();
    await services.close();
  }
}

/** Honest devices go first, so that there are requests to change: three uploads of a batch of four. */
async function sourcesOf(
  services: TestServices,
): Promise<readonly { readonly url: string; readonly source: FuzzSource }[]> {
  const proxies = await Promise.all([services.proxy('server'), services.proxy('authority')]);
  const signers = [0, 1, 2].map(() => createNodeSigner(nodeRandomBytes(32)));
  const names = new Set([services.task, '0', '1', 'newest']);
  for (const [n, signer] of signers.entries()) {
    const identity = inMemoryStoreForTests(signer);
    const [server, authority] = proxies.map(({ url }) => url) as [string, string];
    const client = await services.client(`fuzzed ${n}`, { identity, server, authority });
    await client.model();
    const given = await client.contribute(oneHot(n), { trainedOn: 0 });
    if (given.kind === 'accepted') for (const name of [given.ctx, given.joinTag]) names.add(name);
  }
  const asked = proxies.flatMap(({ passed }) => passed.map((one) => one.asked));
  const answered = proxies.flatMap(({ passed }) => passed.map(({ answer }) => answer.body));
  const shared = {
    operatorToken: OPERATOR_TOKEN,
    names: [...names],
    bodies: [...asked.map(({ body }) => body), ...answered].filter(({ length }) => length > 0 && length < 20_000),
    uploadHeaders: asked.flatMap(({ headers }) => headers[HEADER.upload] ?? []).map(String),
    signers,
    clock: services.clock,
  };
  return Promise.all(
    [services.server, services.authority].map(async ({ url, publicKey }, n) => {
      const document = await (await fetch(`${url}/v1/openapi.json`)).json();
      const sent = (proxies[n]?.passed ?? []).map((one) => ({ ...one.asked, headers: textOf(one.asked.headers) }));
      return { url, source: { ...shared, sent, document, audience: publicKey } };
    }),
  );
}

function textOf(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** Returns the status, or 0 if there was no answer. */
function send(agent: Agent, url: string, { method, path, headers, body }: FuzzRequest): Promise<number> {
  return new Promise((resolve) => {
    const options = { agent, method, headers: { ...headers, 'content-length': String(body.length) } };
    const asking = request(new URL(url), { ...options, path }, (answer) => {
      answer.resume();
      answer.once('close', () => resolve(answer.statusCode ?? 0));
    });
    asking.once('error', () => resolve(0));
    asking.end(body);
  });
}

function described({ method, path, headers, body }: FuzzRequest): string {
  return `${method} ${path} ${JSON.stringify(headers)} ${Buffer.from(body).toString('base64')}`;
}
