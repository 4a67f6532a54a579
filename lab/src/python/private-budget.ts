/** A Python device in a private task: its noisy update is summed with those of Node devices, and its floor and its budget stop it. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toHex } from '@basa/masking';
import { oneHot, TestServices } from '@basa/testkit/services/test-services.ts';
import { runPython } from './python.ts';

const privacy = { noiseMultiplier: 1, colluders: 0, budget: { delta: 1e-6, participations: 1 } };

/**
 * Checks that a device with a budget of one contribution makes a version with the first, and refuses to send the second. Before that, the
 * same device requires a smaller epsilon than the task's value of about 5, and does not take part.
 */
export async function stopsAtItsBudget(): Promise<boolean> {
  const usual = { maxSkewMs: 300_000 };
  const policy = { bufferSize: 2, minimum: 2, dimension: 8, level: 8, clip: 1, privacy };
  const services = await TestServices.open({ policy, server: usual, authority: usual });
  try {
    const token = await services.token();
    const contribute = async (place: number, maxEpsilon: string): Promise<string> => {
      const update = join(services.folder, `update-${place}`);
      await writeFile(update, new Uint8Array(oneHot(place).buffer));
      const settings = {
        BASA_SERVER: services.server.url,
        BASA_AUTHORITY: services.authority.url,
        BASA_AUTHORITY_KEY: toHex(services.authority.publicKey),
        BASA_TASK: services.task,
        BASA_UPDATE: update,
        BASA_IDENTITY: join(services.folder, 'python'),
        BASA_ENROLMENT_TOKEN: token,
        BASA_MINIMUM: '2',
      };
      const run = runPython(['-m', 'basa', '--max-epsilon', maxEpsilon], settings);
      return run.then(({ stdout }) => stdout).catch(({ stderr }: { stderr: string }) => stderr);
    };
    const tooMuch = await contribute(0, '4');
    const first = await contribute(0, '6');
    const node = await services.client('node');
    const { version } = await node.model();
    const other = await node.contribute(oneHot(1), { trainedOn: version });
    await services.reached(1);
    const second = await contribute(2, '6');
    const isHeld = tooMuch.includes('below-floor') && second.includes('budget-spent');
    return isHeld && first.startsWith('accepted') && other.kind === 'accepted';
  } finally {
    await services.close();
    await rm(services.folder, { recursive: true, force: true });
  }
}
