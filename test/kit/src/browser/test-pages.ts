/** Both services as processes that serve the pages, with a task on MNIST, for tests in a browser. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noProgress } from '@basa/cli/internal/data/cache.ts';
import { loadMnist } from '@basa/cli/internal/data/mnist.ts';
import { joinLink, offerTokens, writeShares } from '@basa/cli/internal/local/pages.ts';
import { type BasaClient, BasaClient as Clients } from '@basa/client/node';
import { createServerStep, encodeDataset, logisticRegression, manifestText, modelJson } from '@basa/learning';
import { ascii, dequantizeSum, RING_32 } from '@basa/masking';
import { ENGINE, ONE_SHOT_DEFAULTS, type Sealing } from '@basa/protocol/policy';
import { nodeSuite } from '@basa/runtime/node';
import { freePort } from '@basa/service/free-port';
import { bundledServices } from '../processes/bundle.ts';
import { TestProcesses } from '../processes/test-processes.ts';
import { bundledPages } from './bundle-pages.ts';

const LEVEL = 2 ** 16;
export const BUFFER_SIZE = 3;

export interface TestPagesOptions {
  readonly sealing?: Sealing;
  /** True for a task in the unsafe mode of the paper. */
  readonly isPaper?: boolean;
  /** Operators of the server sign in here, too. */
  readonly oidc?: object;
}

export class TestPages {
  readonly #folder: string;
  readonly #clients: BasaClient[] = [];
  readonly processes: TestProcesses;

  private constructor(folder: string, processes: TestProcesses) {
    this.#folder = folder;
    this.processes = processes;
  }

  static async open({ sealing = 'x25519', isPaper = false, oidc }: TestPagesOptions = {}): Promise<TestPages> {
    const folder = mkdtempSync(join(tmpdir(), 'basa-web-'));
    const { train, test } = await loadMnist({ progress: noProgress });
    await writeShares(folder, train);
    const port = await freePort();
    const model = logisticRegression();
    const processes = await TestProcesses.open({
      bundle: await bundledServices(),
      policy: {
        name: ascii('MNIST'),
        ...(isPaper
          ? { engine: ENGINE.cpAbe, oneShot: undefined, versions: 'unsafeMixed' as const }
          : { engine: ENGINE.oneShot, oneShot: { ...ONE_SHOT_DEFAULTS, sealing } }),
        dimension: model.dimension,
        bufferSize: BUFFER_SIZE,
        minimum: BUFFER_SIZE,
        level: LEVEL,
        clip: 8,
        manifestHash: nodeSuite.sha256(ascii(manifestText(model))),
        training: { epochs: 1, batchSize: 10, learningRate: 0.03, loss: 'softmaxCrossEntropy' },
        uploadLeaseMs: 300_000,
      },
      specification: {
        mode: isPaper ? 'paper' : 'one-shot',
        model: modelJson(model),
        stop: { accuracy: 0.99 },
        publicModels: true,
      },
      server: {
        port,
        pagesFolder: await bundledPages(),
        sharesFolder: join(folder, 'shares'),
        tokensFolder: join(folder, 'tokens'),
        unsafePaperMode: isPaper,
        ...(oidc !== undefined && { oidc }),
      },
      authority: { corsOrigins: [`http://127.0.0.1:${port}`], unsafePaperMode: isPaper },
    });
    await processes.server.setExamples(processes.task, encodeDataset(test));
    return new TestPages(folder, processes);
  }

  get url(): string {
    return this.processes.urls.server;
  }

  async token(): Promise<string> {
    const [token = ''] = await this.processes.authority.tokens(this.processes.task, 1, Date.now() + 3_600_000);
    return token;
  }

  /** From now on pages offer this many tokens. */
  async offerTokens(many: number): Promise<void> {
    const tokens = await Promise.all(Array.from({ length: many }, () => this.token()));
    await offerTokens(this.#folder, this.processes.task, tokens);
  }

  /** The address at which a tab joins at once; small pieces give its upload a middle. */
  async joinLink(more: Readonly<Record<string, string>> = {}): Promise<string> {
    const { task, authorityKey } = this.processes;
    const link = joinLink(this.url, { task, authorityKey, token: await this.token() });
    return `${link}&${new URLSearchParams({ now: '', share: '0', rounds: '1', pieceBytes: '8192', ...more })}`;
  }

  async client(name: string): Promise<BasaClient> {
    const { policy, task, authorityKey, urls } = this.processes;
    const identity = join(this.#folder, 'devices', name);
    const floor = { minimum: 2, noNoise: true, unsafeMixedVersions: policy.versions === 'unsafeMixed' };
    const client = await Clients.connect({ ...urls, task, authorityKey, identity, floor, token: await this.token() });
    this.#clients.push(client);
    return client;
  }

  /** Two Node clients contribute to a batch on this version; returns their quantised updates. */
  async contributeFromNode(version: number): Promise<readonly Uint32Array[]> {
    const updates: Uint32Array[] = [];
    for (const [n, name] of ['ann', 'bob'].entries()) {
      const client = await this.client(`${name}-${version}`);
      const update = wholeUpdate(this.processes.policy.dimension, 10 * version + n);
      const result = await client.contribute(update, { trainedOn: (await client.model()).version });
      if (result.kind !== 'accepted') throw new Error(`an update was not accepted: ${JSON.stringify(result)}`);
      updates.push(quantisedOf(update));
    }
    return updates;
  }

  async version(): Promise<number> {
    return (await this.processes.server.task(this.processes.task)).version ?? 0;
  }

  async reached(version: number): Promise<Float32Array> {
    while ((await this.version()) < version) await new Promise((resolve) => setTimeout(resolve, 50));
    return this.processes.server.parameters(this.processes.task, version);
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.close();
    await this.processes.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** An update of whole steps of the quantiser: nothing in it is rounded. */
export function wholeUpdate(dimension: number, seed: number): Float32Array {
  return Float32Array.from({ length: dimension }, (_, k) => (((k * 31 + seed * 17) % 201) - 100) / LEVEL);
}

/** Returns the version that these quantised updates must make, bit by bit. */
export function versionOf(before: Float32Array, updates: readonly ArrayLike<number>[]): Float32Array {
  const sum = Uint32Array.from(
    before,
    (_, k) => updates.reduce((total, update) => total + (update[k] as number), 0) >>> 0,
  );
  const mean = dequantizeSum(sum, { level: LEVEL, modulus: RING_32 }, { weightSum: updates.length, weightScale: 1 });
  const after = before.slice();
  createServerStep({ kind: 'fedbuff', rate: 1 }).applyInPlace(after, mean);
  return after;
}

/** A whole update as it is quantised. */
export function quantisedOf(update: Float32Array): Uint32Array {
  return Uint32Array.from(update, (value) => Math.round(value * LEVEL) >>> 0);
}
