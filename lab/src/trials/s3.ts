/** `npm run lab -- trial s3 [--json]`: the blob store against a real S3 server, Ceph's gateway; as root it installs Debian's packages. */
import { spawnSync } from 'node:child_process';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { missingCeph, startRadosgw } from './radosgw.ts';
import { runVitest } from './vitest.ts';

const install = missingCeph();
if (install !== undefined && process.getuid?.() === 0) {
  console.log(`${install} ...`);
  spawnSync('sh', ['-c', `${install} -y`], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}
const missing = missingCeph();
if (missing !== undefined) throw new MissingError(`Ceph's gateway is not here; on Debian, as root: ${missing}`);
console.log("starting Ceph's gateway ...");
const { stop, ...store } = await startRadosgw();
try {
  const { exitCode, ...s3 } = await runVitest(['packages/server/test/blobs/s3.test.ts'], {
    BASA_TEST_S3: JSON.stringify(store),
  });
  if (process.argv.includes('--json')) console.log(JSON.stringify({ s3 }));
  process.exitCode = exitCode;
} finally {
  await stop();
}
