/** `npm run lab -- trial overload [--seconds N] [--times N] [--json]`: ten times the arrivals that the server carries. */
import { parseArgs } from 'node:util';
import { SWITCHES } from '@basa/testkit/programs/switches.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '120' },
    times: { type: 'string', default: '10' },
    ...SWITCHES,
  },
});
if (values.help) {
  console.log(`npm run lab -- trial overload [--seconds N] [--times N] [--json]

Measures how many contributions a second the server carries, lets N times as many devices ask for places for N seconds (10 times,
120 s), and shows what they were told, what the server held, what became of accepted updates, and when it was well again.`);
} else {
  const { runOverload } = await import('./run.ts');
  const [seconds, times] = [Number(values.seconds), Number(values.times)];
  if (!(Number.isSafeInteger(seconds) && seconds > 0 && times >= 1)) {
    console.error(
      '--seconds takes a positive whole number and --times a number from 1 on, for example --seconds 30 --times 10',
    );
    process.exit(2);
  }
  const { problems, ...report } = await runOverload({ seconds, times, onWord: (line) => console.log(line) });
  for (const [name, value] of Object.entries(report))
    console.log(`${name.padEnd(16)}${typeof value === 'number' ? Number(value.toFixed(2)) : JSON.stringify(value)}`);
  for (const problem of problems) console.log(`WRONG: ${problem}`);
  if (values.json) console.log(JSON.stringify(report));
  process.exitCode = problems.length === 0 ? 0 : 1;
}
