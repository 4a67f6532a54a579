// What must come of a buffer: the outcome that was played, and a model that moved by the exact mean of what was sent.
import { must } from './bytes.mjs';
import { groupOf } from './masks.mjs';
import { varianceOf } from './noise.mjs';

const total = (values) => values.reduce((sum, value) => sum + value, 0);

/** `staying` are the sessions that uploaded, `before` the newest model until then, `made` what was published. */
export async function checkSum(sessions, staying, before, made) {
  const { ctx } = sessions[0].buffer;
  const { status, accepted } = await staying[0].outcome();
  must(status === 'closed', `an outcome ${status}`);
  must(made.entry.version === before.entry.version + 1 && made.entry.ctx.equals(ctx), 'a model of another buffer');
  const inside = staying.filter((session) => accepted.includes(session.ticket.slot));
  for (const session of sessions) {
    must((await session.outcome()).included === inside.includes(session), 'an outcome that is not what was played');
  }
  const voids = staying.flatMap((session) => session.kept.voids.map((i) => [i, session.ticket.slot]));
  const together = voids.filter((ends) => ends.every((slot) => accepted.includes(slot)));
  must(together.length === 0, 'a sum with both ends of a void edge');
  const leftOut = voids.length > 0 ? 1 : 0; // whoever spoilt its seeds
  must(
    inside.length === accepted.length && inside.length === staying.length - leftOut,
    'fewer in the sum than uploaded',
  );
  const result = checkModel(inside, before, made.parameters);
  await checkTold(inside, result.meanAge);
  return { ctx, sessions, accepted, ...result };
}

/** What the server tells of the sum: its mean age, and the mean of each metric. */
async function checkTold(inside, meanAge) {
  const { device, buffer } = inside[0];
  const told = await device.server.ask('GET', device.path);
  must(Math.abs(told.meanAge - meanAge) < 1e-9, `a mean age of ${told.meanAge}, not ${meanAge}`);
  for (const [k, { name, low, high }] of buffer.metrics.entries()) {
    const sum = total(inside.map(({ vector }) => vector[6 + k]));
    const mean = low + ((high - low) * sum) / (inside.length * buffer.W);
    must(Math.abs(told.metrics[name] - mean) < 1e-9, `a mean ${name} of ${told.metrics[name]}, not ${mean}`);
  }
}

/** What a device means to send, without any rounding: clipped by entry, in a private task by its norm. */
function plainOf({ update, buffer: { clip, privacy } }) {
  if (privacy.kind === 0) return update.map((entry) => Math.sign(entry) * Math.min(clip, Math.abs(entry)));
  return update.map((entry) => (entry * clip) / Math.max(clip, Math.hypot(...update)));
}

/** The server's step in these tasks is FedBuff with rate 1 and damping 1 (docs/wire-format.md, "Opening"): equal to the last bit. */
function checkModel(inside, before, after) {
  const { buffer } = inside[0];
  const { W, level, maxStaleness, group, d } = buffer;
  const { q } = groupOf(group);
  const weights = inside.map(({ vector }) => vector[4]);
  const newer = before.entry.version - buffer.version;
  const meanAge = Math.max(0, newer + maxStaleness - total(inside.map(({ vector }) => vector[5])) / inside.length);
  const rate = 1 / (1 + meanAge);
  const weight = total(weights);
  const noise = buffer.privacy.kind === 1 ? 10 * Math.sqrt(varianceOf(buffer) * inside.length) : 0;
  const bound = (rate * W * (inside.length + noise)) / (level * weight) + 2 ** -22; // each X is less than 1 off; and float32, twice
  const plain = inside.map(plainOf);
  let largestError = 0;
  for (let k = 0; k < d; k++) {
    const sum = total(inside.map(({ vector }) => vector.at(k - d)).map((X) => (X > q / 2 ? X - q : X)));
    const mean = total(plain.map((update, l) => weights[l] * update[k])) / weight;
    const was = before.parameters.readFloatLE(4 * k);
    const is = after.readFloatLE(4 * k);
    const exact = Math.fround(was - rate * Math.fround((W * sum) / (level * weight)));
    must(is === exact, `parameter ${k} is ${is}, the sum gives ${exact}`);
    largestError = Math.max(largestError, Math.abs(was - rate * mean - is));
  }
  must(largestError <= bound, `an error of ${largestError}, more than rounding and noise explain`);
  return { meanAge, largestError, bound };
}
