/** Checks that a Python device renews its certificate before it ends, without a token. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fromHex, toHex } from '@basa/masking';
import { AUTHORITY_PATH, HEADER, shotUploadCodec } from '@basa/protocol';
import { oneHot, TestServices } from '@basa/testkit/services/test-services.ts';
import { runPython } from './python.ts';

const DAY_MS = 86_400_000;
/** Of the seven that a certificate is good for. */
const AGE_MS = 5.5 * DAY_MS;

/** Runs the device with a clock that is behind. The authorities refuse a clock that differs by a day. */
function behind(ms: number): string {
  const clock = `import time; now = time.time; time.time = lambda: now() - ${ms / 1000}`;
  return `${clock}; import runpy; runpy.run_module("basa", run_name="__main__")`;
}

/** Returns whether the second upload has a younger certificate than the first, got without a token. */
export async function renewsItsCertificate(): Promise<boolean> {
  let ageMs = AGE_MS;
  const usual = { maxSkewMs: 300_000, clock: () => Date.now() - ageMs };
  const services = await TestServices.open({ server: usual, authority: usual });
  try {
    const [server, authority] = [await services.proxy('server'), await services.proxy('authority')];
    const contribute = async (
      place: number,
      behindMs: number,
      more: Readonly<Record<string, string>>,
    ): Promise<void> => {
      const update = join(services.folder, `update-${place}`);
      await writeFile(update, new Uint8Array(oneHot(place).buffer));
      const settings = {
        BASA_SERVER: server.url,
        BASA_AUTHORITY: authority.url,
        BASA_AUTHORITY_KEY: toHex(services.authority.publicKey),
        BASA_TASK: services.task,
        BASA_IDENTITY: join(services.folder, 'python'),
        BASA_UPDATE: update,
      };
      await runPython(['-c', behind(behindMs)], { ...settings, ...more });
    };
    await contribute(0, AGE_MS, { BASA_ENROLMENT_TOKEN: await services.token() });
    ageMs = 0;
    await contribute(1, 0, {});
    const uploads = new Set(server.passed.flatMap(({ asked }) => asked.headers[HEADER.upload] ?? []));
    const [first, second] = [...uploads].map(
      (hex) => shotUploadCodec.decode(fromHex(hex) ?? new Uint8Array()).certificate.issuedAt,
    );
    const enrolments = authority.passed.filter(
      ({ asked, answer }) => asked.path === AUTHORITY_PATH.enrolments(services.task) && answer.status === 200,
    );
    return enrolments.length === 2 && first !== undefined && second !== undefined && second - first > 5 * DAY_MS;
  } finally {
    await services.close();
    await rm(services.folder, { recursive: true, force: true });
  }
}
