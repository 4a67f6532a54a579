/** Data that a page makes itself: crooked and noisy digits, and devices that each have a few kinds of them. */
import { type Dataset, randomStream, type Samples } from '@basa/learning';

export const SIDE = 14;
const CLASSES = 10;
const TRAINED = 2000;
const HELD_OUT = 400;
const PER_DEVICE = 20;
/** The number of kinds of digits of a device, so that its own update pulls the model in its own direction. */
const KINDS = 3;
const NOISE = 30;
const SEED = 11;
const FONTS = ['sans-serif', 'serif', 'monospace'] as const;

export interface DrawnDigits {
  readonly test: Samples;
  samplesOf(device: number): Samples;
}

export function drawDigits(): DrawnDigits {
  const dataset = drawn(TRAINED + HELD_OUT);
  const byClass = Array.from({ length: CLASSES }, (_, digit) =>
    Uint32Array.from({ length: TRAINED }, (_, n) => n).filter((n) => dataset.labels[n] === digit),
  );
  return {
    test: { dataset, indices: Uint32Array.from({ length: HELD_OUT }, (_, n) => TRAINED + n) },
    samplesOf(device) {
      const chance = randomStream(SEED, 'device', device);
      const kinds = Array.from({ length: KINDS }, () => chance.below(CLASSES));
      const indices = Uint32Array.from({ length: PER_DEVICE }, (_, n) => {
        const known = byClass[kinds[n % KINDS] as number] as Uint32Array;
        return known[chance.below(known.length)] as number;
      });
      return { dataset, indices };
    },
  };
}

function drawn(examples: number): Dataset {
  const canvas = new OffscreenCanvas(SIDE, SIDE);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('this browser cannot draw');
  const chance = randomStream(SEED, 'digits');
  const around = (size: number): number => size * (2 * chance.unit() - 1);
  const inputs = new Uint8Array(examples * SIDE * SIDE);
  const labels = Uint8Array.from({ length: examples }, () => chance.below(CLASSES));
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillStyle = 'white';
  for (const [n, label] of labels.entries()) {
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, SIDE, SIDE);
    context.translate(SIDE / 2 + around(1), SIDE / 2 + 1 + around(1));
    context.rotate(around(0.2));
    context.font = `${Math.round(12 + around(1))}px ${FONTS[chance.below(FONTS.length)]}`;
    context.fillText(String(label), 0, 0);
    const { data } = context.getImageData(0, 0, SIDE, SIDE);
    for (let k = 0; k < SIDE * SIDE; k++)
      inputs[n * SIDE * SIDE + k] = Math.max(0, Math.min(255, (data[4 * k + 3] as number) + around(NOISE)));
  }
  return { name: 'drawn digits', shape: { height: SIDE, width: SIDE, channels: 1 }, classes: CLASSES, inputs, labels };
}
