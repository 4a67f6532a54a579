/** `npm run lab -- trial hostile [--requests N] [--seed N] [--json]`: every route of both services, from their OpenAPI documents. */
import { parseArgs } from 'node:util';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    ...SWITCHES,
  },
});
if (values.help) {
  console.log(
    'npm run lab -- trial hostile [--requests N] [--seed N] [--json]\n\nSends N hostile requests (default: 10^5) to the routes of server and authority.',
  );
} else {
  const { fuzzHttp } = await import('@basa/testkit/fuzz/services.ts');
  const [requests, seed] = [Number(values.requests), Number(values.seed)];
  if (!(Number.isSafeInteger(requests) && requests > 0 && Number.isSafeInteger(seed))) {
    console.error('--requests and --seed take positive whole numbers, for example --requests 1000');
    process.exit(2);
  }
  console.log(`${requests} requests, seed ${seed}`);
  const report = await fuzzHttp(requests, seed, (done) => {
    if (done % 20_000 === 0) console.log(`${done} requests`);
  });
  for (const [status, count] of Object.entries(report.statuses)) console.log(`${status.padStart(5)}  ${count}`);
  for (const failure of report.failures) console.log(`WRONG: ${failure}`);
  if (values.json) console.log(JSON.stringify(report));
  process.exitCode = report.failures.length === 0 ? 0 : 1;
}
