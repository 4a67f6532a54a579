/** A Python device and two Node devices train softmax regression in the same sums, against real services. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLocalServices } from '@basa/cli/internal/local/local-services.ts';
import { BasaClient } from '@basa/client/node';
import { createTaskAt } from '@basa/client/operator';
import { until } from '@basa/conformance/until.ts';
import { createReferenceBackend, createTrainer, defineModel, dense, randomStream, type Samples } from '@basa/learning';
import { runPython } from './python.ts';

const FEATURES = 4;
const CLASSES = 3;
const BUFFERS = 3;
const model = defineModel('clusters', { height: 1, width: 1, channels: FEATURES }, [dense(CLASSES)]);

export type TrainerName = 'command' | 'numpy' | 'asyncio' | 'flower' | 'torch' | 'sklearn';

/** Each device does one round. The file of examples follows. */
const PROGRAMS: Readonly<Record<TrainerName, readonly string[]>> = {
  command: ['-m', 'basa', '--examples'],
  numpy: ['-m', 'tests.device', 'numpy'],
  asyncio: ['-m', 'tests.device', 'asyncio'],
  flower: ['-m', 'tests.device', 'flower'],
  torch: ['-m', 'tests.device', 'torch'],
  sklearn: ['-m', 'tests.device', 'sklearn'],
};

export interface Together {
  readonly authorities: number;
  readonly trainer: TrainerName;
}

/** The accuracy at the end, by the server's own evaluation, and the mean loss that devices told. */
export async function learnTogether({
  authorities,
  trainer,
}: Together): Promise<{ readonly accuracy: number; readonly loss: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'basa-python-'));
  const { signal } = new AbortController();
  const services = await startLocalServices({ folder, signal, authorities });
  const { server, authority, serverUrl, authorityUrl, authorityKey } = services;
  const devices: BasaClient[] = [];
  try {
    const { task } = await createTaskAt(services, {
      model,
      bufferSize: 3,
      minimum: 3,
      clip: 2,
      metrics: [{ name: 'loss', low: 0, high: 4 }],
      evaluationSet: clusters(0).dataset,
    });
    const [token = '', ...tokens] = await authority.tokens(task, 3, Date.now() + 3_600_000);
    const common = { server: serverUrl, authority: authorityUrl, authorityKey, task };
    for (const [n, own] of tokens.entries()) {
      devices.push(await BasaClient.connect({ ...common, token: own, identity: join(folder, `node-${n}`) }));
    }
    const examples = join(folder, 'examples.csv');
    await writeFile(examples, csvOf(clusters(3)));
    const variables = {
      BASA_SERVER: serverUrl,
      BASA_AUTHORITY: authorityUrl,
      BASA_AUTHORITY_KEY: authorityKey,
      BASA_TASK: task,
      BASA_ENROLMENT_TOKEN: token,
      BASA_IDENTITY: join(folder, 'python'),
    };
    const python = () => runPython([...PROGRAMS[trainer], examples], variables);
    const nodeTrainer = createTrainer(createReferenceBackend(model));
    for (let version = 1; version <= BUFFERS; version++) {
      await Promise.all([
        python(),
        ...devices.map((device, n) => device.run(nodeTrainer, clusters(n + 1), { rounds: 1 })),
      ]);
      await until(async () => ((await server.task(task)).version ?? 0) >= version);
    }
    await until(async () => (await server.versions(task)).at(-1)?.accuracy !== undefined);
    const last = (await server.versions(task)).at(-1);
    return { accuracy: last?.accuracy ?? 0, loss: last?.metrics?.['loss'] ?? Number.NaN };
  } finally {
    await Promise.all(devices.map((device) => device.close()));
    await services.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Points around one corner for each class. */
function clusters(seed: number): Samples {
  const random = randomStream(seed);
  const count = 60;
  const labels = Uint8Array.from({ length: count }, (_, n) => n % CLASSES);
  const inputs = Float32Array.from({ length: count * FEATURES }, (_, k) => {
    const isCorner = k % FEATURES === (labels[Math.floor(k / FEATURES)] as number);
    return (isCorner ? 1 : 0) + 0.3 * (random.unit() - 0.5);
  });
  const shape = { height: 1, width: 1, channels: FEATURES };
  const dataset = { name: 'clusters', shape, classes: CLASSES, inputs, labels };
  return { dataset, indices: Uint32Array.from(labels, (_, n) => n) };
}

function csvOf({ dataset: { inputs, labels } }: Samples): string {
  const lines = Array.from(labels, (label, n) => [label, ...inputs.subarray(n * FEATURES, (n + 1) * FEATURES)]);
  return `${lines.map((line) => line.join(',')).join('\n')}\n`;
}
