/** C of a model of your own: the median L2 norm of the first updates of its devices. */
import { appendFile } from 'node:fs/promises';
import type { OwnModel, Samples, Trainer } from '@basa/learning';
import { counted } from '../shell/terminal.ts';

/** As many devices as give a steady median. */
const MOST_DEVICES = 50;

type Local = Omit<Parameters<Trainer['train']>[0], 'start' | 'samples' | 'seed'>;

export interface FirstNorms {
  readonly median: number;
  readonly devices: number;
}

/** Each device trains once on the first parameters. Undefined if they change nothing. */
export function firstNorms(
  trainer: Trainer,
  training: Local,
  { shares, seed }: { readonly shares: readonly Samples[]; readonly seed: number },
): FirstNorms | undefined {
  const start = trainer.init(seed);
  const norms = shares.slice(0, MOST_DEVICES).map((samples) => {
    const { delta } = trainer.train({ ...training, start, samples, seed });
    return Math.sqrt(delta.reduce((squares, value) => squares + value * value, 0));
  });
  const sorted = norms.filter((norm) => norm > 0 && norm < Number.POSITIVE_INFINITY).sort((a, b) => a - b);
  const median = sorted[Math.floor((sorted.length - 1) / 2)];
  return median === undefined ? undefined : { median: Number(median.toPrecision(2)), devices: norms.length };
}

/** Writes C into a file that does not have it, and returns what to tell. */
export async function keepClip(file: string, { clip }: Pick<OwnModel, 'clip'>, norms: FirstNorms): Promise<string> {
  const { median, devices } = norms;
  const measured = `the first updates of ${counted(devices, 'device')} have a median norm of ${median}`;
  if (clip === undefined) {
    await appendFile(
      file,
      `\n/** C: updates are clipped to this L2 norm, the median of first updates. Smaller is better than larger. */\nexport const clip = ${median};\n`,
    );
    return `${measured}; wrote it into ${file} as \`clip\``;
  }
  const advice =
    clip > median ? `; lower it to ${median} or less, because the noise grows with it` : '; below the median is fine';
  return `${measured}, and ${file} clips to ${clip}${clip === median ? '' : advice}`;
}
