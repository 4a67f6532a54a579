/** `npm run lab -- trial overload [--seconds N] [--times N] [--json]`: ten times as many arrivals as the server can serve. */
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

Measures how many contributions per second the server can serve, then lets many more devices ask for places. Shows the answers that
devices got, the memory of the server, the outcome of accepted updates, and the time until the server was back to normal.

  --seconds N   duration of the overload in seconds (default: 120)
  --times N     number of arrivals, as a multiple of the measured rate (default: 10)
  --json        print the result as one JSON object in the last line`);
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
