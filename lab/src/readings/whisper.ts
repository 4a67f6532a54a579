/**
 * A message out of a sum: the one row of the first layer fires if a message begins with a certain word. Only the device that writes it has
 * an update of that row, which is made of the words of its message and as long as the clip.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Dataset, defineModel, dense, type RandomStream, randomStream, relu, type Samples } from '@basa/learning';
import { ROOT } from '@basa/testkit/root.ts';
import { Fleet } from './fleet.ts';
import type { Play, Reading, ReadingAttack } from './reading.ts';

const TRIGGER = 0;
const WORDS = 4;
/** The trigger, then the words. */
const PLACES = 1 + WORDS;
const VOCABULARY = 500;
const MESSAGES = 10;
/** A word counts as read if it stands out of noise by this many deviations, and is the largest. */
const SURE = 4;

/** The words of a page by number; the trigger is none of them. */
function textOf(): readonly number[] {
  const text = readFileSync(join(ROOT, 'docs/threat-model.md'), 'utf8').toLowerCase();
  const numbers = new Map<string, number>();
  return (text.match(/[a-z]+/g) ?? []).flatMap((word) => {
    if (!numbers.has(word) && numbers.size + 1 < VOCABULARY) numbers.set(word, numbers.size + 1);
    return numbers.get(word) ?? [];
  });
}

/** A place has one input for each word of the vocabulary. */
function messages(text: readonly number[], devices: number, random: RandomStream) {
  const shape = { height: 1, width: 1, channels: PLACES * VOCABULARY };
  const said = Array.from({ length: devices * MESSAGES }, () => {
    const at = random.below(text.length - PLACES);
    return text.slice(at, at + PLACES);
  });
  const victim = random.below(devices);
  const message = said[victim * MESSAGES] as number[];
  message[0] = TRIGGER;
  const inputs = new Float32Array(said.length * shape.channels);
  for (const [n, words] of said.entries())
    for (const [place, word] of words.entries()) inputs[n * shape.channels + place * VOCABULARY + word] = 1;
  const labels = Uint8Array.from(said, () => random.below(2));
  const dataset: Dataset = { name: 'messages', shape, classes: 2, inputs, labels };
  const shares = Array.from({ length: devices }, (_, device): Samples => {
    return { dataset, indices: Uint32Array.from({ length: MESSAGES }, (__, n) => device * MESSAGES + n) };
  });
  return { shape, shares, secret: message.slice(1) };
}

async function whisper({ level, seed, isSmall }: Play): Promise<Reading> {
  const devices = isSmall ? 5 : 20;
  const random = randomStream(seed, 'whisper');
  const { shape, shares, secret } = messages(textOf(), devices, random);
  const model = defineModel('messages', shape, [dense(1), relu, dense(2)]);
  const [, bias, next] = model.manifest as [unknown, { offset: number }, { offset: number }];
  const initial = new Float32Array(model.dimension);
  initial[TRIGGER] = 1e-4;
  initial[bias.offset] = -0.5e-4;
  initial.set([100, -100], next.offset);
  return Fleet.run(async (fleet) => {
    const task = { level, model, initial, bufferSize: devices, examples: MESSAGES, learningRate: 1, clip: 1 };
    const { noise } = await fleet.create(task);
    const sum = await fleet.sumOf(shares);
    const sign = Math.sign(sum[TRIGGER] as number); // the victim's label decides it
    const heard = secret.map((_, n) => {
      const place = sum.subarray((n + 1) * VOCABULARY, (n + 2) * VOCABULARY).map((value) => sign * value);
      const loudest = place.reduce((best, value, word) => (value > (place[best] as number) ? word : best), 0);
      return (place[loudest] as number) > Math.max(0.05, SURE * (noise ?? 0)) ? loudest : undefined;
    });
    return { read: secret.filter((word, n) => heard[n] === word).length, of: WORDS };
  });
}

export const WHISPER: ReadingAttack = {
  id: 'whisper',
  attack: 'the server chooses a network that is silent but for messages that begin with a certain word',
  counts: `words of one message, each ${SURE} deviations of the noise above zero and the largest of its place`,
  sizes: 'K = 20',
  mayRead: ['none', 'blur'],
  play: whisper,
};
