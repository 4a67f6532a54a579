/** The device, in a worker: masking and training take a while on a phone and must not block the page. */
import { BasaClient, gatheringText } from '@basa/client/web';
import { createKernelBackend, createReferenceBackend, createTrainer } from '@basa/learning';
import { createTrainingKernel } from '@basa/runtime/web';
import { data, model } from './model.ts';

interface Join {
  readonly server: string;
  readonly authority: string;
  readonly authorityKey: string;
  readonly task: string;
  readonly token?: string;
  /** The number of this tab among three devices. */
  readonly device: string;
}

addEventListener('message', async ({ data: { device, ...pins } }: MessageEvent<Join>) => {
  const kernel = createTrainingKernel({ equalBits: false }); // wasm SIMD; undefined if there is none
  const trainer = createTrainer(
    kernel === undefined ? createReferenceBackend(model) : createKernelBackend(model, kernel),
  );
  try {
    const client = await BasaClient.connect({ ...pins, identity: `${pins.task.slice(0, 16)}-${device}` }); // a name in IndexedDB
    client.on('trained', ({ version, loss }) => postMessage(`trained on version ${version}, loss ${loss.toFixed(3)}`));
    client.on('accepted', () => postMessage('accepted'));
    client.on('waiting', (gathering) => postMessage(gatheringText(gathering)));
    await client.run(trainer, await data({ device: Number(device), devices: 3 }), { rounds: 1 });
    await client.close();
    postMessage('done');
  } catch (error) {
    postMessage(`${error}`);
  }
});
