/** `npm run prove -- decoders [--runs N] [--seed N] [--json]`: the long version of the decoder tests, 10^7 inputs a message. */
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10000000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(
    'npm run prove -- decoders [--runs N] [--seed N] [--json]\n\nThrows N mutated inputs (10^7 by default) at the decoder of every message.',
  );
} else {
  const [runs, seed] = [Number(values.runs), Number(values.seed)];
  if (!(Number.isSafeInteger(runs) && runs > 0 && Number.isSafeInteger(seed))) {
    console.error('--runs and --seed take positive whole numbers, for example --runs 1000000');
    process.exit(2);
  }
  const { sampleMessages } = await import('@basa/testkit/core/sample-messages.ts');
  const { fuzzDecoder } = await import('@basa/testkit/fuzz/decoders.ts');
  const samples = sampleMessages();
  console.log(`${samples.length} messages, ${runs} inputs each, seed ${seed}`);
  const results = samples.map((sample, n) => {
    const { decoded } = fuzzDecoder(sample, runs, seed + n);
    console.log(
      `${String(n + 1).padStart(3)}/${samples.length}  ${sample.name.padEnd(26)} ${decoded} decoded, the rest refused`,
    );
    return { message: sample.name, runs, decoded };
  });
  if (values.json) console.log(JSON.stringify({ fuzz: results }));
}
