/** A Python device whose certificate comes to its end asks for another by itself, without a token. */
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, certificateCodec, SERVER_PATH } from '@basa/protocol';
import { House, oneHot } from '@basa/testkit/services/house.ts';

const DAY_MS = 86_400_000;
/** Of the seven that a certificate is good for. */
const AGE_DAYS = 5.5;

/** Whether its second seat was asked for with a younger certificate than its first, got without a token. */
export async function renewsItsCertificate(): Promise<boolean> {
  const usual = { maxSkewMs: 300_000 };
  const house = await House.open({ server: usual, authority: usual });
  try {
    house.elapse(-AGE_DAYS * DAY_MS); // the device keeps the time of this machine
    const [server, authority] = [await house.proxy('server'), await house.proxy('authority')];
    const contribute = async (place: number, more: Readonly<Record<string, string>>): Promise<void> => {
      const update = join(house.folder, `update-${place}`);
      await writeFile(update, new Uint8Array(oneHot(place).buffer));
      const { BASA_ENROLMENT_TOKEN: _, ...environment } = process.env;
      const settings = {
        BASA_SERVER: server.url,
        BASA_AUTHORITY: authority.url,
        BASA_AUTHORITY_KEY: toHex(house.authority.publicKey),
        BASA_TASK: house.task,
        BASA_IDENTITY: join(house.folder, 'python'),
        BASA_UPDATE: update,
      };
      await promisify(execFile)('python3', ['-m', 'basa'], { env: { ...environment, ...settings, ...more } });
    };
    await contribute(0, { BASA_ENROLMENT_TOKEN: await house.token() });
    house.elapse(AGE_DAYS * DAY_MS);
    await contribute(1, {});
    const seats = server.passed.filter(
      ({ asked, answer }) => asked.path === SERVER_PATH.seats(house.task) && answer.status === 200,
    );
    const [first, second] = seats.map(({ asked }) => certificateCodec.decode(asked.body).issuedAt);
    const enrolments = authority.passed.filter(
      ({ asked, answer }) => asked.path === AUTHORITY_PATH.enrolments(house.task) && answer.status === 200,
    );
    return enrolments.length === 2 && first !== undefined && second !== undefined && second - first > 5 * DAY_MS;
  } finally {
    await house.close();
    await rm(house.folder, { recursive: true, force: true });
  }
}
